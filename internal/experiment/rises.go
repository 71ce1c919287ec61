package experiment

import (
	"fmt"
	"math"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// linearScale is the scale of rises for metrics that may be zero.
const linearScale = "linear"

// findRises estimates the slope of the metric's logarithm by that of a factor, which
// is the power of the factor with which the metric grows; on the linear scale the
// metric's slope by the factor, over the mean of all its means. It is the least
// squares slope of the conditions' means, so that its interval supposes nothing of the
// curve: that is of the same slope over further repeats at the same values.
func findRises(spec api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
	l, err := levelsOf(spec, run, c, c.A)
	if err != nil {
		return finding{}, err
	}
	if err := l.whole(); err != nil {
		return finding{}, err
	}
	xs, err := l.numbers()
	if err != nil {
		return finding{}, err
	}
	f := finding{repeats: fewest(l.samples), value: times, nothing: nothingOf(c.Metric, "over "+l.all(), l.samples)}
	if c.Scale == linearScale {
		f.estimate = deltaOf(run, l.samples, c.Metric, func(means []float64) float64 { return stats.Slope(xs, means) / meanOf(means) })
		f.quantity = fmt.Sprintf("change of %s by each unit of %s, as a share of its mean, over %s", c.Metric, c.Over, l.all())
		f.found = fmt.Sprintf("with each unit of %s it changes by %s of its mean", c.Over, times(f.estimate.Value))
		return f, nil
	}
	for i, x := range xs {
		if x <= 0 {
			return f, fmt.Errorf("%s has no logarithm", l.at(i))
		}
		xs[i] = math.Log(x)
	}
	f.estimate = logDelta(run, l.samples, c.Metric, func(logs []float64) float64 { return stats.Slope(xs, logs) })
	f.quantity = fmt.Sprintf("power of %s with which %s goes over %s", c.Over, c.Metric, l.all())
	f.found = fmt.Sprintf("it goes with the power %s of %s", times(f.estimate.Value), c.Over)
	return f, nil
}

func meanOf(xs []float64) float64 { return *stats.Summarize(xs).Mean }
