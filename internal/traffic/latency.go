package traffic

import (
	"errors"

	"nfchain.dev/nfchain/internal/trial"
)

// LatencySample turns round-trip times in nanoseconds into a sample: the
// percentiles of this trial, and the histogram from which those of several trials
// are taken.
func LatencySample(roundTrips []int64) (Sample, error) {
	if len(roundTrips) == 0 {
		return Sample{}, errors.New("no message came back")
	}
	h := trial.NewHistogram()
	for _, ns := range roundTrips {
		if err := h.RecordValue(min(max(ns, 1), h.HighestTrackableValue())); err != nil {
			return Sample{}, err
		}
	}
	encoded, err := trial.EncodeHistogram(h)
	if err != nil {
		return Sample{}, err
	}
	m := map[string]float64{
		"latency_min_ns": float64(h.Min()), "latency_max_ns": float64(h.Max()),
		"messages": float64(len(roundTrips)),
	}
	for name, q := range map[string]float64{"latency_p50_ns": 50, "latency_p90_ns": 90, "latency_p99_ns": 99, "latency_p999_ns": 99.9} {
		m[name] = trial.Percentile(h, q)
	}
	return Sample{Metrics: m, Histograms: map[string]string{"latency_ns": encoded}}, nil
}
