package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// slopes draws samples at five places of a line, in blocks that go up and down
// together, and estimates the slope of their logarithms both ways.
func slopes(r *rand.Rand, n int, block, own float64) (apart, blocked Estimate) {
	xs := []float64{0, 1, 2, 3, 4}
	samples := make([][]float64, len(xs))
	for range n {
		both := block * r.NormFloat64()
		for i, x := range xs {
			samples[i] = append(samples[i], 1e9*math.Exp(.5*x+both+own*r.NormFloat64()))
		}
	}
	f := func(means []float64) float64 {
		logs := make([]float64, len(means))
		for i, m := range means {
			logs[i] = math.Log(m)
		}
		return Slope(xs, logs)
	}
	return DeltaInterval(.95, samples, f), BlockDeltaInterval(.95, samples, f)
}

func TestSlopesCover(t *testing.T) {
	for _, c := range []struct{ block, own float64 }{{0, .05}, {.2, .02}, {.05, .05}} {
		for _, n := range []int{3, 6, 20} {
			r, apart, blocked := rand.New(rand.NewPCG(41, 42)), share{}, share{}
			for range 1000 {
				a, b := slopes(r, n, c.block, c.own)
				apart.count(in(*a.CI95, .5))
				blocked.count(in(*b.CI95, .5))
			}
			apart.atLeast(t, "apart", .95)
			blocked.atLeast(t, "blocked", .95)
			blocked.atMost(t, "blocked", .965)
		}
	}
}

// TestBlocksNarrow: what blocks have in common drops out.
func TestBlocksNarrow(t *testing.T) {
	apart, blocked := slopes(rand.New(rand.NewPCG(43, 44)), 10, .3, .01)
	if a, b := apart.CI95[1]-apart.CI95[0], blocked.CI95[1]-blocked.CI95[0]; b > a/3 || apart.Value != blocked.Value {
		t.Errorf("blocked %v, apart %v", *blocked.CI95, *apart.CI95)
	}
	if e := BlockDeltaInterval(.95, [][]float64{{1}, {2}}, func(m []float64) float64 { return m[0] }); e.Value != 1 || e.CI95 != nil {
		t.Errorf("of one block: %+v", e)
	}
}

func TestSlopeAndAboveZero(t *testing.T) {
	if s := Slope([]float64{1, 2, 4}, []float64{5, 7, 11}); math.Abs(s-2) > 1e-12 {
		t.Errorf("%v, want 2", s)
	}
	if s := Slope([]float64{3, 3}, []float64{1, 2}); !math.IsNaN(s) && !math.IsInf(s, 0) {
		t.Errorf("%v of a line that stands upright", s)
	}
	for above, samples := range map[bool][][]float64{true: {{1, 2, 3, 2}, {5, 5}}, false: {{-1, 1, 5}, {3}, nil, {0, 0}}} {
		for _, xs := range samples {
			if AboveZero(xs) != above {
				t.Errorf("%v: %v", xs, !above)
			}
		}
	}
}
