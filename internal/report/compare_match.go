package report

import (
	"math"
	"slices"

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
// where run a has nothing else. Those that run b has no value of are lost.
func (c *Comparison) gatedPairs(a, b Report, pairs []matched) map[matched]bool {
	gated, outcomes := map[matched]bool{}, b.outcomes()
	chain := slices.ContainsFunc(a.Conditions, throughChain)
	for _, p := range pairs {
		m := mainMetric(a.Conditions[p.a])
		if m == "" || ofTool(m) || chain && !throughChain(a.Conditions[p.a]) {
			continue
		}
		if _, both := b.Conditions[p.b].Metrics[m]; both {
			gated[p] = true
		} else {
			c.Lost = append(c.Lost, lossOf(b.Conditions[p.b].Condition, m, outcomes[p.b]))
		}
	}
	return gated
}

func throughChain(c trial.Summary) bool { return c.Path == trial.PathChain }

// compare adds the changes of one pair of conditions.
func (c *Comparison) compare(a, b Report, p matched, gated map[matched]bool) {
	ca, cb := a.Conditions[p.a], b.Conditions[p.b]
	for _, m := range ofChain(ca) {
		sa := ca.Metrics[m]
		sb, both := cb.Metrics[m]
		if !both {
			continue
		}
		e := ratioOf(a, p.a, b, p.b, m)
		change := Change{Condition: cb.Condition, Metric: m, A: centre(sa), B: centre(sb), Centre: centreName(sb),
			CI95: e.CI95, textA: summaryValue(m, sa), textB: summaryValue(m, sb)}
		if finite(e.Value) {
			change.Ratio = &e.Value
		}
		if gated[p] && m == mainMetric(ca) {
			if over, has := c.overDirect(change, a, b, p); has {
				c.Changes = append(c.Changes, over)
			} else {
				change.Gated, e = true, ratioAt(c.GateConfidence, a, p.a, b, p.b, m)
				change.GateInterval = e.CI95
			}
		}
		change.Verdict = judge(e, sa, sb, goodDirection(m), c.Margin)
		c.Changes = append(c.Changes, change)
	}
}

// overDirect is a gated change relative to the direct path of the same run, where
// both runs have one: each trial divided by its neighbour on the direct path. What
// the machine did to both alike drops out, and runs an hour apart can be told apart
// by their chains; what became of the direct path itself does not count.
func (c *Comparison) overDirect(change Change, a, b Report, p matched) (over Change, has bool) {
	xs, ys := a.overDirect(p.a, change.Metric), b.overDirect(p.b, change.Metric)
	if len(xs) < 2 || len(ys) < 2 {
		return change, false
	}
	sa, sb, ratio := stats.Summarize(xs), stats.Summarize(ys), stats.RatioIntervalAt
	if trial.NeverAveraged(change.Metric) {
		sa, sb, ratio = stats.SummarizePercentile(xs, math.NaN()), stats.SummarizePercentile(ys, math.NaN()), stats.MedianRatioAt
	}
	e, gate := ratio(.95, xs, ys), ratio(c.GateConfidence, xs, ys)
	if !finite(e.Value) {
		return change, false
	}
	over = Change{Condition: change.Condition, Metric: change.Metric, OverDirect: true, A: centre(sa), B: centre(sb), Centre: centreName(sb),
		Ratio: &e.Value, CI95: e.CI95, Gated: true, GateInterval: gate.CI95,
		textA: fixed(centre(sa), 3), textB: fixed(centre(sb), 3)}
	over.Verdict = judge(gate, sa, sb, goodDirection(change.Metric), c.Margin)
	return over, true
}

// overDirect is a metric of a condition in each block, divided by that of the direct
// path there; nil where there is no direct path.
func (r Report) overDirect(condition int, metric string) (out []float64) {
	for _, p := range r.pairs() {
		if p.chain != condition {
			continue
		}
		direct, chain := r.Run.Pairs(p.direct, p.chain, metric)
		for i, x := range direct {
			if x > 0 {
				out = append(out, chain[i]/x)
			}
		}
	}
	return out
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
