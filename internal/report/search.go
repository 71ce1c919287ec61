package report

import (
	"nfchain.dev/nfchain/internal/search"
	"nfchain.dev/nfchain/internal/trial"
)

// Search is one search of a run: a repeat of a condition.
type Search struct {
	// Condition is the index of it in conditions.
	Condition int `json:"condition_index"`
	Repeat    int `json:"repeat"`
	search.Result
}

// searches says what the trials of every search come to. It follows from the
// trials alone, also for a search that was interrupted.
func searches(run trial.Run) (out []Search) {
	for i, c := range run.Conditions {
		if c.Search == nil {
			continue
		}
		method, err := search.New(*c.Search)
		if err != nil {
			continue // stored by a newer nfchain, with a method of its own
		}
		last := lastRepeat(run, i)
		for repeat := 1; repeat <= last; repeat++ {
			// One whose first trial failed has none.
			if history := search.History(run, i, repeat); len(history) > 0 {
				out = append(out, Search{i, repeat, method.Result(history)})
			}
		}
	}
	return out
}

// lastRepeat of a condition that was begun.
func lastRepeat(run trial.Run, condition int) (last int) {
	for _, t := range run.Trials {
		if t.Condition == condition {
			last = max(last, t.Repeat)
		}
	}
	return last
}
