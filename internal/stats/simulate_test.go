package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// share is how often something was so in a simulation.
type share struct{ hits, of int }

func (s *share) count(hit bool) {
	s.of++
	if hit {
		s.hits++
	}
}

// atLeast fails where the true share, by Clopper and Pearson, lies below least.
func (s share) atLeast(t *testing.T, what string, least float64) {
	t.Helper()
	ci := ProportionInterval(s.hits, s.of)
	t.Logf("%s: %.1f%% [%.1f%%, %.1f%%] of %d", what, 100*float64(s.hits)/float64(s.of), 100*ci[0], 100*ci[1], s.of)
	if ci[1] < least {
		t.Errorf("%s: at most %.1f%%, want %.1f%%", what, 100*ci[1], 100*least)
	}
}

// atMost fails where the true share lies above most.
func (s share) atMost(t *testing.T, what string, most float64) {
	t.Helper()
	if ci := ProportionInterval(s.hits, s.of); ci[0] > most {
		t.Errorf("%s: at least %.1f%%, want no more than %.1f%%", what, 100*ci[0], 100*most)
	}
}

func in(ci [2]float64, truth float64) bool { return ci[0] <= truth && truth <= ci[1] }

// shape is a distribution whose mean is known.
type shape struct {
	draw func(r *rand.Rand) float64
	mean float64
}

var shapes = map[string]shape{
	"normal":      {func(r *rand.Rand) float64 { return 100 + 3*r.NormFloat64() }, 100},
	"exponential": {func(r *rand.Rand) float64 { return r.ExpFloat64() }, 1},
	"lognormal":   {func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64() / 2) }, math.Exp(.125)},
	"two modes": {func(r *rand.Rand) float64 {
		return 100 + r.NormFloat64() - 20*float64(r.IntN(2))
	}, 90},
}

func (s shape) sample(r *rand.Rand, n int) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = s.draw(r)
	}
	return xs
}
