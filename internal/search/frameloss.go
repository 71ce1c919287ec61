package search

import "nfchain.dev/nfchain/internal/trial"

// frameLoss is RFC 2544 §26.3: loss from the highest load down in steps, until two
// successive loads lost nothing.
type frameLoss struct{ spec trial.Search }

// Next is the next step down.
func (f frameLoss) Next(history []Outcome) (trial.Step, bool) {
	if len(history) >= f.spec.MaxTrials {
		return trial.Step{}, false
	}
	trials := sound(history, trial.StepLoad)
	pps, allowed := down(f.spec, len(trials))
	if !allowed || f.lossless(trials) >= 2 {
		return trial.Step{}, false
	}
	return ask(f.spec, pps, f.spec.DurationS, "loss by load"), true
}

// down so many steps from the highest load, and whether a load as low as that is allowed.
func down(s trial.Search, steps int) (pps float64, allowed bool) {
	pps = s.MaxPps * (1 - float64(steps)*s.StepRatio)
	return pps, pps >= s.MinPps*(1-1e-9)
}

// lossless trials in a row at the end.
func (f frameLoss) lossless(trials []Outcome) int {
	for i := range trials {
		if trials[len(trials)-1-i].loss() > 0 {
			return i
		}
	}
	return len(trials)
}

// Result is the curve.
func (f frameLoss) Result(history []Outcome) Result {
	r := tally(f.spec, history)
	if f.lossless(sound(history, trial.StepLoad)) < 2 {
		r.Irregular, r.Why = true, "the lowest load was reached before two successive trials lost nothing"
	}
	_, more := f.Next(history)
	return closed(r, more, frameLossClauses)
}
