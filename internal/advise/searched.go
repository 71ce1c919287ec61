package advise

import (
	"maps"
	"slices"

	"nfchain.dev/nfchain/internal/search"
	"nfchain.dev/nfchain/internal/trial"
)

// withLoss is a run with the share lost among the metrics of what each search came to: its
// steps tell what was lost at the load that it found. What is given does not change.
func withLoss(run trial.Run) trial.Run {
	run.Trials = slices.Clone(run.Trials)
	for i, t := range run.Trials {
		if lost, known := lossOf(run, t); known {
			t.Metrics = maps.Clone(t.Metrics)
			t.Metrics["loss_ratio"] = lost
			run.Trials[i] = t
		}
	}
	return run
}

// lossOf what a search came to; not known of any other trial.
func lossOf(run trial.Run, t trial.Trial) (ratio float64, known bool) {
	if t.Step > 0 || len(t.Metrics) == 0 || t.Condition < 0 || t.Condition >= len(run.Conditions) || run.Conditions[t.Condition].Search == nil {
		return 0, false
	}
	if _, told := t.Metrics["loss_ratio"]; told {
		return 0, false
	}
	method, err := search.New(*run.Conditions[t.Condition].Search)
	if err != nil {
		return 0, false // stored by a newer nfchain
	}
	return method.Result(search.History(run, t.Condition, t.Repeat)).Loss()
}
