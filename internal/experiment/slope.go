package experiment

import (
	"fmt"
	"math"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// findSlopeFades estimates the loss per namespace from c to d less that from a
// to b: below zero, it fades. The interval is by the delta method over the
// conditions' means.
func findSlopeFades(_ api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
	samples, place, err := gather(run, c.Metric, c.A, c.B, c.C, c.D)
	if err != nil {
		return finding{}, err
	}
	near, far := stretchOf(samples, place[0], place[1]), stretchOf(samples, place[2], place[3])
	if near.steps <= 0 || far.steps <= 0 {
		return finding{}, fmt.Errorf("the second of two conditions must be the longer one")
	}
	values, fewest := valuesOf(samples)
	difference := stats.DeltaInterval(0.95, values, func(means []float64) float64 {
		return far.lost(means) - near.lost(means)
	})
	means := meansOf(values)
	return finding{
		quantity: fmt.Sprintf("loss of %s per namespace %s less %s", c.Metric, contrast(c.C, c.D), contrast(c.A, c.B)),
		estimate: difference,
		repeats:  fewest,
		found: fmt.Sprintf("each namespace costs %s among the short chains and %s among the long ones, a difference of %s",
			percent(near.lost(means)), percent(far.lost(means)), pointsOfPercent(difference.Value)),
		value: pointsOfPercent,
	}, nil
}

// gather picks conditions and says where each lies among the samples; one that
// is named twice is one sample, since its error is one and not two.
func gather(run trial.Run, metric string, wheres ...map[string]any) (samples []sample, place []int, err error) {
	for _, where := range wheres {
		s, err := pick(run, where, metric)
		if err != nil {
			return nil, nil, err
		}
		at := slices.IndexFunc(samples, func(t sample) bool { return t.condition == s.condition })
		if at < 0 {
			at, samples = len(samples), append(samples, s)
		}
		place = append(place, at)
	}
	return samples, place, nil
}

// stretch is a part of the curve over length, between two samples.
type stretch struct {
	from, to int
	steps    float64 // namespaces added on the way
}

func stretchOf(samples []sample, from, to int) stretch {
	return stretch{from, to, float64(samples[to].length - samples[from].length)}
}

// lost is the share lost with each namespace if all of the stretch lose alike:
// 1 − (b/a)^(1/steps).
func (s stretch) lost(means []float64) float64 {
	return 1 - math.Pow(means[s.to]/means[s.from], 1/s.steps)
}

func valuesOf(samples []sample) (values [][]float64, fewest int) {
	fewest = math.MaxInt
	for _, s := range samples {
		values, fewest = append(values, s.values), min(fewest, len(s.values))
	}
	return values, fewest
}

func meansOf(values [][]float64) []float64 {
	means := make([]float64, len(values))
	for i, xs := range values {
		means[i] = *stats.Summarize(xs).Mean
	}
	return means
}
