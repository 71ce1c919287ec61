package search

import (
	"cmp"

	"nfchain.dev/nfchain/internal/trial"
)

// reaching is a search whose highest load is what the generator can send by itself.
// Through the chain it may be far less: where both share a core, each packet that
// is carried takes from the time to send the next. So it looks first for what can be
// sent there, and gives the method that as its highest load.
type reaching struct {
	spec   trial.Search
	method func(trial.Search) Method
}

// Reached is how the highest load was brought down to what could be sent.
type Reached struct {
	// CeilingPps is what the generator can send by itself, HighestPps the highest load
	// that the search took instead: about all of it can be sent through the chain.
	CeilingPps float64 `json:"ceiling_pps"`
	HighestPps float64 `json:"highest_pps"`
	Trials     int     `json:"trials"`
}

const (
	// severe is the share of a load that goes unsent where the generator cannot send
	// it, rather than only not quite.
	severe = 0.1
	// The next load to try is a little above what was sent; if all of that is sent, more.
	above, onward = 1.05, 1.1
	// mostProbes bound the look where what can be sent changes from trial to trial.
	mostProbes = 8
	// probeS is long enough to see a rate, and no trial of the method.
	probeS = 1
)

// highest load that can be sent, as far as the trials tell, whether they do, and the
// method's own trials below it. Those from before the last probe were of another
// highest load.
func (r reaching) highest(history []Outcome) (pps float64, known bool, own []Outcome) {
	pps = r.spec.MaxPps
	probes := 0
	for i, o := range history {
		if o.Kind != trial.StepReach || len(sound(history[i:i+1], trial.StepReach)) == 0 {
			continue
		}
		pps, known = r.after(o)
		probes, own = probes+1, history[i+1:]
	}
	return pps, known || probes >= mostProbes, own
}

// after a probe, the load to take, and whether it is the one.
func (r reaching) after(o Outcome) (pps float64, known bool) {
	switch share := o.unsent(); {
	case share > severe:
		return r.within(o.OfferedPps * above), false
	case share == 0 && o.LoadPps < r.spec.MaxPps:
		return r.within(o.LoadPps * onward), false
	}
	return o.LoadPps, true
}

// within the bounds of the specification, a throughput that it gives among them.
func (r reaching) within(pps float64) float64 {
	return max(round(pps, r.spec), r.spec.ThroughputPps)
}

// inner is the method for the highest load that can be sent.
func (r reaching) inner(pps float64) Method {
	s := r.spec
	s.MaxPps = pps
	return r.method(s)
}

// Next is a probe, or the method's own.
func (r reaching) Next(history []Outcome) (trial.Step, bool) {
	if len(history) >= r.spec.MaxTrials {
		return trial.Step{}, false
	}
	pps, known, own := r.highest(history)
	if !known {
		return r.probe(pps), true
	}
	m := r.inner(pps)
	if step, more := m.Next(own); more || r.probes(history) >= mostProbes || !r.unbounded(pps, m.Result(own)) {
		return step, more
	}
	return r.probe(r.within(pps * onward)), true
}

// unbounded tells whether all that the method tried could be sent after all, and lost
// nothing, so that a higher load is to be tried.
func (r reaching) unbounded(pps float64, out Result) bool {
	for _, g := range out.Goals {
		if g.UpperPps == nil && g.LowerPps != nil && pps < r.spec.MaxPps {
			return true
		}
	}
	return false
}

func (r reaching) probe(pps float64) trial.Step {
	step := ask(r.spec, pps, min(probeS, r.spec.DurationS), "the highest load that can be sent here")
	step.Kind = trial.StepReach
	return step
}

func (r reaching) probes(history []Outcome) int { return len(sound(history, trial.StepReach)) }

// Result is the method's, with what was done before it.
func (r reaching) Result(history []Outcome) Result {
	pps, _, own := r.highest(history)
	out, all := r.inner(pps).Result(own), tally(r.spec, history)
	out.Trials, out.TrafficS, out.WaitS = all.Trials, all.TrafficS, all.WaitS
	if _, more := r.Next(history); more || len(history) >= r.spec.MaxTrials {
		out.Finished, out.Irregular, out.Why = false, true, cmp.Or(out.Why, unfinished)
	}
	out.Reached = &Reached{CeilingPps: r.spec.MaxPps, HighestPps: pps, Trials: r.probes(history)}
	return out
}
