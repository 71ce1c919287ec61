package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBestIsAmongBest: the true best is left out in one case of twenty at the most,
// and what is surely lower is left out.
func TestBestIsAmongBest(t *testing.T) {
	for name, truths := range map[string][]float64{
		"alike": {100, 100, 100, 100, 100}, "near": {97, 99, 100, 98, 96}, "clear": {50, 60, 100, 70},
	} {
		for _, n := range []int{3, 10} {
			r, kept, alone := rand.New(rand.NewPCG(51, 52)), share{}, share{}
			for range 1000 {
				samples := make([][]float64, len(truths))
				for i, truth := range truths {
					samples[i] = normal(r, n, truth, 3)
				}
				among := AmongBest(len(truths), func(i, j int, level float64) Estimate {
					return DeltaInterval(level, [][]float64{samples[i], samples[j]}, func(m []float64) float64 { return m[1] - m[0] })
				})
				kept.count(slices.Contains(among, 2))
				alone.count(len(among) == 1)
			}
			kept.atLeast(t, name, .95)
			if name == "clear" {
				alone.atLeast(t, name+" alone", .95)
			} else {
				alone.atMost(t, name+" alone", .25)
			}
		}
	}
}

func TestAmongBestOfFew(t *testing.T) {
	unbounded := func(int, int, float64) Estimate { return Estimate{Value: 1} }
	for n, want := range map[int][]int{0: nil, 1: {0}, 2: {0, 1}} {
		if got := AmongBest(n, unbounded); !slices.Equal(got, want) {
			t.Errorf("of %d: %v", n, got)
		}
	}
}
