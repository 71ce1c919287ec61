package search

import (
	"math"

	"nfchain.dev/nfchain/internal/trial"
)

// halving is a binary search with loss verification over an array of 1 to n steps
// (ETSI GS NFV-TST 009 §12.3.2 and §12.3.3): a value that loses is tried again up to
// a number of trials, unless it lost so much that no second trial is worth it.
// Unlike the reference code, it tries the last value that is left too.
type halving struct {
	low, high int // the values not decided, from 1; low > high at the end
	found     int // the highest value without loss, 0 if none
	tried     int // trials of the current value so far
	most      int // trials a value may have
	enough    float64
}

func newHalving(n int, s trial.Search) halving {
	return halving{low: 1, high: n, most: s.LossTrials, enough: s.LossFrames}
}

// now is the value to try; false at the end.
func (h halving) now() (int, bool) { return h.low + (h.high-h.low)/2, h.low <= h.high }

// after is the state when the current value was tried.
func (h halving) after(lost float64) halving {
	value, _ := h.now()
	h.tried++
	switch {
	case lost == 0:
		h.found, h.low, h.tried = value, value+1, 0
	case lost > h.enough || h.tried >= h.most:
		h.high, h.tried = value-1, 0
	}
	return h
}

// verified is TST 009: the throughput by halving with loss verification.
type verified struct{ spec trial.Search }

// steps of the array, as wide as the goal's width is of the highest load, and
// the highest load the last of them.
func (v verified) steps() int { return max(1, int(math.Ceil(1/v.spec.Goals[0].WidthRatio))) }

func (v verified) load(value int) float64 {
	return round(v.spec.MaxPps*float64(value)/float64(v.steps()), v.spec)
}

func (v verified) state(trials []Outcome) halving {
	h := newHalving(v.steps(), v.spec)
	h.low = max(1, int(math.Ceil(float64(v.steps())*v.spec.MinPps/v.spec.MaxPps)))
	g := v.spec.Goals[0]
	for _, o := range trials {
		lost := 0.0
		switch {
		case o.void(g): // there is no telling what would be lost
			lost = math.SmallestNonzeroFloat64
		case !o.meets(g):
			lost = max(o.lostFrames(), math.SmallestNonzeroFloat64)
		}
		if _, more := h.now(); more {
			h = h.after(lost)
		}
	}
	return h
}

// Next is the middle of the rates not decided.
func (v verified) Next(history []Outcome) (trial.Step, bool) {
	value, more := v.state(sound(history, trial.StepLoad)).now()
	if !more || len(history) >= v.spec.MaxTrials {
		return trial.Step{}, false
	}
	return ask(v.spec, v.load(value), v.spec.Goals[0].FinalDurationS, "halving with loss verification"), true
}

// Result has the highest rate without loss as its lower bound, and the next step
// as its upper one.
func (v verified) Result(history []Outcome) Result {
	r := tally(v.spec, history)
	trials := sound(history, trial.StepLoad)
	h := v.state(trials)
	loads := byLoad(trials)
	b := bounds{at(loads, v.load(h.found)), at(loads, v.load(h.high+1))}
	g := GoalResult{Goal: v.spec.Goals[0]}
	if h.found > 0 && b.low != nil {
		g.LowerPps, g.ConditionalPps = &b.low.pps, &b.low.pps
	}
	if h.high < v.steps() && b.high != nil {
		g.UpperPps, g.GeneratorLimited = &b.high.pps, limited(g.Goal, *b.high)
	}
	_, more := v.Next(history)
	g.Regular = !more && h.low > h.high && g.LowerPps != nil && g.UpperPps != nil
	if g.Regular {
		g.Confidence, g.CriticalCI95 = trust(g.Goal, b, loads)
	} else {
		g.Why = v.missing(h)
	}
	r.Goals = append(r.Goals, g)
	return closed(r, more, verifiedClauses)
}

// at is the trials at a load; nil if there are none.
func at(loads []atLoad, pps float64) *atLoad {
	for i := range loads {
		if loads[i].pps == pps {
			return &loads[i]
		}
	}
	return nil
}

func (v verified) missing(h halving) string {
	switch {
	case h.low <= h.high:
		return "not enough trials to decide every rate"
	case h.found == 0:
		return "the lowest rate allowed lost frames each time"
	}
	return "the highest rate allowed lost nothing, so there is no upper bound"
}
