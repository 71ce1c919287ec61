package main

import (
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// TestMediumRate has the rates that RFC 2544 (appendix B) and its tables give for Ethernet.
func TestMediumRate(t *testing.T) {
	for _, c := range []struct {
		text string
		size int
		want uint64
	}{{"", 64, 0}, {"10Gbit", 64, 14_880_952}, {"1Gbit", 1518, 81_274}, {"10Mbit", 64, 14_880}, {"100kpps", 0, 100_000}} {
		var got api.LoadRate
		if err := (&searchFlags{medium: c.text}).readMedium(c.size, &got); err != nil || got.Frames != c.want || got.Bits != 0 {
			t.Errorf("%q at %d bytes: %+v, %v; want %d frames", c.text, c.size, got, err, c.want)
		}
	}
	for _, text := range []string{"10Gbit", "fast"} {
		if err := (&searchFlags{medium: text}).readMedium(0, new(api.LoadRate)); err == nil {
			t.Errorf("%q without a size is taken", text)
		}
	}
}
