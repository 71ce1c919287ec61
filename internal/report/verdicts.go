package report

import (
	"fmt"
	"strings"

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

// apart parts verdicts on what the source measured from those at the calibrated load: the
// source states nothing of that.
func apart(verdicts []experiment.Verdict) (source, calibrated []experiment.Verdict) {
	for _, v := range verdicts {
		if _, twin := experiment.IsTwin(v.ID); twin {
			calibrated = append(calibrated, v)
		} else {
			source = append(source, v)
		}
	}
	return source, calibrated
}

// tallied counts both.
func tallied(verdicts []experiment.Verdict) (source, calibrated []tally) {
	s, c := apart(verdicts)
	return tallies(s), tallies(c)
}

// atCalibrated begins what is told of the calibrated load.
const atCalibrated = "at the calibrated load: "

// tallyText is "3 holds, 1 undecided; at the calibrated load: 2 holds".
func tallyText(source, calibrated []tally) string {
	text := tallyWords(source)
	if len(calibrated) > 0 {
		text += "; " + atCalibrated + tallyWords(calibrated)
	}
	return strings.TrimPrefix(text, "; ")
}

func tallyWords(some []tally) string {
	parts := make([]string, len(some))
	for i, t := range some {
		parts[i] = fmt.Sprintf("%d %s", t.Count, t.Verdict)
	}
	return strings.Join(parts, ", ")
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
