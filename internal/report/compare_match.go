package report

import (
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// matched is a condition of run a and the same one of run b.
type matched struct{ a, b int }

// match pairs the conditions of two runs.
func (c *Comparison) match(a, b Report) (pairs []matched) {
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
		pairs = append(pairs, matched{i, j})
	}
	for j, cond := range b.Conditions {
		if !paired[j] {
			c.OnlyB = append(c.OnlyB, cond.Condition)
		}
	}
	return pairs
}

// gatedPairs are the pairs whose main metric the comparison as a whole goes by:
// those through the chain, since no function touches the direct path; or all,
// where there is nothing else.
func gatedPairs(a, b Report, pairs []matched) map[matched]bool {
	chain, all := map[matched]bool{}, map[matched]bool{}
	for _, p := range pairs {
		m := mainMetric(a.Conditions[p.a])
		if _, both := b.Conditions[p.b].Metrics[m]; m == "" || !both {
			continue
		}
		all[p] = true
		if a.Conditions[p.a].Path == trial.PathChain {
			chain[p] = true
		}
	}
	if len(chain) > 0 {
		return chain
	}
	return all
}

// compare adds the changes of one pair of conditions.
func (c *Comparison) compare(a, b Report, p matched, gated map[matched]bool) {
	ca, cb := a.Conditions[p.a], b.Conditions[p.b]
	for _, m := range metricsOf(ca) {
		sa := ca.Metrics[m]
		sb, both := cb.Metrics[m]
		if !both {
			continue
		}
		e := ratioOf(a, p.a, b, p.b, m)
		change := Change{Condition: cb.Condition, Metric: m, A: centre(sa), B: centre(sb), Centre: centreName(sb),
			CI95: e.CI95, Gated: gated[p] && m == mainMetric(ca), textA: summaryValue(m, sa), textB: summaryValue(m, sb)}
		if finite(e.Value) {
			change.Ratio = &e.Value
		}
		if change.Gated {
			e = ratioAt(c.GateConfidence, a, p.a, b, p.b, m)
			change.GateInterval = e.CI95
		}
		change.Verdict = judge(e, sa, sb, goodDirection(m), c.Margin)
		c.Changes = append(c.Changes, change)
	}
}

// judge turns a ratio into a verdict: same where the whole interval lies within
// the tolerance around one; better or worse where the whole interval lies on one
// side of one and the estimate beyond the tolerance; undecided where it does
// neither, or where there is none. What was zero throughout and no longer is, is
// judged without a ratio.
func judge(e stats.Estimate, a, b stats.Summary, good direction, tolerance float64) string {
	switch {
	case alwaysZero(a) && alwaysZero(b):
		return Same // nothing lost, before and now
	case alwaysZero(a) && awayFromZero(b):
		return sided(true, good)
	case e.CI95 == nil || !finite(e.CI95[0]) || !finite(e.CI95[1]):
		return Undecided
	case e.CI95[0] >= 1-tolerance && e.CI95[1] <= 1+tolerance:
		return Same
	case e.CI95[0] > 1 && e.Value > 1+tolerance:
		return sided(true, good)
	case e.CI95[1] < 1 && e.Value < 1-tolerance:
		return sided(false, good)
	}
	return Undecided
}

// sided is the verdict on a change upwards or downwards.
func sided(up bool, good direction) string {
	switch {
	case good == unknownDirection:
		return Changed
	case up == (good == higherIsBetter):
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
