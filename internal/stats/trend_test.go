package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func percentText(x float64) string { return fmt.Sprintf("%g%%", 100*x) }

func TestTrendRarelyErrs(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, n := range []int{5, 10, 11, 30} {
		false5, false1, covered := share{}, share{}, share{}
		for range 4000 {
			tr := FindTrend(shapes["exponential"].sample(r, n), .05)
			false5.count(tr.Drifting)
			false1.count(tr.P < .01)
			if tr.CI95 != nil {
				covered.count(in(*tr.CI95, 0))
			}
		}
		false5.atMost(t, fmt.Sprintf("n=%d: drifting", n), .05)
		false1.atMost(t, fmt.Sprintf("n=%d: p<0.01", n), .01)
		if n >= 10 {
			covered.atLeast(t, fmt.Sprintf("n=%d: slope of none", n), .94)
		}
	}
}

func TestTrendIsFound(t *testing.T) {
	r, found, covered := rand.New(rand.NewPCG(15, 16)), share{}, share{}
	for range 1000 {
		xs := make([]float64, 20)
		for i := range xs { // from 100 to 90, so 10/95 of the median
			xs[i] = 100 - 10*float64(i)/19 + 2*r.NormFloat64()
		}
		tr := FindTrend(xs, .05)
		found.count(tr.Drifting && tr.ChangeRatio < 0)
		covered.count(in(*tr.CI95, -10./95))
	}
	found.atLeast(t, "found", .99)
	covered.atLeast(t, "covered", .94)
}

func TestTrendKnownValues(t *testing.T) {
	// Of 120 orders one rises throughout, and one falls.
	if tr := FindTrend([]float64{1, 2, 3, 4, 5}, .05); math.Abs(tr.P-2./120) > 1e-12 || !tr.Drifting || math.Abs(tr.ChangeRatio-4./3) > 1e-12 {
		t.Errorf("%+v", tr)
	}
	// Kendall 1975, appendix table 1: n = 8, S = 14 is reached in 0.054 of cases.
	if p := kendallTail(8, 14); math.Abs(p-.054) > .0005 {
		t.Errorf("%v", p)
	}
	if tr := FindTrend([]float64{7, 7, 7, 7, 7}, .05); tr.P != 1 || tr.Drifting || tr.ChangeRatio != 0 {
		t.Errorf("%+v", tr)
	}
	if FindTrend([]float64{1, 2, 3, 4}, .05) != nil || FindTrend([]float64{0, 0, 0, 0, 0}, .05) != nil {
		t.Error("a trend of four, or a share of nothing")
	}
}

func TestOutliersAreShown(t *testing.T) {
	for name, c := range map[string]struct {
		xs   []float64
		want string
	}{
		"one low":   {[]float64{10, 10.1, 7, 9.9, 10, 10.2}, "[2]"},
		"both ends": {[]float64{30, 10, 10.1, 9.9, 10, 10.2, 1}, "[0 6]"},
		"none":      {[]float64{10, 10.1, 9.9, 10, 10.2}, "[]"},
		"few":       {[]float64{10, 10, 10.1, 99}, "[]"},
		"alike":     {[]float64{10, 10, 10, 10, 99}, "[]"},
	} {
		if got := fmt.Sprint(Outliers(c.xs)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	r, called := rand.New(rand.NewPCG(17, 18)), share{}
	for range 2000 {
		called.count(len(Outliers(shapes["normal"].sample(r, 20))) > 0)
	}
	called.atMost(t, "outliers of normal repeats", .15)
}
