package experiment

import (
	"fmt"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// findPeak estimates at which value of a factor the metric is highest, with the values
// that cannot be told apart from that one.
func findPeak(spec api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
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
	means := meansOf(valuesOnly(l.samples))
	top := slices.Index(means, slices.Max(means))
	among := stats.AmongBest(len(xs), func(i, j int, level float64) stats.Estimate {
		return lessAt(level, run, l.samples[i], l.samples[j], c.Metric)
	})
	f := finding{
		quantity: fmt.Sprintf("%s at which %s is highest over %s", c.Over, c.Metric, l.all()),
		repeats:  fewest(l.samples),
		found:    fmt.Sprintf("highest at %s, %s", l.at(top), l.apart(top, among)),
		value:    short,
	}
	for _, i := range among {
		f.candidates = append(f.candidates, xs[i])
	}
	f.estimate = stats.Estimate{Value: xs[top], CI95: &[2]float64{slices.Min(f.candidates), slices.Max(f.candidates)}}
	return f, nil
}

// apart says which values cannot be told apart from the highest.
func (l levels) apart(top int, among []int) string {
	var words []string
	for _, i := range among {
		if i != top {
			words = append(words, l.at(i))
		}
	}
	if len(words) == 0 {
		return "and surely so"
	}
	return "from which " + strings.Join(words, ", ") + " cannot be told apart"
}

// lessAt is the mean of b less that of a, pair by pair where there are enough.
func lessAt(level float64, run trial.Run, a, b sample, metric string) stats.Estimate {
	less := func(means []float64) float64 { return means[1] - means[0] }
	if xs, ys := run.Pairs(a.condition, b.condition, metric); len(xs) >= stats.FewestPairs {
		return stats.BlockDeltaInterval(level, [][]float64{xs, ys}, less)
	}
	return stats.DeltaInterval(level, [][]float64{a.values, b.values}, less)
}
