package experiment

import (
	"slices"

	"nfchain.dev/nfchain/internal/trial"
)

// Cost is the time that trials take besides their own, in seconds.
type Cost struct {
	// Trial is of each trial.
	Trial float64 `json:"trial_s"`
	// Chain is of each trial that needs another chain than the one before it: that is
	// removed, the other made, proven and read back.
	Chain float64 `json:"chain_s"`
	// Node is of each node that such a chain has, and Container of each container besides, which its engine makes
	// and removes. To fetch or build an image is in neither.
	Node      float64 `json:"node_s"`
	Container float64 `json:"container_s"`
}

// UsualCost is for when nothing was measured yet, on a machine of two cores: 567 chains of
// the published experiments took 0.22 s each on quiet ones, 0.74 s at the 95th percentile,
// and busy ones take longer. Containers of Docker took 0.1 to 0.4 s each.
var UsualCost = Cost{Trial: 0.1, Chain: 0.5, Node: 0.012, Container: 0.25}

// CostOf what trials took so far: the medians of the gaps between them, so that an
// interruption does not count. Chains are of many sizes, so those gaps tell how many times as long as is usual
// they take here; the course has the trials' conditions.
func CostOf(trials []trial.Trial, of Course) Cost {
	var same, times []float64
	for i := 1; i < len(trials); i++ {
		before, t := trials[i-1], trials[i]
		gap := t.StartedAt.Sub(before.StartedAt).Seconds() - before.DurationS
		switch {
		case t.Step > 0 || before.Step > 0 || gap < 0:
		case t.Instance == before.Instance:
			same = append(same, gap)
		case of.knows(t.Condition):
			times = append(times, gap/UsualCost.another(of, t.Condition))
		}
	}
	all := middle(times, 1)
	return Cost{Trial: middle(same, UsualCost.Trial), Chain: all * UsualCost.Chain, Node: all * UsualCost.Node, Container: all * UsualCost.Container}
}

// middle of the values, or what is usual where there are none.
func middle(values []float64, usual float64) float64 {
	if len(values) == 0 {
		return usual
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// Course is what conditions are measured on.
type Course struct {
	Conditions []trial.Condition
	// Chain tells which chain each condition needs.
	Chain []int
	// Containers tells how many of that chain's nodes are containers, negative where nobody knows; nil where none is.
	Containers []int
	// Each is how many repeats are on one instance of a chain, which is made anew then; 0 where it stays.
	Each int
}

// Order of so many repeats of the conditions, each on its own instances of a chain that is made anew; see [Order] and
// [OnInstances].
func (on Course) Order(repeats int, seed int64) []Slot {
	order := Order(len(on.Conditions), repeats, seed)
	if on.Each == 0 {
		return order
	}
	order = slices.DeleteFunc(order, func(s Slot) bool { return !on.Conditions[s.Condition].On(on.instance(s)) })
	return OnInstances(order, on.Each, on.Chain)
}

// instance of the chain that a trial is on, counted from 1.
func (on Course) instance(s Slot) int { return (s.Repeat-1)/on.Each + 1 }

// knows what chain a condition has.
func (on Course) knows(i int) bool {
	return i < len(on.Conditions) && (on.Containers == nil || on.Containers[i] >= 0)
}

// of some conditions alone.
func (on Course) of(some []int) Course {
	part := Course{Each: on.Each}
	for _, i := range some {
		part.Conditions, part.Chain = append(part.Conditions, on.Conditions[i]), append(part.Chain, on.Chain[i])
		if on.Containers != nil {
			part.Containers = append(part.Containers, on.Containers[i])
		}
	}
	return part
}

// Seconds that trials in an order should take. Up is the chain that is there, negative for none.
func (c Cost) Seconds(on Course, order []Slot, up int) (s float64) {
	was := 0
	for at, slot := range order {
		condition, block := on.Conditions[slot.Condition], 0
		if on.Each > 0 {
			block = on.instance(slot)
		}
		s += condition.DurationS
		if on.Chain[slot.Condition] == up && (block == was || at == 0) && condition.Harm == "" {
			s += c.Trial
		} else {
			s += c.another(on, slot.Condition)
		}
		up, was = on.Chain[slot.Condition], block
	}
	return s
}
