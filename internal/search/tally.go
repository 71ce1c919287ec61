package search

import (
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"nfchain.dev/nfchain/internal/trial"
)

// tally is what every result says of its trials.
func tally(s trial.Search, history []Outcome) Result {
	r := Result{Search: s, Trials: len(history)}
	for _, o := range history {
		for _, s := range []float64{o.duration(), o.ThenS} {
			if lasting(s) {
				r.TrafficS += s
			}
		}
		for _, s := range []float64{o.LearnS, o.DrainS, o.SettleS} {
			if wait(s) {
				r.WaitS += s
			}
		}
	}
	for _, at := range settled(nothing, byLoad(sound(history, trial.StepLoad))) {
		r.Loads = append(r.Loads, point(s, at))
	}
	return r
}

func point(s trial.Search, at atLoad) LoadPoint {
	var lost, unsent, whole float64
	for _, o := range at.trials {
		lost, unsent, whole = lost+o.loss()*o.duration(), unsent+o.unsent()*o.duration(), whole+o.duration()
	}
	return LoadPoint{LoadPps: at.pps, LoadRatio: at.pps / s.MaxPps, LossRatio: lost / whole, UnsentRatio: unsent / whole, Trials: len(at.trials)}
}

// spread of values, all of them numbers.
func spread(xs []float64) Spread {
	if len(xs) == 0 {
		return Spread{}
	}
	s := Spread{number(stat.Mean(xs, nil)), number(slices.Min(xs)), number(slices.Max(xs)), nil}
	if len(xs) > 1 {
		s.Deviation = number(stat.StdDev(xs, nil))
	}
	return s
}

// number is nil for what is none, which sums of too large values are.
func number(x float64) *float64 {
	if !finite(x) {
		return nil
	}
	return &x
}

// goalResult of a goal from all trials of loads.
func goalResult(g trial.Goal, s trial.Search, loads []atLoad) GoalResult {
	b := relevant(g, loads)
	r := GoalResult{Goal: g, Regular: b.within(g.WidthRatio), LossInversion: inverted(g, b, loads)}
	if b.low != nil {
		r.LowerPps, r.ConditionalPps = new(float64), new(float64)
		*r.LowerPps, *r.ConditionalPps = b.low.pps, conditional(g, *b.low)
	}
	if b.high != nil {
		high := b.high.pps
		r.UpperPps, r.GeneratorLimited = &high, limited(g, *b.high)
	}
	r.Confidence, r.CriticalCI95 = trust(g, b, loads)
	r.Why = missing(g, b, s)
	return r
}

// missing says why a result is not regular.
func missing(g trial.Goal, b bounds, s trial.Search) string {
	switch {
	case b.within(g.WidthRatio):
		return ""
	case b.high == nil && b.low != nil && b.low.pps >= s.MaxPps:
		return "the highest load allowed meets the goal, so there is no upper bound"
	case b.low == nil && b.high != nil && b.high.pps <= s.MinPps:
		return "the lowest load allowed misses the goal, so there is no lower bound"
	case b.low == nil || b.high == nil:
		return "not enough trials to find both bounds"
	}
	return "not enough trials to bring the bounds as close as asked"
}

// inverted tells whether a load above the upper bound meets the goal (MLRsearch §5.3).
func inverted(g trial.Goal, b bounds, loads []atLoad) bool {
	return b.high != nil && slices.ContainsFunc(loads, func(l atLoad) bool {
		return l.pps > b.high.pps && classify(g, l.trials) == lower
	})
}

// limited tells whether a load would not be an upper bound, had all of it been sent.
func limited(g trial.Goal, at atLoad) bool {
	sent := slices.Clone(at.trials)
	for i := range sent {
		sent[i].OfferedPps = 0
	}
	return classify(g, sent) != upper
}

// round keeps seven digits, so that a load can be read, and stays within bounds,
// which are as they were given.
func round(pps float64, s trial.Search) float64 {
	if pps >= s.MaxPps {
		return s.MaxPps
	}
	if digits, err := strconv.ParseFloat(strconv.FormatFloat(pps, 'e', 6, 64), 64); err == nil && pps > s.MinPps {
		return min(max(digits, s.MinPps), s.MaxPps)
	}
	return s.MinPps
}

// ask makes a step of one load.
func ask(s trial.Search, pps, seconds float64, why string) trial.Step {
	return trial.Step{Kind: trial.StepLoad, LoadPps: round(pps, s), DurationS: seconds, Waits: *s.Waits, Why: why}
}
