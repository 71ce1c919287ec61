package search

import "nfchain.dev/nfchain/internal/trial"

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
