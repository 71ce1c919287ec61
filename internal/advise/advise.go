// Package advise says of stored runs which of the chains that were measured to use
// for a goal: which wiring, settings, order and grouping of the same functions. It
// measures nothing and supposes nothing: of what was not measured, or cannot be told
// apart from the goal, it says so.
package advise

import (
	"errors"
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/report"
	"nfchain.dev/nfchain/internal/trial"
)

// ErrNothing is returned where no condition of the runs is left to advise on.
var ErrNothing = errors.New("nothing was measured that advice could be about")

// The verdicts on a case, on a choice and on a clause.
const (
	Use        = "use"         // a choice surely meets the goal
	None       = "none"        // every choice surely misses it
	CannotTell = "cannot tell" // neither

	Meets  = "meets"
	Misses = "misses"
	Open   = "open"
)

// Options say what advice is about.
type Options struct {
	// Goal is what is wanted; at least one clause.
	Goal Goal
	// Where restricts the conditions by factor value or field.
	Where map[string]any
	// Force takes runs from unlike environments together; the advice is marked.
	Force bool
}

// Advice is what the runs say of a goal.
type Advice struct {
	SchemaVersion int                `json:"schema_version"`
	Goal          trial.List[Clause] `json:"goal"`
	Runs          trial.List[string] `json:"runs"`
	// Forced marks advice from unlike environments; Unlike is what differs.
	Forced bool                          `json:"forced"`
	Unlike trial.List[report.Difference] `json:"unlike"`
	// Cases are the sets of functions and the loads for which there are choices.
	Cases trial.List[Case] `json:"cases"`
	// Unknown is what the runs do not tell, for all cases.
	Unknown trial.List[string] `json:"not_known"`
}

// Case is one set of functions under one load, with the choices there are for it.
type Case struct {
	// Name says what the choices have in common.
	Name string `json:"case"`
	// Verdict is use, none or cannot tell; Choice is the one to use.
	Verdict string `json:"verdict"`
	Choice  string `json:"choice,omitempty"`
	// Confidence of every interval, so high that all of the case, over its choices and
	// clauses, hold at once with 95% (Bonferroni).
	Confidence float64 `json:"confidence"`
	// Advice is what to do and why; Alternatives what the other choices cost.
	Advice       string             `json:"advice"`
	Alternatives string             `json:"alternatives"`
	Choices      trial.List[Choice] `json:"choices"`
	Unknown      trial.List[string] `json:"not_known"`
}

// Choice is one way to make the chain.
type Choice struct {
	// Name has what the choices of a case differ in.
	Name   string `json:"choice"`
	Wiring string `json:"wiring"`
	// Order is the functions from the first endpoint to the second, those that share a
	// namespace joined by "+".
	Order trial.List[string] `json:"order"`
	// Settings are what else was varied, by field.
	Settings trial.Map[any] `json:"settings"`
	// Verdict is meets, misses or open.
	Verdict string              `json:"verdict"`
	Clauses trial.List[Finding] `json:"clauses"`
	// Prices are what it has of the advised choice's metrics; empty where nothing is
	// advised, and for that choice itself.
	Prices trial.List[Price] `json:"prices"`

	cells []cell
}

// Finding is what was measured of one clause under one choice.
type Finding struct {
	Clause  string `json:"clause"`
	Verdict string `json:"verdict"`
	// Why it is open; empty otherwise.
	Why      string               `json:"why,omitempty"`
	Evidence trial.List[Evidence] `json:"evidence"`
}

// Price is a metric of a choice over that of the advised one.
type Price struct {
	Protocol string  `json:"protocol"`
	Metric   string  `json:"metric"`
	Ratio    float64 `json:"ratio"`
	// Interval bounds Ratio so that all of a case hold at once with 95%. Absent where the trials are too few.
	Interval *[2]float64 `json:"interval,omitempty"`
}

// Make advises on runs. The error wraps [report.ErrUnlike] where they were measured on
// unlike machines and are not forced, and [ErrNothing].
func Make(subjects []Subject, o Options) (Advice, error) {
	a := Advice{SchemaVersion: trial.SchemaVersion, Goal: trial.List[Clause](o.Goal)}
	subjects = slices.Clone(subjects)
	for i, s := range subjects {
		subjects[i].Run = withLoss(trial.WithSetup(s.Run))
		a.Runs = append(a.Runs, s.Run.ID)
		if i > 0 {
			a.Unlike = append(a.Unlike, report.UnlikeMachines(subjects[0].Run, s.Run)...)
		}
	}
	if a.Forced = len(a.Unlike) > 0; a.Forced && !o.Force {
		return a, fmt.Errorf("%w: %s", report.ErrUnlike, report.JoinDifferences(a.Unlike))
	}
	a.Cases = sortOut(subjects, o.Where)
	if len(a.Cases) == 0 {
		return a, fmt.Errorf("%w%s", ErrNothing, among(o.Where))
	}
	for i := range a.Cases {
		c := &a.Cases[i]
		c.Confidence = 1 - .05/float64(len(c.Choices)*len(o.Goal))
		judge{o.Goal, c.Confidence}.decide(c)
	}
	a.Unknown = unknown(subjects, o)
	return a, nil
}

// decide judges every choice of a case and words the advice.
func (j judge) decide(c *Case) {
	for i := range c.Choices {
		j.judge(&c.Choices[i])
	}
	best := j.best(c.Choices)
	switch {
	case best >= 0:
		c.Verdict, c.Choice = Use, c.Choices[best].Name
		j.price(c.Choices, best)
	case slices.ContainsFunc(c.Choices, func(x Choice) bool { return x.Verdict == Open }):
		c.Verdict = CannotTell
	default:
		c.Verdict = None
	}
	j.word(c, best)
	c.Unknown = j.doubts(*c)
}
