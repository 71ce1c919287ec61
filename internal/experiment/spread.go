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
