package experiment

import (
	"fmt"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// findFlat estimates by how much the greatest mean over the values of a factor is
// above the least: the greatest of the ratios between any two, less 1. A value at
// which nothing was measured never lets it be flat, though two others may differ.
func findFlat(spec api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
	l, err := levelsOf(spec, run, c, c.A)
	if err != nil {
		return finding{}, err
	}
	if len(l.values) < 2 {
		return finding{}, l.whole()
	}
	for i, mean := range meansOf(valuesOnly(l.samples)) {
		if mean <= 0 {
			return finding{}, fmt.Errorf("the mean of %s at %s is not above zero, so there is no ratio to it", c.Metric, l.at(i))
		}
	}
	pairs := orderedPairs(len(l.values))
	e := stats.Greatest(len(pairs), func(i int, level float64) stats.Estimate {
		return ratioAt(level, run, l.samples[pairs[i][0]], l.samples[pairs[i][1]], c.Metric)
	})
	e.Value--
	if ci := e.CI95; ci != nil {
		e.CI95 = &[2]float64{max(0, ci[0]-1), max(0, ci[1]-1)}
	}
	at := pairs[e.At]
	return finding{
		quantity: fmt.Sprintf("greatest %s over the least, less 1, over %s", c.Metric, l.all()),
		estimate: e.Estimate,
		repeats:  fewest(l.samples),
		found:    fmt.Sprintf("it differs by up to %s, being greatest at %s and least at %s", percent(e.Value), l.at(at[1]), l.at(at[0])),
		value:    percent,
		side:     bothSides,
		missing:  strings.Join(l.missing, "; "),
	}, nil
}

// orderedPairs of n places, each both ways.
func orderedPairs(n int) (pairs [][2]int) {
	for i := range n {
		for j := range n {
			if i != j {
				pairs = append(pairs, [2]int{i, j})
			}
		}
	}
	return pairs
}
