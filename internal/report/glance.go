package report

import (
	"fmt"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
)

// card is one number to be seen at a glance.
type card struct {
	Label string
	Value string
	Below string
}

// manyCards is how many numbers are still seen at a glance.
const manyCards = 6

// cards are the chain's first conditions, each by its main metric and by how it
// stands to the direct path.
func (r Report) cards() (out []card) {
	direct := map[int]int{}
	for _, p := range r.pairs() {
		direct[p.chain] = p.direct
	}
	name := labels(r.Conditions, "path")
	for i, c := range r.Conditions {
		metric := mainMetric(c)
		if c.Path == trial.PathDirect || metric == "" || len(out) == manyCards {
			continue
		}
		s := c.Metrics[metric]
		one := card{Label: name.of(c.Condition) + ": " + metricName(metric), Value: summaryUnit(metric, s).value(centre(s))}
		if d, has := direct[i]; has {
			one.Below = r.besideDirect(d, i, metric)
		} else if s.CI95 != nil {
			one.Below = "95% interval " + summaryUnit(metric, s).interval(*s.CI95, centre(s))
		}
		out = append(out, one)
	}
	return out
}

// mainMetric is the one a condition is about.
func mainMetric(c trial.Summary) string {
	for _, m := range []string{"goodput_bps", "throughput_bps", "throughput_pps", "latency_p50_ns"} {
		if _, has := c.Metrics[m]; has {
			return m
		}
	}
	if all := metricsOf(c); len(all) > 0 {
		return all[0]
	}
	return ""
}

// besideDirect is "25.1% of direct, 38.2 Gb/s", or "2.1 × direct, 40 µs".
func (r Report) besideDirect(direct, chain int, metric string) string {
	s, has := r.Conditions[direct].Metrics[metric]
	e := ratioOf(r, direct, r, chain, metric)
	if !has || !finite(e.Value) {
		return ""
	}
	times := fixed(e.Value, 2) + " × direct"
	if e.Value < 1 {
		times = fixed(100*e.Value, 1) + "% of direct"
	}
	return times + " (" + summaryUnit(metric, s).value(centre(s)) + ")"
}

// tally is how many claims came back with one verdict.
type tally struct {
	Verdict string
	Symbol  string
	Class   string
	Count   int
}

// verdictLooks are what a verdict looks like, told apart by symbol and word.
var verdictLooks = []tally{
	{Verdict: experiment.Holds, Symbol: "✓", Class: "holds"},
	{Verdict: experiment.DoesNotHold, Symbol: "✗", Class: "fails"},
	{Verdict: experiment.Undecided, Symbol: "?", Class: "undecided"},
	{Verdict: experiment.CannotBeTold, Symbol: "–", Class: "untold"},
}

func lookOf(verdict string) tally {
	for _, l := range verdictLooks {
		if l.Verdict == verdict {
			return l
		}
	}
	return tally{Verdict: verdict, Symbol: "–", Class: "untold"}
}

func (r Report) tallies() (out []tally) {
	for _, l := range verdictLooks {
		for _, v := range r.Verdicts {
			l.Count += map[bool]int{true: 1}[v.Verdict == l.Verdict]
		}
		if l.Count > 0 {
			out = append(out, l)
		}
	}
	return out
}

// claim is a verdict as the page shows it.
type claim struct {
	experiment.Verdict
	Look tally
	// Numbers is the estimate with its interval, and Range where it should lie.
	Numbers, Range string
}

func (r Report) claims() (out []claim) {
	for _, v := range r.Verdicts {
		c := claim{Verdict: v, Look: lookOf(v.Verdict), Range: rangeText(v)}
		if v.Estimate != nil && finite(*v.Estimate) {
			c.Numbers = unit{factor: 1}.number(*v.Estimate)
			if v.CI95 != nil {
				c.Numbers += " " + unit{factor: 1}.interval(*v.CI95, *v.Estimate)
			}
		}
		out = append(out, c)
	}
	return out
}

func rangeText(v experiment.Verdict) string {
	at := func(p *float64) string { return fixed(*p, decimals(*p)) }
	switch {
	case v.AtLeast != nil && v.AtMost != nil:
		return fmt.Sprintf("from %s to %s", at(v.AtLeast), at(v.AtMost))
	case v.AtLeast != nil:
		return "at least " + at(v.AtLeast)
	case v.AtMost != nil:
		return "at most " + at(v.AtMost)
	}
	return ""
}
