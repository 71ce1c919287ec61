package experiment

import (
	"cmp"

	"nfchain.dev/nfchain/internal/trial"
)

// nodeSeconds is what each namespace adds to the making of a chain, on a machine of two cores.
const nodeSeconds = 0.012

// Expect is how long so many repeats of conditions should take in a shuffled order that
// nobody has drawn yet, s. Chain tells which chain each condition needs.
func (c Cost) Expect(conditions []trial.Condition, chain []int, repeats int) (s float64) {
	of := map[int]int{}
	for _, i := range chain {
		of[i]++
	}
	all, blocks := float64(len(conditions)), float64(repeats)
	for i, condition := range conditions {
		// The trial before has gone through the same chain: in the same block, or as the last
		// of the block before, of which the first block has none.
		alike := float64(of[chain[i]])
		same := (alike-1)/all + alike/all/all*(blocks-1)/blocks
		if condition.Harm != "" {
			same = 0 // each has a chain of its own
		}
		s += blocks * (lasts(condition) + (1-same)*c.another(condition) + same*c.Trial)
	}
	return s
}

// another is what a trial takes besides its own time if its chain must be made first.
func (c Cost) another(condition trial.Condition) float64 {
	nodes := max(1, condition.ActiveChains)*condition.Length + condition.IdleContainers
	return c.Chain + nodeSeconds*float64(nodes)
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
