package fping

import (
	"os"
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	text, err := os.ReadFile("testdata/5.1.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := parse(text); !slices.Equal(got, []int64{32000, 20000, 20000}) {
		t.Errorf("round trips %v", got)
	}
}

func TestRubbish(t *testing.T) {
	for _, text := range []string{
		"", "rubbish", "x : [0], 64 bytes, x ms", "x : [0], 64 bytes, 9999999 ms", "x : [0], timed out (NaN avg, 100% loss)",
		"x : [], 64 bytes, 1 ms", "x : [1], 64 bytes, 1.2.3 ms",
	} {
		if got := parse([]byte(text)); len(got) != 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
	const twice = "x : [7], 64 bytes, 1.00 ms (1 avg, 0% loss)\nx : [7], 64 bytes, 2.00 ms (1 avg, 0% loss)\n"
	if got := parse([]byte(twice)); !slices.Equal(got, []int64{1e6}) {
		t.Errorf("a reply that came twice: %v", got)
	}
}
