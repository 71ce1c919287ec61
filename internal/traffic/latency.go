package traffic

import (
	"errors"

	"github.com/HdrHistogram/hdrhistogram-go"

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
	s, err := HistogramSample(h)
	s.Metrics["messages"] = float64(len(roundTrips))
	return s, err
}

// percentiles of a trial, by the metrics' names. The highest are given only of so many
// samples that some lie beyond them; the others always, so that trials can be compared.
var percentiles = []struct {
	metric  string
	percent float64
	least   int64
}{
	{"latency_p50_ns", 50, 1}, {"latency_p90_ns", 90, 1}, {"latency_p99_ns", 99, 1}, {"latency_p999_ns", 99.9, 1},
	{"latency_p9999_ns", 99.99, 1e4}, {"latency_p99999_ns", 99.999, 1e5},
}

// HistogramSample is a sample of latencies in nanoseconds: the percentiles of this
// trial, and the histogram. Of an empty histogram there are no percentiles.
func HistogramSample(h *hdrhistogram.Histogram) (Sample, error) {
	encoded, err := trial.EncodeHistogram(h)
	s := Sample{Metrics: map[string]float64{}, Histograms: map[string]string{"latency_ns": encoded}}
	if err != nil || h.TotalCount() == 0 {
		return s, err
	}
	s.Metrics["latency_min_ns"], s.Metrics["latency_max_ns"] = float64(h.Min()), float64(h.Max())
	s.Metrics["latency_mean_ns"] = h.Mean()
	for _, p := range percentiles {
		if h.TotalCount() >= p.least {
			s.Metrics[p.metric] = trial.Percentile(h, p.percent)
		}
	}
	return s, nil
}
