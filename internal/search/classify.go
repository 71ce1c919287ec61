package search

import (
	"cmp"
	"slices"

	"nfchain.dev/nfchain/internal/trial"
)

// class of a load for a goal (MLRsearch §4.7.2).
type class int

const (
	undecided class = iota
	lower
	upper
)

// sums of durations at one load (MLRsearch Appendix A), by whether the trial is
// full-length and whether it meets the goal.
type sums struct{ lowFull, highFull, lowShort, highShort float64 }

func sum(g trial.Goal, trials []Outcome) sums {
	var s sums
	for _, o := range trials {
		full, low := o.DurationS >= g.FinalDurationS, o.meets(g)
		switch {
		case full && low:
			s.lowFull += o.duration()
		case full:
			s.highFull += o.duration()
		case low:
			s.lowShort += o.duration()
		default:
			s.highShort += o.duration()
		}
	}
	return s
}

// classify a load by all trials at it (MLRsearch Appendix A). A short trial that
// misses the goal speaks against the load, unless as many short ones meet it as
// the exceed ratio has for it; one that meets the goal never speaks for it.
func classify(g trial.Goal, trials []Outcome) class {
	s := sum(g, trials)
	excess := s.highShort - s.lowShort*g.ExceedRatio/(1-g.ExceedRatio)
	high := s.highFull + max(0, excess)
	whole := max(high+s.lowFull, g.DurationSumS)
	allowed := whole * g.ExceedRatio
	switch {
	case high <= allowed && whole-s.lowFull <= allowed:
		return lower
	case high > allowed && whole-s.lowFull > allowed:
		return upper
	}
	return undecided
}

// conditional throughput of a load (MLRsearch Appendix B): the forwarding rate
// that all but the exceed ratio of the trials, by duration, reach or would reach.
// Trials that break a limit come last, since they are what the ratio excuses.
func conditional(g trial.Goal, at atLoad) float64 {
	full := slices.DeleteFunc(slices.Clone(at.trials), func(o Outcome) bool { return o.DurationS < g.FinalDurationS })
	slices.SortStableFunc(full, func(a, b Outcome) int {
		return cmp.Or(compareBool(!a.keeps(g.Limits), !b.keeps(g.Limits)), cmp.Compare(a.loss(), b.loss()))
	})
	s := sum(g, at.trials)
	remaining := max(g.DurationSumS, s.lowFull+s.highFull) * (1 - g.ExceedRatio)
	loss := 1.0
	for i, o := range full {
		if i > 0 && remaining <= 0 {
			break
		}
		loss, remaining = o.loss(), remaining-o.duration()
	}
	if remaining > 0 {
		loss = 1
	}
	return at.pps * (1 - loss)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// bounds of a goal: the smallest upper bound, and the largest lower bound below
// it (MLRsearch §4.8.1 and §4.8.2); without an upper bound, the largest lower bound there is.
type bounds struct{ low, high *atLoad }

func relevant(g trial.Goal, loads []atLoad) bounds {
	var b bounds
	for i := range loads {
		switch classify(g, loads[i].trials) {
		case lower:
			b.low = &loads[i]
		case upper:
			b.high = &loads[i]
			return b
		}
	}
	return b
}

// width of the bounds as a share of the upper one.
func (b bounds) width() float64 { return 1 - b.low.pps/b.high.pps }

func (b bounds) within(width float64) bool {
	return b.low != nil && b.high != nil && b.width() <= width
}
