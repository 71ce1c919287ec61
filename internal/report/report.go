// Package report turns a stored run into what people and programs read: text,
// Markdown, CSV, JSON, Parquet, HDR logs, JUnit's XML, OpenMetrics and one
// self-contained HTML page, and compares two runs.
// Every report is a function of what is stored: nothing here measures, judges a
// claim or fits a model; verdicts and fits arrive made.
package report

import (
	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
)

// Report is a run with everything said of it.
type Report struct {
	Run trial.Run
	// Conditions are the run's, in its order, with what their repeats come to.
	Conditions []trial.Summary
	// Searches are what the run's searches came to, in the order of conditions and
	// repeats.
	Searches []Search
	// Source is the publication that the run reproduces, nil for none.
	Source *api.Source
	// References are the source's values.
	References []api.Reference
	Fits       []experiment.Fit
	// Rankings set the fits side by side.
	Rankings []experiment.Ranking
	Verdicts []experiment.Verdict
	// Against is how the run stands to its baseline, nil for none.
	Against *Comparison
	// Place is where the run is stored, empty if it is not to be told.
	Place string
	// prefix makes the ids of its charts unique on a page of several reports.
	prefix string
}

// New summarizes a run. What an experiment adds is the caller's to put in.
func New(run trial.Run) Report {
	run = trial.WithSetup(run)
	return Report{Run: run, Conditions: trial.Summarize(run), Searches: searches(run)}
}

// title is what the run is of.
func (r Report) title() string {
	if r.Run.Experiment != "" {
		return r.Run.Experiment
	}
	return r.Run.Chain
}

// most repeats that a condition has or is to have.
func (r Report) most() (n int) {
	if r.Run.Until > 0 {
		return r.planned() / max(1, len(r.Run.Conditions))
	}
	for _, c := range r.Run.Conditions {
		n = max(n, r.Run.RepeatsOf(c))
	}
	return n
}

// planned is how many trials the run is to have, as far as is known: where the
// repeats go on until intervals are narrow, it is the blocks that were begun.
func (r Report) planned() int {
	if r.Run.Until == 0 {
		return r.Run.Asked()
	}
	repeats := r.Run.Repeats
	for _, t := range r.Run.Trials {
		repeats = max(repeats, t.Repeat)
	}
	return len(r.Run.Conditions) * repeats
}
