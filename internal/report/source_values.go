package report

import (
	"cmp"
	"maps"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
)

// sourceLine is the source's values of one metric that differ in nothing but the level.
type sourceLine struct {
	others map[string]any
	values []sourceValue
	// ours is the line that it stands beside, -1 for none.
	ours int
}

// sourceValue is one of the source's values and the level that it belongs to.
type sourceValue struct {
	level
	api.Reference
}

// sourceLines are a metric's values in the source along an axis, each beside the line
// of ours that it is about. A value without a level of the axis is on none.
func (r Report) sourceLines(a axis, metric string, ours []line) (out []sourceLine) {
	at := map[string]int{}
	for _, ref := range r.References {
		l, has := a.in(ref.At)
		if ref.Metric != metric || !has || a.numbers && !finite(l.value) {
			continue
		}
		others := maps.Clone(ref.At)
		delete(others, a.field)
		k := experiment.Describe(others)
		if _, known := at[k]; !known {
			at[k] = len(out)
			out = append(out, sourceLine{others: others, ours: r.beside(others, ours)})
		}
		out[at[k]].values = append(out[at[k]].values, sourceValue{l, ref})
	}
	for _, s := range out {
		slices.SortStableFunc(s.values, func(x, y sourceValue) int {
			if !a.numbers {
				return 0
			}
			return cmp.Compare(x.value, y.value)
		})
	}
	return out
}

// beside is the line whose conditions have all of these values, -1 for none: one
// through the chain before one on the direct path.
func (r Report) beside(others map[string]any, ours []line) int {
	found := -1
	for i, l := range ours {
		c := r.Conditions[l.conditions[0]].Condition
		if !experiment.Selects(c, others) {
			continue
		}
		if c.Path == trial.PathChain {
			return i
		}
		if found < 0 {
			found = i
		}
	}
	return found
}

// sourceLevels are the levels that a source has values at.
func sourceLevels(lines []sourceLine) (out []level) {
	for _, s := range lines {
		for _, v := range s.values {
			out = append(out, v.level)
		}
	}
	return out
}

// conditionAt is the condition of a line at some level, -1 for none.
func (r Report) conditionAt(a axis, l line, where level) int {
	for _, i := range l.conditions {
		if have, _ := a.of(r.Conditions[i].Condition); have.same(where) {
			return i
		}
	}
	return -1
}

// base is the first level at which both have a value that can be divided by: the
// condition of ours, and the value of the source. None is -1, as for a source with one
// value, which has no shape.
func (r Report) base(a axis, metric string, ours line, theirs sourceLine) (condition int, value float64) {
	if len(theirs.values) < 2 {
		return -1, 0
	}
	for _, v := range theirs.values {
		if i := r.conditionAt(a, ours, v.level); i >= 0 && v.Value > 0 && centre(r.Conditions[i].Metrics[metric]) > 0 {
			return i, v.Value
		}
	}
	return -1, 0
}

// sourceID names the source within a chart.
func (r Report) sourceID() string {
	if r.Source != nil && r.Source.ID != "" {
		return r.Source.ID
	}
	return "the source"
}

// nameOf a line of the source: as ours is named where it stands beside one.
func (r Report) nameOf(s sourceLine, ours []line) string {
	switch {
	case s.ours >= 0:
		return ours[s.ours].name
	case len(s.others) == 0:
		return r.sourceID()
	}
	return experiment.Describe(s.others)
}
