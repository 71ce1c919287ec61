package search

import (
	"cmp"
	"slices"

	"nfchain.dev/nfchain/internal/trial"
)

// forwardingRate is RFC 2889 §5.1: the forwarding rate at the highest load (FRMOL),
// and the highest forwarding rate at any (MFR). It steps down until the load is
// below the best rate so far, since no lower load can then forward more.
type forwardingRate struct{ spec trial.Search }

// Forwarding is what RFC 2889 §5.1 reports, each with the load it was offered.
type Forwarding struct {
	FRMOLPps        float64 `json:"frmol_pps"`
	FRMOLOfferedPps float64 `json:"frmol_offered_pps"`
	MFRPps          float64 `json:"mfr_pps"`
	MFROfferedPps   float64 `json:"mfr_offered_pps"`
}

// Next is the next load down.
func (f forwardingRate) Next(history []Outcome) (trial.Step, bool) {
	if len(history) >= f.spec.MaxTrials {
		return trial.Step{}, false
	}
	trials := sound(history, trial.StepLoad)
	pps, allowed := down(f.spec, len(trials))
	if len(trials) > 0 && (pps <= best(trials).forwarded() || !allowed) {
		return trial.Step{}, false
	}
	return ask(f.spec, pps, f.spec.DurationS, "forwarding rate by load"), true
}

func best(trials []Outcome) Outcome {
	return slices.MaxFunc(trials, func(a, b Outcome) int { return cmp.Compare(a.forwarded(), b.forwarded()) })
}

// Result is FRMOL and MFR.
func (f forwardingRate) Result(history []Outcome) Result {
	r := tally(f.spec, history)
	trials := sound(history, trial.StepLoad)
	if len(trials) == 0 {
		r.Irregular, r.Why = true, "no load was tried"
	} else {
		first, most := trials[0], best(trials)
		r.Forwarding = &Forwarding{first.forwarded(), offered(first), most.forwarded(), offered(most)}
	}
	_, more := f.Next(history)
	return closed(r, more, forwardingClauses)
}

// offered load of a trial, which is the load asked for where nobody counted.
func offered(o Outcome) float64 {
	if positive(o.OfferedPps) {
		return o.OfferedPps
	}
	return o.LoadPps
}
