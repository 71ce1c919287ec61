package experiment

import (
	"errors"
	"fmt"
	"math"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// findRatioMean estimates b/a of the means over the values of a factor, which is the
// ratio of the sums: what a source gives as a gain on average. Some of the means may be
// zero, as losses are. It is estimated by its logarithm, which has an interval where both
// sums are surely above zero. Over fewer values than the experiment has it would be another
// quantity, so that it cannot be told.
func findRatioMean(spec api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
	r, err := ratiosOf(spec, run, c)
	if err == nil {
		err = r.complete(spec, run, c)
	}
	if err != nil {
		return finding{}, err
	}
	n := len(r.values)
	samples := append(append([]sample{}, r.a...), r.b...)
	sumA := func(means []float64) float64 { return sum(means[:n]) }
	sumB := func(means []float64) float64 { return sum(means[n:]) }
	mean := exponential(deltaOf(run, samples, c.Metric, func(means []float64) float64 {
		return math.Log(sumB(means) / sumA(means))
	}))
	if !sureAboveZero(deltaOf(run, samples, c.Metric, sumA)) || !sureAboveZero(deltaOf(run, samples, c.Metric, sumB)) {
		mean.CI95 = nil
	}
	return finding{
		quantity: "ratio of the means of " + c.Metric + " " + contrast(c.A, c.B) + " over " + r.all(),
		estimate: mean,
		repeats:  fewest(samples),
		found:    times(mean.Value) + " times as much on average",
		value:    times,
		nothing:  nothingOf(c.Metric, "over "+r.all(), samples),
		still:    1,
	}, nil
}

// complete tells why a mean over the values cannot be told: some were not measured.
func (r ratios) complete(spec api.ExperimentSpec, run trial.Run, c api.Check) error {
	if len(r.missing) > 0 {
		return errors.New(strings.Join(r.missing, "; "))
	}
	if left := droppedValues(spec, run, c); len(left) > 0 {
		return fmt.Errorf("the mean is over all values of %s, and these were left out for want of time: %s", c.Over, strings.Join(left, ", "))
	}
	return nil
}

func sureAboveZero(e stats.Estimate) bool { return e.CI95 != nil && e.CI95[0] > 0 }

func sum(xs []float64) (all float64) {
	for _, x := range xs {
		all += x
	}
	return all
}
