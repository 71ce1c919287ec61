package search

import (
	"slices"

	"nfchain.dev/nfchain/internal/trial"
)

// frameLoss is RFC 2544 §26.3: loss from the highest load down in steps, until two
// successive loads lost nothing.
type frameLoss struct{ spec trial.Search }

// nothing lost is what it looks for.
var nothing = trial.Goal{}

// Next is the next step down, or the load again that was not sent.
func (f frameLoss) Next(history []Outcome) (trial.Step, bool) {
	if len(history) >= f.spec.MaxTrials {
		return trial.Step{}, false
	}
	loads := f.loads(history)
	if pps, seconds, more := again(nothing, loads, f.spec.LossTrials); more {
		return ask(f.spec, pps, seconds, "again, because not all of it was sent"), true
	}
	pps, allowed := down(f.spec, len(loads))
	if !allowed || f.lossless(loads) >= 2 {
		return trial.Step{}, false
	}
	return ask(f.spec, pps, f.spec.DurationS, "loss by load"), true
}

// down so many steps from the highest load, and whether a load as low as that is allowed.
func down(s trial.Search, steps int) (pps float64, allowed bool) {
	pps = s.MaxPps * (1 - float64(steps)*s.StepRatio)
	return pps, pps >= s.MinPps*(1-1e-9)
}

// loads that were tried, the lowest first, which is the last.
func (f frameLoss) loads(history []Outcome) []atLoad { return byLoad(sound(history, trial.StepLoad)) }

// lossless loads in a row at the end.
func (f frameLoss) lossless(loads []atLoad) int {
	for i, l := range settled(nothing, loads) {
		if slices.ContainsFunc(l.trials, func(o Outcome) bool { return !o.meets(nothing) }) {
			return i
		}
	}
	return len(loads)
}

// Result is the curve.
func (f frameLoss) Result(history []Outcome) Result {
	r := tally(f.spec, history)
	if f.lossless(f.loads(history)) < 2 {
		r.Irregular, r.Why = true, "the lowest load was reached before two successive trials lost nothing"
	}
	_, more := f.Next(history)
	return closed(r, more, frameLossClauses)
}
