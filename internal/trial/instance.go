package trial

import (
	"maps"
	"slices"

	"nfchain.dev/nfchain/internal/stats"
)

// instancesOf are the values of a metric by the instance of the chain that they
// were measured on, in the order in which those were made; without [Run.Redeploy]
// each value by itself.
func instancesOf(run Run, trials []Trial, metric string) (groups [][]float64) {
	if run.Redeploy <= 1 {
		for _, x := range values(trials, metric) {
			groups = append(groups, []float64{x})
		}
		return groups
	}
	at := map[int]int{}
	for _, t := range trials {
		i, seen := at[t.Instance]
		if !seen {
			i, at[t.Instance] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], t.Metrics[metric])
	}
	return groups
}

// centres are what is independent of one another: the mean on each instance, or
// the median of what is never averaged.
func centres(groups [][]float64, metric string) []float64 {
	out := make([]float64, len(groups))
	for i, xs := range groups {
		s := stats.SummarizePercentile(xs, 0)
		out[i] = s.Median
		if !NeverAveraged(metric) {
			out[i] = *stats.Summarize(xs).Mean
		}
	}
	return out
}

// Independent is what a condition measured of one metric as values that are
// independent of one another: those of [Run.Samples], or, where the chain was made
// anew between them, one for each instance.
func (r Run) Independent(condition int, metric string) []float64 {
	return centres(r.Instances(condition, metric), metric)
}

// Instances are a condition's values of one metric by the instance of the chain that they
// were measured on; where it was not made anew, each value by itself.
func (r Run) Instances(condition int, metric string) [][]float64 {
	return instancesOf(r, measuring(trialsOf(r, condition), metric), metric)
}

// Pairs is what two conditions of the run measured of one metric next to each
// other: in the same block of the order, or on the same instance. What only one of
// them has is left out.
func (r Run) Pairs(a, b int, metric string) (xs, ys []float64) {
	both := r.Blocks([]int{a, b}, metric)
	return both[0], both[1]
}

// Blocks is what several conditions measured of one metric in each block of the
// order, or on each instance, that all of them have: a list for each condition, all
// equally long and in the order of the blocks.
func (r Run) Blocks(conditions []int, metric string) [][]float64 {
	out, of := make([][]float64, len(conditions)), make([]map[int][]float64, len(conditions))
	for i, c := range conditions {
		of[i] = r.byBlock(c, metric)
	}
	if len(of) == 0 {
		return out
	}
	for _, block := range slices.Sorted(maps.Keys(of[0])) {
		if slices.ContainsFunc(of, func(m map[int][]float64) bool { return m[block] == nil }) {
			continue
		}
		for i := range of {
			out[i] = append(out[i], centres([][]float64{of[i][block]}, metric)...)
		}
	}
	return out
}

// byBlock are a condition's values by repeat, or by instance.
func (r Run) byBlock(condition int, metric string) map[int][]float64 {
	out := map[int][]float64{}
	for _, t := range measuring(trialsOf(r, condition), metric) {
		block := t.Repeat
		if r.Redeploy > 1 {
			block = t.Instance
		}
		out[block] = append(out[block], t.Metrics[metric])
	}
	return out
}
