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
}

// UsualCost is for when nothing was measured yet, on a machine of two cores: 567 chains of
// the published experiments took 0.22 s each on quiet ones, 0.74 s at the 95th percentile,
// and busy ones take longer.
var UsualCost = Cost{Trial: 0.1, Chain: 0.5}

// CostOf what trials took so far: the medians of the gaps between them, so that an
// interruption does not count.
func CostOf(trials []trial.Trial) Cost {
	var same, other []float64
	for i := 1; i < len(trials); i++ {
		before, t := trials[i-1], trials[i]
		gap := t.StartedAt.Sub(before.StartedAt).Seconds() - before.DurationS
		switch {
		case t.Step > 0 || before.Step > 0 || gap < 0:
		case t.Instance == before.Instance:
			same = append(same, gap)
		default:
			other = append(other, gap)
		}
	}
	return Cost{Trial: middle(same, UsualCost.Trial), Chain: middle(other, UsualCost.Chain)}
}

// middle of the values, or what is usual where there are none.
func middle(values []float64, usual float64) float64 {
	if len(values) == 0 {
		return usual
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// Seconds that trials in an order should take. Chain tells which chain a condition needs;
// up is the one that is there, negative for none.
func (c Cost) Seconds(order []Slot, conditions []trial.Condition, chain []int, up int) (s float64) {
	for _, slot := range order {
		s += conditions[slot.Condition].DurationS
		if chain[slot.Condition] == up {
			s += c.Trial
		} else {
			s += c.Chain
		}
		up = chain[slot.Condition]
	}
	return s
}
