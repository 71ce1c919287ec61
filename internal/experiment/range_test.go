package experiment

import (
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// TestRange is of trials that measured both its ends, and of no others.
func TestRange(t *testing.T) {
	given := trial.Run{Trials: []trial.Trial{
		{Metrics: map[string]float64{"latency_min_ns": 20, "latency_max_ns": 50}}, {Metrics: map[string]float64{"latency_min_ns": 20}},
		{Metrics: map[string]float64{"latency_max_ns": 50}}, {}, {Metrics: map[string]float64{"latency_min_ns": 1, "latency_max_ns": 1}},
		{Metrics: map[string]float64{"latency_min_ns": 1, "latency_max_ns": 9, rangeMetric: 3}},
	}}
	want := map[int]float64{0: 30, 4: 0, 5: 3}
	for i, got := range withRange(given).Trials {
		x, has := got.Metrics[rangeMetric]
		if y, wanted := want[i]; has != wanted || x != y {
			t.Errorf("trial %d: %g, %t, want %g, %t", i, x, has, y, wanted)
		}
	}
	if len(given.Trials[0].Metrics) != 2 {
		t.Error("what was given has changed")
	}
	if trial.NeverAveraged(rangeMetric) {
		t.Error("it is taken for a percentile")
	}
}
