package report

import (
	"fmt"

	"nfchain.dev/nfchain/internal/experiment"
)

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

// tallies count verdicts, without those that there are none of.
func tallies(verdicts []experiment.Verdict) (out []tally) {
	for _, l := range verdictLooks {
		for _, v := range verdicts {
			if v.Verdict == l.Verdict {
				l.Count++
			}
		}
		if l.Count > 0 {
			out = append(out, l)
		}
	}
	return out
}

func rangeText(v experiment.Verdict) string {
	at := func(p *float64) string { return unitOf(v).bound(*p) }
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
