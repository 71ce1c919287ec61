package report

import (
	"fmt"

	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// Loss is a gated condition that run a measured and run b has no value of.
type Loss struct {
	Condition trial.Condition `json:"condition"`
	// Metric that is missing.
	Metric string `json:"metric"`
	// Trials of it that run b has, and how many of them failed; Reason is the first's.
	Trials int    `json:"trials"`
	Failed int    `json:"failed"`
	Reason string `json:"reason,omitempty"`
	// Verdict is worse where every trial failed, and else undecided: where b was
	// interrupted before it, nothing is known of the chain.
	Verdict string `json:"verdict"`
}

func lossOf(c trial.Condition, metric string, o outcome) Loss {
	l := Loss{Condition: c, Metric: metric, Trials: o.done + o.failed, Failed: o.failed, Reason: o.why, Verdict: Undecided}
	if o.failed > 0 && o.done == 0 {
		l.Verdict = Worse
	}
	return l
}

// lossText says what was lost, and why.
func (c Comparison) lossText(l Loss) string {
	text := c.labelOf(l.Condition) + ": " + words.Metric(l.Metric) + " was measured before and has no value now: "
	switch {
	case l.Trials == 0:
		return text + "no trial of it is stored"
	case l.Failed == 0:
		return text + words.Plural(l.Trials, "trial") + " did not measure it"
	}
	return text + fmt.Sprintf("%d of %s failed; the first %s", l.Failed, words.Plural(l.Trials, "trial"), l.Reason)
}

// losses are what was lost, each in a line with its verdict.
func (c Comparison) losses() (lines []string) {
	for _, l := range c.Lost {
		lines = append(lines, c.lossText(l)+": "+l.Verdict+" (gate)")
	}
	return lines
}
