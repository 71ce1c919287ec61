package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestExtremesCover: the interval of the least and of the greatest of several means
// holds the true one, and is not far too wide where one of them stands out.
func TestExtremesCover(t *testing.T) {
	for name, truths := range map[string][]float64{
		"alike": {100, 100, 100, 100, 100, 100}, "one apart": {90, 100, 100, 100, 110, 100}, "one": {100}, "spread": {80, 90, 100, 110, 120},
	} {
		for _, n := range []int{3, 10} {
			r, least, greatest := rand.New(rand.NewPCG(31, 32)), share{}, share{}
			low, high := truths[0], truths[0]
			for _, x := range truths {
				low, high = min(low, x), max(high, x)
			}
			for range 1000 {
				samples := make([][]float64, len(truths))
				for i, truth := range truths {
					samples[i] = normal(r, n, truth, 3)
				}
				of := func(i int, level float64) Estimate {
					return DeltaInterval(level, samples[i:i+1], func(m []float64) float64 { return m[0] })
				}
				least.count(in(*Least(len(truths), of).CI95, low))
				greatest.count(in(*Greatest(len(truths), of).CI95, high))
			}
			least.atLeast(t, name+", least", .95)
			greatest.atLeast(t, name+", greatest", .95)
			if name == "one" {
				least.atMost(t, name, .96)
			}
		}
	}
}

func TestExtremesOdd(t *testing.T) {
	value := func(xs ...float64) func(int, float64) Estimate {
		return func(i int, level float64) Estimate {
			if xs[i] > 100 {
				return Estimate{Value: xs[i]} // bounded by nothing
			}
			return Estimate{xs[i], &[2]float64{xs[i] - level, xs[i] + level}}
		}
	}
	if e := Least(3, value(7, 5, 6)); e.Value != 5 || e.At != 1 || e.Near != 1 || e.Far != 1 || e.CI95[0] != 5-.95 || e.CI95[1] <= 5.95 {
		t.Errorf("%+v %v", e, e.CI95)
	}
	if e := Greatest(3, value(7, 5, 6)); e.Value != 7 || e.At != 0 || e.CI95[1] != 7.95 || e.CI95[0] >= 7-.95 {
		t.Errorf("%+v %v", e, e.CI95)
	}
	if e := Least(2, value(7, 500)); e.Value != 7 || e.CI95 != nil {
		t.Errorf("%+v: one that nothing bounds may be the least", e)
	}
	if e := Greatest(3, value(1, math.NaN(), 2)); !math.IsNaN(e.Value) {
		t.Errorf("%+v", e)
	}
}
