package main

import (
	"slices"

	"nfchain.dev/nfchain/internal/profile"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// overhead of sampling, by the trials with and without it; nil where there are none
// without.
func overhead(r trial.Run) *profile.Overhead {
	by := map[int][]trial.Trial{}
	for _, t := range r.Trials {
		by[t.Condition] = append(by[t.Condition], t)
	}
	metric := trial.MainMetric(func(m string) bool { _, has := r.Trials[0].Metrics[m]; return has })
	if len(by) < 2 || metric == "" {
		return nil
	}
	with, without := valuesOf(by[sampling], metric), valuesOf(by[1-sampling], metric)
	n := min(len(with), len(without))
	ratio := ratioOf(metric, without[:n], with[:n])
	return &profile.Overhead{Metric: metric, Pairs: n, With: stats.Summarize(with), Without: stats.Summarize(without), Ratio: ratio.Value, CI95: ratio.CI95}
}

// ratioOf b to a, which were measured in turn.
func ratioOf(metric string, a, b []float64) stats.Estimate {
	switch {
	case trial.NeverAveraged(metric):
		return stats.MedianRatioAt(.95, a, b)
	case len(a) < stats.FewestPairs:
		return stats.RatioInterval(a, b)
	}
	return stats.PairedRatioInterval(a, b)
}

// valuesOf a metric, by repeat.
func valuesOf(trials []trial.Trial, metric string) (values []float64) {
	slices.SortFunc(trials, func(a, b trial.Trial) int { return a.Repeat - b.Repeat })
	for _, t := range trials {
		values = append(values, t.Metrics[metric])
	}
	return values
}
