package trace

import (
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// between tells of what functions did to packets that ended between nodes: those that fail, where who watches has packets end
// before them, and those that are there and counted what they dropped.
func (e *Explanation) between(s Step) {
	drops := ownOf(s.Drops)
	if e.counted(s.Steps) < own(drops) {
		for _, d := range drops {
			if f, blocks := e.blockedBehind(d); blocks && !slices.Contains(e.Reasons, f.Why) {
				e.Reasons = append(e.Reasons, f.Why)
			}
		}
	}
	back := func(step StepCount) bool { return !e.meets(step) }
	e.dropped(slices.DeleteFunc(slices.Clone(s.Steps), back), "")
	e.dropped(slices.DeleteFunc(slices.Clone(s.Steps), e.meets), "") // of others at most
	for _, rule := range s.Rules {
		if rule.dropped() && slices.ContainsFunc(s.Steps, func(step StepCount) bool { return step.dropped() && step.Function == rule.Function }) {
			e.Reasons = append(e.Reasons, rule.text())
		}
	}
}

// meets tells whether packets of the flow take a step: it is of its direction, or of either.
func (e *Explanation) meets(step StepCount) bool {
	if e.flow.Reverse {
		return step.Direction != string(api.Forward)
	}
	return step.Direction != string(api.Reverse)
}

// counted are packets that functions dropped and that may be of the flow.
func (e *Explanation) counted(steps []StepCount) (n uint64) {
	for _, step := range steps {
		if step.dropped() && e.meets(step) {
			n += step.Packets
		}
	}
	return n
}

// blockedBehind a port is the first function on the flow's way that does not have packets led past it while it fails.
func (e *Explanation) blockedBehind(d Drop) (Failing, bool) {
	node, _, _ := strings.Cut(d.Of, ":")
	way := e.nodes()
	for _, s := range way[1+slices.IndexFunc(way, func(s Step) bool { return s.Name == node }):] {
		at := slices.IndexFunc(e.failing, func(f Failing) bool { return f.Function == s.Name || f.Function == s.Of })
		if at < 0 {
			break
		}
		if e.failing[at].Blocks {
			return e.failing[at], true
		}
	}
	return Failing{}, false
}
