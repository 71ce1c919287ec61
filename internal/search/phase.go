package search

import (
	"math"
	"slices"

	"nfchain.dev/nfchain/internal/trial"
)

// phase is one goal in one of its phases: the bounds that its own trials give,
// and those of the phase before, which tell where to look.
type phase struct {
	spec        trial.Search
	goal        trial.Goal
	found, hint bounds
	// guess is where the lower bound should be, if longer trials lower it again as
	// they did from the phase before last to the last; 0 if they did not.
	guess float64
	loads []atLoad
}

// step between loads of this phase, as a share of the upper one: a little less
// than the width, so that what is rounded stays within.
func (p phase) step() float64 { return p.goal.WidthRatio * 0.998 }

// want is the load to try next and why; no reason if there is nothing to try.
// It is never one that this phase has decided: loads between the bounds, above a
// lower bound without an upper, or below an upper without a lower, are all open.
func (p phase) want() (pps float64, why string) {
	low, high := p.found.low, p.found.high
	switch {
	case low != nil && high != nil && p.found.within(p.goal.WidthRatio):
		return 0, ""
	case low != nil && high != nil:
		return p.between(low.pps, *high), "between its bounds"
	case low != nil && low.pps >= p.spec.MaxPps, high != nil && high.pps <= p.spec.MinPps:
		return 0, ""
	case low != nil:
		return p.above(low.pps), "for an upper bound"
	case high != nil:
		return p.below(*high), "for a lower bound"
	}
	return p.start(), "where shorter trials had it"
}

// start is a load that the phase before held to be right, or one that was tried
// and is still open.
func (p phase) start() float64 {
	switch {
	case p.guess > 0:
		return p.guess
	case p.hint.low != nil:
		return p.hint.low.pps
	case p.hint.high != nil:
		return p.hint.high.pps
	}
	return p.loads[0].pps
}

// between two bounds. Where they are close it halves their distance in the
// logarithm. Where they are far apart it looks first where something is known:
// the guess, the bounds of the phase before, what was forwarded of an overload,
// the neighbourhood of loads that were tried.
func (p phase) between(low float64, high atLoad) float64 {
	half := math.Sqrt(low * high.pps)
	if 1-low/high.pps <= 8*p.goal.WidthRatio {
		return half
	}
	inside := func(pps float64) bool { return pps > low*(1+p.step()/2) && pps < high.pps*(1-p.step()/2) }
	for _, pps := range p.known(high) {
		if inside(pps) {
			return pps
		}
	}
	switch {
	case p.guess > 0 && low >= p.guess, !p.crowded(high.pps, 1) && p.crowded(low, -1):
		return min(half, p.up(low))
	case p.crowded(high.pps, 1):
		return max(half, p.down(high.pps))
	}
	return half
}

// known places to look at below an upper bound.
func (p phase) known(high atLoad) []float64 {
	var at []float64
	switch {
	case p.guess > 0:
		return []float64{p.guess}
	case p.hint.low != nil:
		at = append(at, p.hint.low.pps)
	}
	if p.hint.high != nil {
		at = append(at, p.hint.high.pps)
	}
	if e := p.estimate(high); e < 0.9*high.pps {
		at = append(at, e*(1-p.step()/2), e*(1+p.step()/2))
	}
	return at
}

// estimate is the load at which a system that forwards no more than it did of
// this one would lose just what the goal allows.
func (p phase) estimate(at atLoad) float64 {
	forwarded := 0.0
	for _, o := range at.trials {
		forwarded = max(forwarded, o.forwarded())
	}
	return forwarded / (1 - p.goal.LossRatio)
}

// above a lower bound: where the phase before has its upper bound, or half way if
// that is near, else further and further.
func (p phase) above(low float64) float64 {
	hint := p.hint.high
	switch {
	case hint == nil || hint.pps <= low || p.guess > 0:
		return p.up(low)
	case p.hint.low != nil && p.hint.low.pps > low:
		return p.hint.low.pps
	case low/hint.pps < 1-p.goal.WidthRatio && low/hint.pps > 1-4*p.goal.WidthRatio:
		return math.Sqrt(low * hint.pps)
	}
	return hint.pps
}

// below an upper bound: the guess, or where the phase before has its lower bound,
// else further and further, at least down to the estimate.
func (p phase) below(high atLoad) float64 {
	switch {
	case p.guess > 0 && p.guess < high.pps:
		return p.guess
	case p.hint.low != nil && p.hint.low.pps < high.pps && p.guess == 0:
		return p.hint.low.pps
	}
	least := math.Sqrt(high.pps * p.spec.MinPps)
	return min(p.down(high.pps), max(least, p.estimate(high)*(1-p.step()/2)))
}

// near is how far from each other loads may be that are of one climb.
const near = 0.25

// crowded tells whether a load beside this one, on the side given, was tried.
func (p phase) crowded(pps float64, side int) bool {
	return slices.ContainsFunc(p.loads, func(l atLoad) bool {
		return side > 0 && l.pps > pps && 1-pps/l.pps <= near || side < 0 && l.pps < pps && 1-l.pps/pps <= near
	})
}

// up from a lower bound, twice as far as it is from the one below it.
func (p phase) up(low float64) float64 {
	grow := p.step()
	for i := len(p.loads) - 1; i >= 0; i-- {
		if l := p.loads[i]; l.pps < low && l.pps >= p.guess && classify(p.goal, l.trials) == lower {
			grow = p.further(1 - l.pps/low)
			break
		}
	}
	return low / (1 - grow)
}

// down from an upper bound, twice as far as it is from the one above it.
func (p phase) down(high float64) float64 {
	shrink := p.step()
	for _, l := range p.loads {
		if l.pps > high && (p.guess == 0 || l.pps <= p.guess) && classify(p.goal, l.trials) == upper {
			shrink = p.further(1 - high/l.pps)
			break
		}
	}
	return high * (1 - shrink)
}

// further than the last time, by twice; but a gap that is not of this climb
// starts it anew.
func (p phase) further(gap float64) float64 {
	if gap > near {
		return p.step()
	}
	return max(p.step(), 2*gap)
}
