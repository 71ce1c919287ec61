package search

import (
	"cmp"
	"slices"

	"nfchain.dev/nfchain/internal/trial"
)

// Goodput is what arrived at the load that was found for the one goal, bit/s of payload, so
// that it can be set beside a load that was not searched for: the mean of the trials at that
// load, by their duration. ok is false where no load was found, where there are several
// goals, or where nobody counted.
func (r Result) Goodput(history []Outcome) (bps float64, ok bool) {
	if len(r.Goals) != 1 || r.Goals[0].LowerPps == nil {
		return 0, false
	}
	var bits, seconds float64
	for _, o := range sound(history, trial.StepLoad) {
		if rate, counted := o.Metrics["goodput_bps"]; counted && finite(rate) && o.LoadPps == *r.Goals[0].LowerPps {
			bits, seconds = bits+rate*o.duration(), seconds+o.duration()
		}
	}
	return bits / seconds, seconds > 0
}

// Loss is the share that was lost at the load that was found for the goal which allows the
// least, of all trials at that load by their duration; what was not sent counts as lost. ok is
// false where no load was found.
func (r Result) Loss() (ratio float64, ok bool) {
	if len(r.Goals) == 0 {
		return 0, false
	}
	strictest := slices.MinFunc(r.Goals, func(a, b GoalResult) int { return cmp.Compare(a.Goal.LossRatio, b.Goal.LossRatio) })
	for _, at := range r.Loads {
		if strictest.LowerPps != nil && at.LoadPps == *strictest.LowerPps {
			return at.LossRatio, true
		}
	}
	return 0, false
}
