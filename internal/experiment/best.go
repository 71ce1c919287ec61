package experiment

import (
	"cmp"
	"fmt"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// findBestRatio estimates how the best of the conditions that b selects compares with the
// best of those that a selects. The best is looked for in every second repeat and compared
// in the others: what wins among many has been lucky too, and its luck must not count.
func findBestRatio(_ api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
	if err := averageable(c.Metric); err != nil {
		return finding{}, err
	}
	search, judge := halves(run)
	a, err := best(search, judge, c.A, c.Metric)
	if err != nil {
		return finding{}, err
	}
	b, err := best(search, judge, c.B, c.Metric)
	if err != nil {
		return finding{}, err
	}
	if a.condition == b.condition {
		return finding{}, fmt.Errorf("a and b have the same best condition")
	}
	ratio := ratioOf(judge, a, b, c.Metric)
	return finding{
		quantity: fmt.Sprintf("ratio of the best %s with %s to the best with %s", c.Metric, Describe(c.B), Describe(c.A)),
		estimate: ratio,
		repeats:  min(len(a.values), len(b.values)),
		found: fmt.Sprintf("%s times as much: %s against %s, the best of those with %s and %s in every second repeat, compared in the others",
			times(ratio.Value), Describe(run.Conditions[b.condition].Factors), Describe(run.Conditions[a.condition].Factors), Describe(c.B), Describe(c.A)),
		value: times,
	}, nil
}

// halves of a run: its trials of the odd repeats and of the even ones.
func halves(run trial.Run) (search, judge trial.Run) {
	search, judge = run, run
	search.Trials, judge.Trials = nil, nil
	for _, t := range run.Trials {
		if t.Repeat%2 == 1 {
			search.Trials = append(search.Trials, t)
		} else {
			judge.Trials = append(judge.Trials, t)
		}
	}
	return search, judge
}

// best is what was judged of that condition, among those selected, which has the highest
// mean where it was searched. A condition that failed in either half cannot be the best.
func best(search, judge trial.Run, where map[string]any, metric string) (sample, error) {
	found := matching(search, where)
	if len(found) == 0 {
		return sample{}, fmt.Errorf("the run has no condition with %s", Describe(where))
	}
	mean := func(i int) float64 { return *stats.Summarize(search.Independent(i, metric)).Mean }
	found = slices.DeleteFunc(found, func(i int) bool {
		return len(search.Independent(i, metric)) == 0 || len(judge.Independent(i, metric)) == 0
	})
	if len(found) == 0 {
		return sample{}, fmt.Errorf("no condition with %s has %s in two repeats, one to choose by and one to compare", Describe(where), metric)
	}
	i := slices.MaxFunc(found, func(i, j int) int { return cmp.Compare(mean(i), mean(j)) })
	return sample{i, lengthOf(search.Conditions[i]), judge.Independent(i, metric)}, nil
}
