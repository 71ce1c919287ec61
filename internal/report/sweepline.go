package report

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
)

// line is the conditions that differ in nothing but the factor of an axis, by level.
type line struct {
	name       string
	conditions []int
}

// lines are what a metric was measured along an axis, one for each combination of the
// other factors, in the order of the conditions.
func (r Report) lines(a axis, metric string) (out []line) {
	at := map[string]int{}
	for _, i := range r.measured(metric) {
		c := r.Conditions[i].Condition
		if _, has := a.of(c); !has {
			continue
		}
		k := lineKey(a, c)
		if _, known := at[k]; !known {
			at[k] = len(out)
			out = append(out, line{})
		}
		out[at[k]].conditions = append(out[at[k]].conditions, i)
	}
	for _, l := range out {
		slices.SortStableFunc(l.conditions, func(x, y int) int { return r.compareLevels(a, x, y) })
	}
	r.nameLines(a, out)
	return out
}

func (r Report) compareLevels(a axis, i, j int) int {
	x, _ := a.of(r.Conditions[i].Condition)
	y, _ := a.of(r.Conditions[j].Condition)
	return cmp.Compare(a.place(x), a.place(y))
}

// lineKey is the same for conditions of one line.
func lineKey(a axis, c trial.Condition) string {
	others := maps.Clone(c.Factors)
	delete(others, a.field)
	b, err := json.Marshal([]any{c.Path, c.Protocol, others})
	if err != nil {
		return ""
	}
	return string(b)
}

// nameLines names each by what sets it apart from the others.
func (r Report) nameLines(a axis, lines []line) {
	var drawn []trial.Summary
	for _, l := range lines {
		for _, i := range l.conditions {
			drawn = append(drawn, r.Conditions[i])
		}
	}
	name := labels(drawn, a.field, a.name())
	name.fields = slices.DeleteFunc(name.fields, func(f field) bool { return r.changesAlong(lines, f) })
	name.extra = varyingFactors(drawn, name.extra)
	said := map[string]int{}
	for i, l := range lines {
		lines[i].name = name.of(r.Conditions[l.conditions[0]].Condition)
		said[lines[i].name]++
	}
	for i, l := range lines {
		if said[l.name] > 1 {
			others := maps.Clone(r.Conditions[l.conditions[0]].Factors)
			delete(others, a.field)
			lines[i].name += " (" + experiment.Describe(others) + ")"
		}
	}
}

// changesAlong tells a field that follows from the level, such as the length from the
// copies of a function.
func (r Report) changesAlong(lines []line, f field) bool {
	for _, l := range lines {
		for _, i := range l.conditions {
			if f.text(r.Conditions[i].Condition) != f.text(r.Conditions[l.conditions[0]].Condition) {
				return true
			}
		}
	}
	return false
}

// varyingFactors are those that have more than one value.
func varyingFactors(conditions []trial.Summary, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !slices.ContainsFunc(conditions, func(c trial.Summary) bool {
			return factorText(c.Factors[name]) != factorText(conditions[0].Factors[name])
		})
	})
}

// sweptMetrics are those that a sweep is drawn for: what experiments are about, and what
// the source gives values of or states something about.
func (r Report) sweptMetrics() (out []string) {
	about := slices.Concat(carried, []string{"latency_p50_ns", "latency_p99_ns", "one_way_latency_p50_ns", "one_way_latency_p99_ns"})
	for _, metric := range metricsOf(r.Conditions...) {
		if r.hasReference(metric) || largest(r.Conditions, metric) > 0 && (slices.Contains(about, metric) || r.judged(metric)) {
			out = append(out, metric)
		}
	}
	return out
}

// judged tells a metric that a claim or a model is about.
func (r Report) judged(metric string) bool {
	for _, f := range r.Fits {
		if f.Metric == metric {
			return true
		}
	}
	for _, v := range r.Verdicts {
		if slices.Contains(strings.Fields(v.Quantity), metric) {
			return true
		}
	}
	return false
}
