package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestIntervalsOfOtherConfidenceCover: those of 99%, of which several hold at once.
func TestIntervalsOfOtherConfidenceCover(t *testing.T) {
	for _, n := range []int{3, 12} {
		r, mean, middle := rand.New(rand.NewPCG(61, 62)), share{}, share{}
		for range 1000 {
			xs := normal(r, n, 100, 3)
			mean.count(in(*MeanIntervalAt(.99, xs).CI95, 100))
			if e := MedianIntervalAt(.99, xs); e.CI95 != nil {
				middle.count(in(*e.CI95, 100))
			}
		}
		mean.atLeast(t, "mean", .985) // from eight on some take the bootstrap
		if n < MedianNeeds(.99) != (middle.of == 0) {
			t.Errorf("of %d values %d medians have an interval", n, middle.of)
		}
		if middle.of > 0 {
			middle.atLeast(t, "median", .99)
		}
	}
	for level, want := range map[float64]int{.95: 6, .5: 2, .99: 8, .999: 11} {
		if n := MedianNeeds(level); n != want {
			t.Errorf("%v needs %d values, want %d", level, n, want)
		}
	}
	if a, b := MeanIntervalAt(.95, []float64{1, 2, 4}), Summarize([]float64{1, 2, 4}); *a.CI95 != *b.CI95 || a.Value != *b.Mean {
		t.Errorf("%+v, %+v", a, b)
	}
	for _, e := range []Estimate{MeanIntervalAt(.95, nil), MedianIntervalAt(.95, nil)} {
		if !math.IsNaN(e.Value) || e.CI95 != nil {
			t.Errorf("of nothing: %+v", e)
		}
	}
}
