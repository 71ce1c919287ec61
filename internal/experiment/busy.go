package experiment

import (
	"maps"
	"slices"

	"nfchain.dev/nfchain/internal/trial"
)

// busyMetric is the share of all cores' time that was not idle, which claims and models may
// ask for as for any metric. No tool measures it: it follows from what was observed.
const busyMetric = "cpu_busy_ratio"

// derived is a run with the metrics that no tool measures, which follow from others and from what was observed.
func derived(run trial.Run) trial.Run {
	return withRange(withControl(withBusy(trial.WithSetup(run))))
}

// withBusy is the run with that metric in every trial whose cores were seen.
func withBusy(run trial.Run) trial.Run {
	run.Trials = slices.Clone(run.Trials)
	for i := range run.Trials {
		t := &run.Trials[i]
		if _, has := t.Metrics[busyMetric]; has || len(t.Observed.CPUs) == 0 {
			continue
		}
		idle := 0.0
		for _, core := range t.Observed.CPUs {
			idle += core.Idle
		}
		metrics := maps.Clone(t.Metrics)
		if metrics == nil {
			metrics = trial.Map[float64]{}
		}
		metrics[busyMetric] = 1 - idle/float64(len(t.Observed.CPUs))
		t.Metrics = metrics
	}
	return run
}
