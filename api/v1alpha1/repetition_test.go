package v1alpha1

import (
	"math"
	"testing"
)

func TestParseShare(t *testing.T) {
	for text, want := range map[string]Share{"2%": .02, "0.5%": .005, "100%": 1, "12.25%": .1225} {
		got, err := ParseShare(text)
		if err != nil || math.Abs(float64(got-want)) > 1e-12 {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if got.String() != text {
			t.Errorf("%q is written as %q", text, got)
		}
	}
	for _, text := range []string{"", "2", "0.02", "%", "0%", "-1%", "101%", "2 %", "2%%", "1e1%", "NaN%", "two%"} {
		if got, err := ParseShare(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func TestDue(t *testing.T) {
	for instances, want := range map[string]int{"": 10, "1-2,5": 6, "4": 2} {
		l := Load{Repeats: 10, Repetition: Repetition{Redeploy: 5, Instances: instances}}
		if got := l.Due(); got != want {
			t.Errorf("on %q there are %d repeats, want %d", instances, got, want)
		}
	}
}

func TestMostRepeats(t *testing.T) {
	until := Repetition{Until: .02}
	for _, c := range []struct {
		load Load
		want int
	}{
		{Load{Repeats: 3}, 3}, {Load{Repeats: 3, Repetition: until}, 50}, {Load{Repeats: 70, Repetition: until}, 70},
		{Load{Repeats: 3, Repetition: Repetition{Until: .02, MaxRepeats: 20}}, 20},
	} {
		if got := c.load.MostRepeats(); got != c.want {
			t.Errorf("%+v: %d", c.load, got)
		}
	}
}
