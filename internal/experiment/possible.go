package experiment

import (
	"fmt"
	"math"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// bounds are what was found possible of a factor: the largest value that was measured,
// and the least that was refused.
type bounds struct {
	measured, refused float64
	reason            string
}

// findPossible estimates the largest value of a factor that can be had: from the largest
// that was measured to the one before the least that was refused for the reason that
// the check names. What cannot be had for another reason tells nothing.
func findPossible(spec api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
	values, err := valuesOver(spec, run, c)
	if err != nil {
		return finding{}, err
	}
	b := bounds{math.Inf(-1), math.Inf(1), ""}
	for _, v := range values {
		if err := b.take(run, c, v); err != nil {
			return finding{}, err
		}
	}
	switch {
	case math.IsInf(b.measured, -1):
		return finding{}, fmt.Errorf("none of the values of %s was measured", c.Over)
	case b.measured >= b.refused:
		return finding{}, fmt.Errorf("%s was measured and %s refused: there is no largest value", b.at(c, b.measured), b.at(c, b.refused))
	}
	return b.finding(c), nil
}

// take what the run has of one value into account.
func (b *bounds) take(run trial.Run, c api.Check, v any) error {
	xs, err := levels{over: c.Over, values: []any{v}}.numbers()
	if err != nil {
		return err
	}
	x, where := xs[0], with(c.A, c.Over, v)
	if _, err := pickAny(run, where, c.Metric); err == nil {
		b.measured = max(b.measured, x)
	} else if why := refusal(run, where); x < b.refused && strings.Contains(why, c.Refusal) && why != "" {
		b.refused, b.reason = x, why
	}
	return nil
}

// refusal is why a run has no condition; empty where it does not say.
func refusal(run trial.Run, where map[string]any) string {
	for _, cell := range run.Infeasible {
		if Selects(trial.Condition{Factors: cell.Factors}, where) {
			return cell.Reason
		}
	}
	return ""
}

// finding of bounds. Repeats add nothing to what could be had, and the interval is that
// in which the largest value must lie.
func (b bounds) finding(c api.Check) finding {
	f := finding{quantity: "largest " + c.Over + " that can be had", repeats: math.MaxInt, value: short}
	f.estimate.Value, f.estimate.CI95 = b.measured, &[2]float64{b.measured, b.measured}
	f.found = b.at(c, b.measured) + " was measured"
	if math.IsInf(b.refused, 1) {
		f.missing = "no larger value was refused with " + c.Refusal
		f.side = upperSide
		return f
	}
	f.found += fmt.Sprintf(" and %s refused (%s)", b.at(c, b.refused), b.reason)
	f.estimate.CI95[1] = b.refused
	if b.refused == math.Trunc(b.refused) && b.measured == math.Trunc(b.measured) {
		f.estimate.CI95[1]-- // of whole numbers, the one before it
	}
	return f
}

func (bounds) at(c api.Check, x float64) string { return Describe(map[string]any{c.Over: x}) }
