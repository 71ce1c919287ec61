package search

import (
	"fmt"

	"nfchain.dev/nfchain/internal/trial"
)

// closed adds what follows from all the rest: whether the search came to its own
// end, and what it kept of its standard.
func closed(r Result, more bool, clauses func(Result) []Clause) Result {
	r.Finished = !more && r.Trials < r.Search.MaxTrials
	for _, g := range r.Goals {
		if !g.Regular && r.Exempt == "" {
			r.Irregular = true
			if r.Why == "" {
				r.Why = "goal " + g.Goal.Name + ": " + g.Why
			}
		}
	}
	if !r.Finished {
		r.Irregular = true
		if r.Why == "" {
			r.Why = unfinished
		}
	}
	r.Compliance = append(clauses(r), phaseClauses(r)...)
	return r
}

// unfinished is why a search has no result yet.
const unfinished = "the search has not come to its end"

// section of a standard, for its clauses.
type section struct{ standard, number string }

func (s section) kept(text string) Clause {
	return Clause{Standard: s.standard, Section: s.number, Text: text, Status: Kept}
}

func (s section) partly(text, why string) Clause {
	return Clause{Standard: s.standard, Section: s.number, Text: text, Status: Partly, Why: why}
}

func (s section) not(text, why string) Clause {
	return Clause{Standard: s.standard, Section: s.number, Text: text, Status: Not, Why: why}
}

// holds is kept if so, and else not.
func (s section) holds(so bool, text, why string, args ...any) Clause {
	if so {
		return s.kept(text)
	}
	return s.not(text, fmt.Sprintf(why, args...))
}

func rfc2544(number string) section { return section{"RFC 2544", number} }

// phaseClauses are those of RFC 2544 §23, which every method's trials are held to
// (MLRsearch §4.4.3: deviations must be told).
func phaseClauses(r Result) []Clause {
	s, w := rfc2544("23"), r.Search.Waits
	return []Clause{
		learningClause(s, r),
		waitClause(s, "wait 2 s for frames that still come", w.DrainS, standardWaits.DrainS),
		waitClause(s, "wait at least 5 s to settle before the next trial", w.SettleS, standardWaits.SettleS),
	}
}

// learningClause is of frames that not every tool sends.
func learningClause(s section, r Result) Clause {
	text, is := "pause 2 s after the frames that fill tables", r.Search.Waits.LearnS
	if r.Search.LearningFrames {
		return waitClause(s, text, is, standardWaits.LearnS)
	}
	return s.partly(text, fmt.Sprintf("no such frames are sent: a plan fills the tables of its chain; the pause before each trial is %v s", is))
}

func waitClause(s section, text string, is, should float64) Clause {
	switch {
	case is >= should:
		return s.kept(text)
	case is > 0:
		return s.partly(text, fmt.Sprintf("the wait is %v s", is))
	}
	return s.not(text, "there is no such wait")
}

// atLeast is kept if the trials are long enough.
func atLeast(s section, seconds, should float64) Clause {
	text := fmt.Sprintf("trials of at least %v s", should)
	return s.holds(seconds >= should, text, "they take %v s", seconds)
}

// finalTrial of RFC 2544 §24: a search may be quick if what it finds is shown
// with a trial of 60 s.
func finalTrial(r Result) Clause {
	g := r.Search.Goals[0]
	text := "the load that is reported is shown by a trial of at least 60 s"
	return rfc2544("24").holds(g.FinalDurationS >= 60, text, "the longest trial took %v s", g.FinalDurationS)
}

func lossless(r Result) Clause {
	g := r.Search.Goals[0]
	text := "the throughput is the fastest rate at which nothing is lost"
	if g.LossRatio > 0 || len(g.Limits) > 0 {
		return rfc2544("26.1").not(text, "the goal is another: "+describe(g))
	}
	return rfc2544("26.1").kept(text)
}

// describe a goal in one line.
func describe(g trial.Goal) string {
	text := fmt.Sprintf("loss of at most %v", g.LossRatio)
	for _, l := range g.Limits {
		text += ", " + l.Metric
		if l.AtMost != nil {
			text += fmt.Sprintf(" at most %v", *l.AtMost)
		}
		if l.AtLeast != nil {
			text += fmt.Sprintf(" at least %v", *l.AtLeast)
		}
	}
	return text
}

// found tells whether there is a result at all.
func found(s section, r Result, text string) Clause {
	return s.holds(!r.Irregular, text, "%s", r.Why)
}

// mediumClause of RFC 2544 §20: tests are run up to what the medium carries.
func mediumClause(r Result) Clause {
	text := "the highest load tried is the most the medium carries"
	switch s := r.Search; {
	case s.MediumPps == 0 && s.Reach:
		return rfc2544("20").partly(text, "the medium has no such limit; the highest load is what the generator can send")
	case s.MediumPps == 0:
		return rfc2544("20").partly(text, fmt.Sprintf("the medium has no such limit; the highest load is the %.0f frames a second that were asked for", s.MaxPps))
	case s.MaxPps < s.MediumPps:
		return rfc2544("20").not(text, fmt.Sprintf("%v frames a second are the highest load, of %v", s.MaxPps, s.MediumPps))
	}
	return rfc2544("20").kept(text)
}
