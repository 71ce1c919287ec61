package experiment

import (
	"fmt"
	"math"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// findRankChanges estimates whether the values of over rank differently among the
// conditions of b than among those of a. Of each two values it asks by how much the one is
// ahead in a and the other in b: the smaller of the two is how far they change places, and
// below zero where they do not. The two that change places most are the answer. All
// intervals are to hold at once (Bonferroni), so that the answer's goes from the highest of
// their lower ends to the highest of their upper ones.
func findRankChanges(spec api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
	r, err := ratiosOf(spec, run, c)
	if err == nil {
		err = r.whole()
	}
	if err != nil {
		return finding{}, err
	}
	answer := swap{value: math.Inf(-1), low: math.Inf(-1), high: math.Inf(-1), bounded: true}
	pairs := len(r.values) * (len(r.values) - 1) / 2
	level := 1 - 0.05/float64(2*pairs)
	for i := range r.values {
		for j := range i {
			answer.join(swap{i: i, j: j}.of(ratioAt(level, run, r.a[j], r.a[i], c.Metric), ratioAt(level, run, r.b[j], r.b[i], c.Metric)))
		}
	}
	f := finding{
		quantity: "how far two of " + r.all() + " change places in " + c.Metric + " " + contrast(c.A, c.B),
		estimate: stats.Estimate{Value: math.Expm1(answer.value)},
		repeats:  min(fewest(r.a), fewest(r.b)),
		found: fmt.Sprintf("%s carries %s times what %s does with %s, and %s times with %s",
			r.at(answer.i), times(answer.a), r.at(answer.j), Describe(c.A), times(answer.b), Describe(c.B)),
		value: percent,
	}
	if answer.bounded {
		f.estimate.CI95 = &[2]float64{math.Expm1(answer.low), math.Expm1(answer.high)}
	}
	return f, nil
}

// swap is how far two values change places, as logarithms, with the ratios of the one to
// the other in both of what is compared.
type swap struct {
	i, j             int
	a, b             float64
	value, low, high float64
	// bounded tells that both ratios have an interval.
	bounded bool
}

// of two ratios.
func (s swap) of(a, b stats.Estimate) swap {
	s.a, s.b = a.Value, b.Value
	s.value = change(math.Log(a.Value), math.Log(b.Value))
	if a.CI95 == nil || b.CI95 == nil {
		return s
	}
	la, ha, lb, hb := logOf(a.CI95[0]), logOf(a.CI95[1]), logOf(b.CI95[0]), logOf(b.CI95[1])
	s.bounded = true
	s.low = max(min(la, -hb), min(-ha, lb))
	s.high = max(min(ha, -lb), min(-la, hb))
	return s
}

// change of places: the smaller lead, where one leads in a and the other in b.
func change(a, b float64) float64 { return max(min(a, -b), min(-a, b)) }

// logOf an end of an interval of a ratio, which may reach below zero.
func logOf(x float64) float64 {
	if x <= 0 {
		return math.Inf(-1)
	}
	return math.Log(x)
}

// join takes another two values in.
func (s *swap) join(o swap) {
	low, high, bounded := max(s.low, o.low), max(s.high, o.high), s.bounded && o.bounded
	if o.value > s.value || s.i == s.j {
		*s = o
	}
	s.low, s.high, s.bounded = low, high, bounded
}
