package experiment

import (
	"fmt"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// findSpread estimates by which share repeats differ from each other, or instances where the
// chain was made anew: the standard deviation of the metric's logarithm.
func findSpread(_ api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
	s, err := pick(run, c.A, c.Metric)
	if err != nil {
		return finding{}, err
	}
	e, mean := stats.LogDeviation(s.values), stats.Summarize(s.values).Mean
	return finding{
		quantity: "spread of " + c.Metric + " with " + Describe(c.A),
		estimate: e,
		repeats:  len(s.values),
		found:    fmt.Sprintf("%d values of %s on average differ by %s (standard deviation of the logarithm)", len(s.values), words.Amount(c.Metric, *mean), percent(e.Value)),
		value:    percent,
	}, nil
}

// findSpreadRatio estimates how many times as much repeats differ in b as in a.
func findSpreadRatio(_ api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
	samples, _, err := gather(run, c.Metric, c.A, c.B)
	if err != nil {
		return finding{}, err
	}
	if len(samples) < 2 {
		return finding{}, fmt.Errorf("a and b are the same condition")
	}
	a, b := samples[0].values, samples[1].values
	ratio := stats.LogDeviationRatio(a, b)
	return finding{
		quantity: "ratio of the spread of " + c.Metric + " " + contrast(c.A, c.B),
		estimate: ratio,
		repeats:  fewest(samples),
		found: fmt.Sprintf("values differ by %s and by %s (standard deviations of the logarithm)",
			percent(stats.LogDeviation(a).Value), percent(stats.LogDeviation(b).Value)),
		value: times,
		still: 1,
	}, nil
}
