package experiment

import (
	"math"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// findValue estimates the metric itself: its mean over the trials, or, of a
// percentile, the median of the trials' own.
func findValue(_ api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
	s, err := pickAny(run, c.A, c.Metric)
	if err != nil {
		return finding{}, err
	}
	f := finding{
		quantity: c.Metric + " with " + Describe(c.A), repeats: len(s.values),
		value: func(x float64) string { return amount(c.Metric, x) },
	}
	summary, centre := stats.Summarize(s.values), 0.0
	if trial.NeverAveraged(c.Metric) {
		summary = stats.SummarizePercentile(s.values, math.NaN())
		centre = summary.Median
	} else {
		centre = *summary.Mean
	}
	f.estimate.Value, f.found = centre, f.value(centre)
	if summary.CI95 != nil && summary.Confidence == 0 {
		f.estimate.CI95 = &[2]float64{max(min(0, centre), summary.CI95[0]), summary.CI95[1]}
	}
	return f, nil
}
