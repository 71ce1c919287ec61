package report

import (
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// referenceTable sets the source's values beside ours: along the axis of the charts
// where there is one, with what each is of the first that both have.
func (r Report) referenceTable() table {
	t := table{Title: "Beside the source", Caption: "Absolute values of another machine stand beside ours and are never the criterion."}
	if a, has := r.axis(); has && r.referencesOn(a) {
		return r.referencesAlong(a, t)
	}
	t.column("condition", false)
	t.column("metric", false)
	t.column("here", true)
	t.column("source", true)
	t.column("here/source", true)
	t.column("note", false)
	for _, ref := range r.References {
		here, ratio := r.besideSource(ref.Metric, ref.Value, r.at(ref.At))
		t.add(true, experiment.Describe(ref.At), words.Metric(ref.Metric), here, printed(ref.Metric, ref.Value), ratio, ref.Note)
	}
	return t
}

// referencesOn tells whether all the source's values have a level of the axis.
func (r Report) referencesOn(a axis) bool {
	for _, ref := range r.References {
		if l, has := a.in(ref.At); !has || !finite(l.value) {
			return false
		}
	}
	return len(r.References) > 0
}

// referencesAlong has a row for each level of each line of the source.
func (r Report) referencesAlong(a axis, t table) table {
	t.Caption += " Shares are of the value at the first level that both have, so that shapes can be compared."
	t.column("condition", false)
	t.column("metric", false)
	t.column(a.name(), true)
	t.column("here", true)
	t.column("source", true)
	t.column("here/source", true)
	t.column("share here", true)
	t.column("share in source", true)
	t.column("note", false)
	for _, metric := range r.referenceMetrics() {
		ours := r.lines(a, metric)
		for _, theirs := range r.sourceLines(a, metric, ours) {
			r.addReferences(&t, a, metric, ours, theirs)
		}
	}
	return t
}

// referenceMetrics are those that the source has values of, in its order.
func (r Report) referenceMetrics() (out []string) {
	seen := map[string]bool{}
	for _, ref := range r.References {
		if !seen[ref.Metric] {
			out = append(out, ref.Metric)
		}
		seen[ref.Metric] = true
	}
	return out
}

func (r Report) addReferences(t *table, a axis, metric string, ours []line, theirs sourceLine) {
	first, whole := -1, 0.
	if theirs.ours >= 0 {
		first, whole = r.base(a, metric, ours[theirs.ours], theirs)
	}
	condition := "" // of a source that has but one line
	if len(theirs.others) > 0 {
		condition = experiment.Describe(theirs.others)
	}
	for i, v := range theirs.values {
		found := r.at(v.At)
		here, ratio := r.besideSource(metric, v.Value, found)
		shareHere, shareSource := "–", "–"
		if first >= 0 {
			shareSource = fixed(v.Value/whole, 3)
			if s, measured := found[metric]; measured {
				shareHere = fixed(centre(s)/centre(r.Conditions[first].Metrics[metric]), 3)
			}
		}
		t.add(i == 0, condition, words.Metric(metric), v.text, here, printed(metric, v.Value), ratio, shareHere, shareSource, v.Note)
	}
}

// besideSource is what was measured, and how it stands to the source's value.
func (r Report) besideSource(metric string, value float64, found metrics) (here, ratio string) {
	s, measured := found[metric]
	if !measured {
		return "not measured", "–"
	}
	ratio = "–"
	if q := centre(s) / value; finite(q) {
		ratio = fixed(q, decimals(q))
	}
	return summaryText(metric, s), ratio
}

// at is what was measured where the source gives a value: through the chain, or
// on the direct path where no chain matches.
func (r Report) at(where map[string]any) (found metrics) {
	for _, c := range r.Conditions {
		if experiment.Selects(c.Condition, where) && (found == nil || c.Path == trial.PathChain) {
			found = c.Metrics
			if c.Path == trial.PathChain {
				return found
			}
		}
	}
	return found
}
