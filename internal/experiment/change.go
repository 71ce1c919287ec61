package experiment

import (
	"fmt"
	"math"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// findRatioChange estimates (d/c)/(b/a). The interval is made of its logarithm, by
// the delta method over the conditions' means, and carried back.
func findRatioChange(_ api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
	samples, place, err := gather(run, c.Metric, c.A, c.B, c.C, c.D)
	if err != nil {
		return finding{}, err
	}
	if place[0] == place[1] || place[2] == place[3] {
		return finding{}, fmt.Errorf("a and b, or c and d, are the same condition")
	}
	means := meansOf(valuesOnly(samples))
	ratio := func(from, to int) float64 { return means[place[to]] / means[place[from]] }
	change := exponential(logDelta(run, samples, c.Metric, func(logs []float64) float64 {
		return logs[place[3]] - logs[place[2]] - logs[place[1]] + logs[place[0]]
	}))
	return finding{
		quantity: "ratio of " + c.Metric + " " + contrast(c.C, c.D) + " over that " + contrast(c.A, c.B),
		estimate: change,
		repeats:  fewest(samples),
		found: fmt.Sprintf("%s times as much in the second step and %s times in the first, a change by the factor %s",
			times(ratio(2, 3)), times(ratio(0, 1)), times(change.Value)),
		value: times,
	}, nil
}

// logDelta estimates a function of the logarithms of the samples' means. It has no
// interval where a mean cannot be told from zero, since its logarithm is then unbounded.
func logDelta(run trial.Run, samples []sample, metric string, f func(logs []float64) float64) stats.Estimate {
	e := deltaOf(run, samples, metric, func(means []float64) float64 {
		logs := make([]float64, len(means))
		for i, m := range means {
			logs[i] = math.Log(m)
		}
		return f(logs)
	})
	for _, s := range samples {
		if !stats.AboveZero(s.values) {
			e.CI95 = nil
		}
	}
	return e
}

// deltaOf estimates a smooth function of the samples' means, block by block where
// there are enough blocks that have all of them.
func deltaOf(run trial.Run, samples []sample, metric string, f func(means []float64) float64) stats.Estimate {
	conditions := make([]int, len(samples))
	for i, s := range samples {
		conditions[i] = s.condition
	}
	if blocks := run.Blocks(conditions, metric); len(blocks[0]) >= stats.FewestPairs {
		return stats.BlockDeltaInterval(0.95, blocks, f)
	}
	return stats.DeltaInterval(0.95, valuesOnly(samples), f)
}

func valuesOnly(samples []sample) [][]float64 {
	values, _ := valuesOf(samples)
	return values
}

// exponential carries an estimate of a logarithm back.
func exponential(e stats.Estimate) stats.Estimate {
	e.Value = math.Exp(e.Value)
	if ci := e.CI95; ci != nil {
		e.CI95 = &[2]float64{math.Exp(ci[0]), math.Exp(ci[1])}
	}
	return e
}
