package report

import (
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
)

// referenceTable sets the source's values beside ours.
func (r Report) referenceTable() table {
	t := table{Title: "Beside the source", Caption: "Absolute values of another machine stand beside ours and are never the criterion."}
	t.column("condition", false)
	t.column("metric", false)
	t.column("here", true)
	t.column("source", true)
	t.column("here/source", true)
	t.column("note", false)
	for _, ref := range r.References {
		here, ratio := "not measured", "–"
		if s, measured := r.at(ref.At)[ref.Metric]; measured {
			here = summaryText(ref.Metric, s)
			if q := centre(s) / ref.Value; finite(q) {
				ratio = fixed(q, decimals(q))
			}
		}
		t.add(true, experiment.Describe(ref.At), metricName(ref.Metric), here, printed(ref.Metric, ref.Value), ratio, ref.Note)
	}
	return t
}

// at is what was measured where the source gives a value: through the chain, or
// on the direct path where no chain matches.
func (r Report) at(where map[string]any) (found metrics) {
	for _, c := range r.Conditions {
		if experiment.Matches(c.Condition, where) && (found == nil || c.Path == trial.PathChain) {
			found = c.Metrics
			if c.Path == trial.PathChain {
				return found
			}
		}
	}
	return found
}
