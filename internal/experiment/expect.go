package experiment

import (
	"cmp"

	"nfchain.dev/nfchain/internal/trial"
)

// Expect is how long so many repeats of conditions should take in a shuffled order that
// nobody has drawn yet, s.
func (c Cost) Expect(on Course, repeats int) (s float64) {
	of := map[int]int{}
	for _, i := range on.Chain {
		of[i]++
	}
	due, first := on.due(repeats)
	all, blocks := float64(len(on.Conditions)), float64(repeats)
	for i, condition := range on.Conditions {
		// The trial before has gone through the same chain: in the same block, or as the last
		// of the block before, of which the first block has none.
		alike := float64(of[on.Chain[i]])
		same := (alike-1)/all + alike/all/all*(blocks-1)/blocks
		if on.Each > 0 { // of all on one instance, in an order of these, the first alone has not
			same = 1 - first[on.Chain[i]]
		}
		if condition.Harm != "" {
			same = 0 // each has a chain of its own
		}
		s += due[i] * (lasts(condition) + (1-same)*c.another(on, i) + same*c.Trial)
	}
	return s
}

// due are how many trials the conditions have, and first which share of those on each chain is the first on an instance of it, where it is
// made anew: in whatever order they come.
func (on Course) due(repeats int) (trials []float64, first map[int]float64) {
	trials = make([]float64, len(on.Conditions))
	if on.Each == 0 {
		for i := range trials {
			trials[i] = float64(repeats)
		}
		return trials, nil
	}
	type instance struct{ chain, number int }
	made, all := map[instance]bool{}, map[int]float64{}
	first = map[int]float64{}
	for _, slot := range on.Order(repeats, 0) {
		at := instance{on.Chain[slot.Condition], on.instance(slot)}
		trials[slot.Condition]++
		all[at.chain]++
		if !made[at] {
			made[at] = true
			first[at.chain]++
		}
	}
	for chain := range first {
		first[chain] /= all[chain]
	}
	return trials, first
}

// another is what a trial takes besides its own time if its chain must be made first.
func (c Cost) another(on Course, i int) float64 {
	condition := on.Conditions[i]
	chains := max(1, condition.ActiveChains)
	s := c.Chain + c.Node*float64(chains*condition.Length+condition.IdleContainers)
	if on.Containers != nil {
		s += c.Container * float64(chains*on.Containers[i])
	}
	return s
}

// usualSteps of a search, whose end nobody knows before.
const usualSteps = 12

// lasts is how long a condition's traffic takes in one repeat, with the pauses of a search.
func lasts(c trial.Condition) float64 {
	if c.Search == nil {
		return c.DurationS
	}
	s := *c.Search
	one := s.DurationS
	for _, g := range s.Goals {
		one = max(one, g.FinalDurationS)
	}
	if one == 0 && s.Quick {
		one = 1
	}
	waits := 0.0
	if s.Waits != nil {
		waits = s.Waits.LearnS + s.Waits.DrainS + s.Waits.SettleS
	}
	return usualSteps * (cmp.Or(one, 30) + waits)
}
