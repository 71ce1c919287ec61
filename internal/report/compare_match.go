package report

import (
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// match pairs the conditions of two runs and compares what both measured.
func (c *Comparison) match(a, b Report) {
	partner := map[string]int{}
	for j, cond := range b.Conditions {
		partner[key(cond.Condition, true)] = j
	}
	paired := map[int]bool{}
	for i, cond := range a.Conditions {
		j, has := partner[key(cond.Condition, true)]
		if !has || paired[j] {
			c.OnlyA = append(c.OnlyA, cond.Condition)
			continue
		}
		paired[j] = true
		c.compare(a, i, b, j)
	}
	for j, cond := range b.Conditions {
		if !paired[j] {
			c.OnlyB = append(c.OnlyB, cond.Condition)
		}
	}
}

// compare adds the changes of one pair of conditions.
func (c *Comparison) compare(a Report, i int, b Report, j int) {
	for _, m := range metricsOf(a.Conditions[i]) {
		sa := a.Conditions[i].Metrics[m]
		sb, both := b.Conditions[j].Metrics[m]
		if !both {
			continue
		}
		e := ratioOf(a, i, b, j, m)
		change := Change{Condition: b.Conditions[j].Condition, Metric: m, A: centre(sa), B: centre(sb), Centre: centreName(sb),
			CI95: e.CI95, textA: summaryValue(m, sa), textB: summaryValue(m, sb)}
		if finite(e.Value) {
			change.Ratio = &e.Value
		}
		change.Verdict = judge(e, sa, sb, goodDirection(m), c.Margin)
		c.Changes = append(c.Changes, change)
	}
}

// judge turns a ratio into a verdict: same where the whole interval lies within
// the margin around one, better or worse where it lies on one side of one,
// undecided where it does neither or where there is none.
func judge(e stats.Estimate, a, b stats.Summary, good direction, margin float64) string {
	if alwaysZero(a) && alwaysZero(b) {
		return Same // nothing lost, before and now
	}
	if e.CI95 == nil || !finite(e.CI95[0]) || !finite(e.CI95[1]) {
		return Undecided
	}
	lo, hi := e.CI95[0], e.CI95[1]
	switch {
	case lo >= 1-margin && hi <= 1+margin:
		return Same
	case lo <= 1 && hi >= 1:
		return Undecided
	case good == unknownDirection:
		return Changed
	case (lo > 1) == (good == higherIsBetter):
		return Better
	}
	return Worse
}

// alwaysZero tells a metric that was exactly zero in every trial of several.
func alwaysZero(s stats.Summary) bool {
	return s.N > 1 && centre(s) == 0 && s.CI95 != nil && s.CI95[0] == 0 && s.CI95[1] == 0
}

// labelOf names a condition among those of both runs.
func (c Comparison) labelOf(cond trial.Condition) string { return c.label.of(cond) }
