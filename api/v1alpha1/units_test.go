package v1alpha1

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

func TestParseRate(t *testing.T) {
	for text, want := range map[string]Rate{
		"0": 0, "1": 1, "10bit": 10, "10Gbit": 1e10, "10gbit": 1e10, "10 Gbit/s": 1e10, "10Gbps": 1e10,
		"9600bps": 9600, "2.5Mbit": 25e5, "1e9": 1e9, "1e3kbit": 1e6, "1Tbit": 1e12, "0.001kbit": 1,
		"9223372036854775807": math.MaxInt64,
	} {
		if got, err := ParseRate(text); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "fast", "-1", "+1", "1,5Gbit", "10Gbitt", "10GB", "10GBps", "10/s", "1bps/s", "0x10", "inf",
		"NaN", "1_000", ".5Gbit", "10  Gbit", "1e30", "1e999", "9223372036854775808", "0.1bit", "1e-400",
		"99999999999999999999", "9223373Tbit",
	} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("%q was read as %d", text, got)
		}
	}
}

func TestParseLoadRate(t *testing.T) {
	for text, want := range map[string]LoadRate{
		"0": {}, "10Gbit": {Bits: 1e10}, "100kpps": {Frames: 1e5}, "1.5 Mpps": {Frames: 15e5}, "7pps": {Frames: 7}, "9600bps": {Bits: 9600},
	} {
		got, err := ParseLoadRate(text)
		if err != nil || got != want {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, err, want)
		}
		if again, err := ParseLoadRate(got.String()); err != nil || again != got {
			t.Errorf("%q: %s reads as %+v, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"", "fast", "pps", "-1pps", "1Kbpps", "0.1pps", "1e30pps"} {
		if got, err := ParseLoadRate(text); err == nil {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "1B": 1, "1kB": 1000, "1KB": 1000, "1 KiB": 1024, "1.5MiB": 3 << 19, "2MB": 2e6, "1GB": 1e9, "1GiB": 1 << 30,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "1kb", "1kbit", "1mb", "1K", "1TB", "-1", "9e18GB", "0.4B"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q was read as %d", text, got)
		}
	}
}

func TestDuration(t *testing.T) {
	var d Duration
	if err := d.UnmarshalText([]byte("1h30m")); err != nil || time.Duration(d) != 90*time.Minute {
		t.Errorf("got %s, %v", d, err)
	}
	for _, text := range []string{"", "30", "-1s", "1d", "300000h0m0s999999999h"} {
		if err := d.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %s", text, d)
		}
	}
}

func TestUnitsInJSON(t *testing.T) {
	type units struct {
		Rate     Rate
		Size     Size
		Duration Duration
	}
	const text = `{"Rate":"10Gbit","Size":"64KiB","Duration":"1m30s"}`
	var u units
	for _, in := range []string{text, `{"Rate":10000000000,"Size":65536,"Duration":"90s"}`} {
		if err := json.Unmarshal([]byte(in), &u); err != nil {
			t.Fatal(err)
		}
		if out, err := json.Marshal(u); err != nil || string(out) != text {
			t.Errorf("got %s, %v", out, err)
		}
	}
}

// Whatever is read is written so that it reads the same.
func FuzzUnits(f *testing.F) {
	for _, text := range []string{"0", "10Gbit", "2.5 Mbit/s", "64KiB", "1.5MB", "1e3", "10Gbps", "-1", "1h30m"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := ParseRate(text); err == nil {
			if again, err := ParseRate(r.String()); err != nil || again != r {
				t.Errorf("rate %q: %s is read as %s, %v", text, r, again, err)
			}
		}
		if s, err := ParseSize(text); err == nil {
			if again, err := ParseSize(s.String()); err != nil || again != s {
				t.Errorf("size %q: %s is read as %s, %v", text, s, again, err)
			}
		}
		var d, again Duration
		if d.UnmarshalText([]byte(text)) == nil {
			if err := again.UnmarshalText([]byte(d.String())); err != nil || again != d {
				t.Errorf("duration %q: %s is read as %s, %v", text, d, again, err)
			}
		}
	})
}
