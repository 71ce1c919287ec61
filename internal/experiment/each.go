package experiment

import (
	"fmt"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// ratios are b/a at the values of a factor, where both were measured.
type ratios struct {
	levels
	a, b []sample
}

// findRatioEach estimates the least, or the greatest, of the ratios b/a over the
// values of a factor: that one which decides whether all of them lie in the range.
// Values at which nothing was measured may not keep what others refute, and never let
// the claim hold.
func findRatioEach(spec api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
	r, err := ratiosOf(spec, run, c)
	if err != nil {
		return finding{}, err
	}
	of := func(i int, level float64) stats.Estimate { return ratioAt(level, run, r.a[i], r.b[i], c.Metric) }
	least := finding{quantity: "least ratio", side: lowerSide}
	least.extreme(stats.Least(len(r.values), of), r.levels)
	greatest := finding{quantity: "greatest ratio", side: upperSide}
	greatest.extreme(stats.Greatest(len(r.values), of), r.levels)
	f := least
	if c.AtLeast == nil || c.AtMost != nil && worse(c, greatest, least) {
		f = greatest
	}
	f.quantity += " of " + c.Metric + " " + contrast(c.A, c.B) + " over " + r.all()
	f.repeats, f.value = min(fewest(r.a), fewest(r.b)), times
	f.missing = strings.Join(r.missing, "; ")
	return f, nil
}

// ratiosOf picks the conditions that both selections name at each value.
func ratiosOf(spec api.ExperimentSpec, run trial.Run, c api.Check) (ratios, error) {
	values, err := valuesOver(spec, run, c)
	if err != nil {
		return ratios{}, err
	}
	r := ratios{levels: levels{over: c.Over}}
	for _, v := range values {
		a, errA := pick(run, with(c.A, c.Over, v), c.Metric)
		b, errB := pick(run, with(c.B, c.Over, v), c.Metric)
		switch {
		case errA != nil:
			r.missing = append(r.missing, errA.Error())
		case errB != nil:
			r.missing = append(r.missing, errB.Error())
		case a.condition == b.condition:
			return r, fmt.Errorf("a and b are the same condition")
		default:
			r.values, r.a, r.b = append(r.values, v), append(r.a, a), append(r.b, b)
		}
	}
	if len(r.values) == 0 {
		return r, fmt.Errorf("%s", strings.Join(r.missing, "; "))
	}
	return r, nil
}

// extreme takes the least or the greatest of several ratios over.
func (f *finding) extreme(e stats.Extreme, l levels) {
	f.estimate = e.Estimate
	word := "least"
	if f.side == upperSide {
		word = "greatest"
	}
	f.found = fmt.Sprintf("%s times as much at %s, where it is %s", times(e.Value), l.at(e.At), word)
	if e.Near != e.At && e.CI95 != nil {
		f.found += fmt.Sprintf(" and least sure at %s", l.at(e.Near))
	}
}

// worse tells whether the greatest ratio is farther from fulfilling its bound than the
// least is from fulfilling its own.
func worse(c api.Check, greatest, least finding) bool {
	rank := map[string]int{DoesNotHold: 2, Undecided: 1, Holds: 0}
	of := func(f finding) int {
		if f.estimate.CI95 == nil {
			return rank[Undecided]
		}
		return rank[place(*f.estimate.CI95, c.AtLeast, c.AtMost, f.side)]
	}
	return of(greatest) > of(least)
}
