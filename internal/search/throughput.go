package search

import (
	"slices"

	"nfchain.dev/nfchain/internal/trial"
)

// throughput is RFC 2544 §26.1: the fastest rate without loss, each rate tried
// once, unless it was not sent. How to go from rate to rate the RFC leaves open: next does it.
type throughput struct {
	spec trial.Search
	next func(trial.Search, rates) (pps float64, more bool)
}

// rates are the lowest load that lost something and the highest below it that
// did not; nil if there is none.
type rates struct{ lossless, lossy *atLoad }

func ratesOf(g trial.Goal, loads []atLoad) rates {
	var r rates
	for i, l := range loads {
		if slices.ContainsFunc(l.trials, func(o Outcome) bool { return !o.meets(g) }) {
			r.lossy = &loads[i]
			return r
		}
		r.lossless = &loads[i]
	}
	return r
}

// Next is the next rate, or the found one at full length if it was found with
// shorter trials (§24).
func (t throughput) Next(history []Outcome) (trial.Step, bool) {
	if len(history) >= t.spec.MaxTrials {
		return trial.Step{}, false
	}
	return t.step(sound(history, trial.StepLoad))
}

func (t throughput) step(trials []Outcome) (trial.Step, bool) {
	g := t.spec.Goals[0]
	if pps, seconds, more := again(g, byLoad(trials), t.spec.LossTrials); more {
		return ask(t.spec, pps, seconds, "again, because not all of it was sent"), true
	}
	found := ratesOf(g, settled(g, byLoad(trials)))
	if pps, more := t.next(t.spec, found); more {
		return ask(t.spec, pps, g.InitialDurationS, "the fastest rate without loss"), true
	}
	if found.lossless != nil && classify(g, found.lossless.trials) != lower {
		return ask(t.spec, found.lossless.pps, g.FinalDurationS, "the rate found, for the full duration"), true
	}
	return trial.Step{}, false
}

// halve the interval of rates until it is as narrow as asked.
func halve(s trial.Search, found rates) (float64, bool) {
	switch {
	case found.lossy == nil && found.lossless == nil:
		return s.MaxPps, true
	case found.lossy == nil:
		return s.MaxPps, found.lossless.pps < s.MaxPps
	case found.lossy.pps <= s.MinPps:
		return 0, false
	case found.lossless != nil:
		wide := 1-found.lossless.pps/found.lossy.pps > s.Goals[0].WidthRatio
		return (found.lossless.pps + found.lossy.pps) / 2, wide
	case 1-s.MinPps/found.lossy.pps <= s.Goals[0].WidthRatio:
		return s.MinPps, true
	}
	return (s.MinPps + found.lossy.pps) / 2, true
}

// stepDown lowers the rate by equal steps until nothing is lost, as §26.1 is
// often read.
func stepDown(s trial.Search, found rates) (float64, bool) {
	switch {
	case found.lossless == nil && found.lossy == nil:
		return s.MaxPps, true
	case found.lossless != nil || found.lossy.pps <= s.MinPps:
		return 0, false
	}
	return max(s.MinPps, found.lossy.pps-s.StepRatio*s.MaxPps), true
}

// goal is what the bounds are held to: they may be as far apart as the steps are.
func (t throughput) goal(loads []atLoad) trial.Goal {
	g := t.spec.Goals[0]
	found := ratesOf(g, loads)
	if t.spec.Method == trial.RFC2544StepDown && found.lossy != nil {
		g.WidthRatio = max(g.WidthRatio, min(0.999, 1.001*t.spec.StepRatio*t.spec.MaxPps/found.lossy.pps))
	}
	return g
}

// Result is the goal's, since RFC 2544 is one of the goals of MLRsearch (§4.10.2).
func (t throughput) Result(history []Outcome) Result {
	r := tally(t.spec, history)
	loads := settled(t.spec.Goals[0], byLoad(sound(history, trial.StepLoad)))
	r.Goals = append(r.Goals, goalResult(t.goal(loads), t.spec, loads))
	_, more := t.Next(history)
	return closed(r, more, throughputClauses)
}

// rate is the throughput, once it is known: what the specification says, or what
// was found; and the step that is still needed.
func rateOf(s trial.Search, history []Outcome) (pps float64, step trial.Step, more bool) {
	if s.ThroughputPps > 0 {
		return s.ThroughputPps, trial.Step{}, false
	}
	t := throughput{s, halve}
	trials := sound(history, trial.StepLoad)
	if step, more := t.step(trials); more {
		return 0, step, true
	}
	if found := ratesOf(s.Goals[0], settled(s.Goals[0], byLoad(trials))); found.lossless != nil {
		return found.lossless.pps, trial.Step{}, false
	}
	return 0, trial.Step{}, false
}

// rateResult adds the throughput that a method started from.
func rateResult(r Result, s trial.Search, history []Outcome) Result {
	if s.ThroughputPps == 0 {
		loads := settled(s.Goals[0], byLoad(sound(history, trial.StepLoad)))
		r.Goals = append(r.Goals, goalResult(s.Goals[0], s, loads))
	}
	return r
}
