package report

import (
	"encoding/json"

	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// key tells conditions that are alike in all but path and what follows from it.
// Length follows from the path or the chain unless it was swept, and duration is
// how long one looks, not what one looks at.
func key(c trial.Condition, withPath bool) string {
	c.Length, c.DurationS = 0, 0
	if !withPath {
		c.Path = ""
	}
	if c.Search != nil {
		s := *c.Search
		if s.Reach { // the generator's ceiling is found anew in each run
			s.MinPps, s.MaxPps = 0, 0
		}
		s.LearningFrames, c.Search = false, &s // which runs of before were not said to have
	}
	b, err := json.Marshal(c)
	if err != nil {
		return ""
	}
	return string(b)
}

// pair is a condition through the chain and the same one on the direct path.
type pair struct{ chain, direct int }

// pairs match the chain's conditions with the direct path's.
func (r Report) pairs() (out []pair) {
	direct := map[string]int{}
	for i, c := range r.Conditions {
		if c.Path == trial.PathDirect {
			direct[key(c.Condition, false)] = i
		}
	}
	for i, c := range r.Conditions {
		if d, has := direct[key(c.Condition, false)]; has && c.Path == trial.PathChain {
			out = append(out, pair{chain: i, direct: d})
		}
	}
	return out
}

// directTable sets the chain against the direct path.
func (r Report) directTable() table {
	t := table{Title: "Chain against direct path",
		Caption: "Chain divided by direct, with its 95% interval: means by the delta method on the quotient's logarithm, of the pairs of neighbouring trials where there are six or more; for percentiles the median of the quotients of all trials, by Mann and Whitney's ranks."}
	t.column("condition", false)
	t.column("metric", false)
	t.column("chain", true)
	t.column("direct", true)
	t.column("chain/direct", true)
	t.column("95% interval", true)
	name := labels(r.Conditions, "path", "length")
	for _, p := range r.pairs() {
		a, b := r.Conditions[p.direct], r.Conditions[p.chain]
		begins := true
		for _, m := range ofChain(b) {
			sa, both := a.Metrics[m]
			if !both {
				continue
			}
			q := r.besides(p.direct, p.chain, m)
			ratio, interval := ratioText(q)
			t.add(begins, name.of(b.Condition), words.Metric(m), summaryValue(m, b.Metrics[m]), summaryValue(m, sa), ratio, interval)
			begins = false
		}
	}
	return t
}

// ratioText writes a quotient and its interval; a dash where there is none.
func ratioText(e stats.Estimate) (value, interval string) {
	if !finite(e.Value) {
		return "–", "–"
	}
	if e.CI95 == nil {
		return fixed(e.Value, max(0, decimals(e.Value)-1)), "–"
	}
	return unit{Factor: 1}.centred(e.Value, e.CI95)
}
