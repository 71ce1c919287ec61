package experiment

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Slot is one trial to run: which condition, for the how-manieth time.
type Slot struct {
	// Condition is an index.
	Condition int
	// Repeat counts from 1.
	Repeat int
}

// Order is a randomised complete block design: the repeats are blocks, each
// block has every condition once, shuffled anew. A machine that warms up or
// slows down during the hours of an experiment then does so under all
// conditions alike, instead of under those that happened to come last; and an
// interrupted experiment has nearly as many trials of each condition.
//
// The order depends on the arguments alone, in every version of Go, so that a
// recorded seed repeats it. Fewer repeats give the beginning of the same order.
func Order(conditions, repeats int, seed int64) []Slot {
	source := rand.NewPCG(uint64(seed), 0)
	slots := make([]Slot, 0, max(0, conditions)*max(0, repeats))
	for repeat := 1; repeat <= repeats; repeat++ {
		for _, c := range shuffled(conditions, source) {
			slots = append(slots, Slot{c, repeat})
		}
	}
	return slots
}

// OnInstances is an order in which so many repeats of all conditions that need the same
// chain follow each other, before another chain is made: they are on one instance of it,
// where chains are made anew. Chain tells which one each condition needs. Among the chains,
// and among the trials on each, the order stays.
func OnInstances(order []Slot, each int, chain []int) []Slot {
	type instance struct{ block, chain int }
	of := func(s Slot) instance { return instance{(s.Repeat - 1) / each, chain[s.Condition]} }
	first := map[instance]int{}
	for i, s := range order {
		if _, seen := first[of(s)]; !seen {
			first[of(s)] = i
		}
	}
	out := slices.Clone(order)
	slices.SortStableFunc(out, func(a, b Slot) int {
		return cmp.Or(cmp.Compare(of(a).block, of(b).block), cmp.Compare(first[of(a)], first[of(b)]))
	})
	return out
}

// shuffled is Fisher and Yates' shuffle of 0 to n−1. It is written out because
// the library promises its generator's numbers for ever, but not its shuffle.
func shuffled(n int, source *rand.PCG) []int {
	out := make([]int, max(0, n))
	for i := range out {
		j, _ := bits.Mul64(source.Uint64(), uint64(i+1))
		out[i] = out[j]
		out[j] = i
	}
	return out
}

// Remaining is the part of an order that is not done, in that order, so that an
// interrupted experiment goes on where it stopped. What is done but not in the
// order does not matter.
func Remaining(order, done []Slot) []Slot {
	have := make(map[Slot]bool, len(done))
	for _, s := range done {
		have[s] = true
	}
	left := []Slot{}
	for _, s := range order {
		if !have[s] {
			left = append(left, s)
		}
	}
	return left
}
