package experiment

import (
	"maps"
	"slices"

	"nfchain.dev/nfchain/internal/trial"
)

// rangeMetric is by how much the longest latency of a trial is above the shortest, which claims and models may ask for as for any
// metric. No tool measures it. Unlike either of the two it may be averaged over trials, and compared between conditions whose trials
// have as many samples: the more there are, the farther apart they lie.
const rangeMetric = "latency_range_ns"

// withRange is the run with that metric in every trial that has both.
func withRange(run trial.Run) trial.Run {
	run.Trials = slices.Clone(run.Trials)
	for i := range run.Trials {
		t := &run.Trials[i]
		least, hasLeast := t.Metrics["latency_min_ns"]
		most, hasMost := t.Metrics["latency_max_ns"]
		if _, has := t.Metrics[rangeMetric]; has || !hasLeast || !hasMost {
			continue
		}
		t.Metrics = maps.Clone(t.Metrics)
		t.Metrics[rangeMetric] = most - least
	}
	return run
}
