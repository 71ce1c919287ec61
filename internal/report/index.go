package report

import (
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
)

// IndexData is what there is to say of several experiments at once: what became of each,
// every claim's verdict, and which claims one host cannot tell at all.
type IndexData struct {
	SchemaVersion int       `json:"schema_version"`
	CreatedAt     time.Time `json:"created_at"`
	// Command repeats all of it.
	Command trial.List[string] `json:"command"`
	Quick   bool               `json:"quick"`
	// BudgetS is the time that all experiments together were to take; 0 for no limit.
	BudgetS float64 `json:"budget_s,omitempty"`
	// FullS is how long all of it would have taken as the files have it; Shortened is how trials
	// were shortened to keep the budget, in words, empty where they were not.
	FullS     float64 `json:"full_s,omitempty"`
	Shortened string  `json:"shortened,omitempty"`
	// Environment is that of the latest run; zero where nothing ran.
	Environment trial.Environment `json:"environment"`
	// Calibration is what was found of this machine before; nil where nothing was.
	Calibration *Calibration `json:"calibration,omitempty"`
	// Experiments in the order in which they were asked for.
	Experiments trial.List[IndexEntry] `json:"experiments"`
	// Elsewhere are the claims of the same sources that take more than this one host.
	Elsewhere trial.List[Elsewhere] `json:"elsewhere"`
	// Place is where the runs are stored, empty if it is not to be told.
	Place string `json:"-"`
}

// NotRun is the state of an experiment that has no run.
const NotRun = "not run"

// IndexEntry is one experiment of an index.
type IndexEntry struct {
	// ID as the source's experiments have it: livi2016/fig7.
	ID string `json:"id"`
	// Description is the experiment's own, one line.
	Description string      `json:"description,omitempty"`
	Source      *api.Source `json:"source,omitempty"`
	// State is the run's, or [NotRun] where there is none.
	State string `json:"state"`
	// Failure is why it has no whole run; empty where it has.
	Failure string `json:"failure,omitempty"`
	// Run is the id of the stored run; empty where there is none.
	Run string `json:"run,omitempty"`
	// Page is the report's, relative to the index; empty where there is none.
	Page       string  `json:"page,omitempty"`
	Conditions int     `json:"conditions"`
	Trials     int     `json:"trials"`
	DurationS  float64 `json:"duration_s"`
	// FailedTrials are those of the trials that measured nothing.
	FailedTrials int `json:"failed_trials,omitempty"`
	// Claims in the experiment's order; of an experiment without a run they cannot be told.
	Claims trial.List[IndexClaim] `json:"claims"`
	// Infeasible are the combinations that this machine cannot have, Dropped those that
	// were left out for want of time.
	Infeasible trial.List[trial.Infeasible] `json:"infeasible"`
	Dropped    trial.List[trial.Infeasible] `json:"dropped"`
	// Report is what Page shows, for what an index draws of it; nil without a run.
	Report *Report `json:"-"`
}

// IndexClaim is a verdict.
type IndexClaim struct{ experiment.Verdict }

// Elsewhere is a claim that takes what one host has not.
type Elsewhere struct {
	ID   string `json:"id"`
	At   string `json:"at,omitempty"`
	Text string `json:"text"`
	// Needs in words: two hosts, a virtual machine.
	Needs string `json:"needs"`
	Note  string `json:"note,omitempty"`
}

// Calibration is the load that this machine carries most of, and what it can tell apart.
type Calibration struct {
	// Run is the one that it was found by.
	Run       string    `json:"run"`
	CreatedAt time.Time `json:"created_at"`
	// Best are the values by factor: flows, payload_size, zerocopy and others.
	Best       trial.Map[any] `json:"best"`
	GoodputBps float64        `json:"goodput_bps"`
	// Floors are the smallest differences that so many repeats show, by their number.
	Floors trial.List[NoiseFloor] `json:"noise_floors"`
}

// NoiseFloor is the smallest difference that a number of repeats can show.
type NoiseFloor struct {
	Repeats int     `json:"repeats"`
	Ratio   float64 `json:"ratio"`
}
