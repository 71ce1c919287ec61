package report

import (
	"encoding/json"
	"io"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
)

// document is the object that JSON writes; it only ever gains fields.
type document struct {
	SchemaVersion int                     `json:"schema_version"`
	Run           string                  `json:"run"`
	Chain         string                  `json:"chain"`
	Experiment    string                  `json:"experiment,omitempty"`
	State         string                  `json:"state"`
	CreatedAt     time.Time               `json:"created_at"`
	Command       trial.List[string]      `json:"command"`
	Spec          string                  `json:"spec"`
	Seed          int64                   `json:"seed"`
	Repeats       int                     `json:"repeats"`
	Until         float64                 `json:"until_ratio,omitempty"`
	MaxRepeats    int                     `json:"max_repeats,omitempty"`
	Redeploy      int                     `json:"redeploy,omitempty"`
	StartAlone    bool                    `json:"start_alone,omitempty"`
	Quick         bool                    `json:"quick"`
	Environment   trial.Environment       `json:"environment"`
	Setups        trial.List[trial.Setup] `json:"setups"`
	// Time is where the run's time went.
	Time       *trial.TimeUse            `json:"time,omitempty"`
	Trials     trial.List[trialDocument] `json:"trials"`
	Conditions trial.List[trial.Summary] `json:"conditions"`
	// Infeasible are the combinations of the sweep that cannot be measured here.
	Infeasible trial.List[trial.Infeasible] `json:"infeasible"`
	// Dropped are those that were left out for want of time; most runs have none.
	Dropped trial.List[trial.Infeasible] `json:"dropped,omitempty"`
	// Calibrated is what the conditions at the calibrated load have, where there are some.
	Calibrated trial.Map[any] `json:"calibrated,omitempty"`
	// Searches are what searches came to; their trials are in Trials, with a step.
	Searches trial.List[Search] `json:"searches"`
	// Summary is the metrics of the chain's first condition.
	Summary    metrics                       `json:"summary"`
	Source     *sourceDocument               `json:"source,omitempty"`
	References trial.List[referenceDocument] `json:"references"`
	Models     trial.List[experiment.Fit]    `json:"models"`
	// Rankings set models of the same trials side by side.
	Rankings trial.List[experiment.Ranking] `json:"model_rankings"`
	Claims   trial.List[experiment.Verdict] `json:"claims"`
	// Comparison is with the run's baseline, if one was given.
	Comparison *Comparison        `json:"comparison,omitempty"`
	Warnings   trial.List[string] `json:"warnings"`
}

// trialDocument is one trial with its condition in place. What the tools printed
// is left to `nfchain runs export`, which gives all that is stored.
type trialDocument struct {
	Condition trial.Condition `json:"condition"`
	// Index is the condition's in conditions.
	Index     int         `json:"condition_index"`
	Repeat    int         `json:"repeat"`
	Step      int         `json:"step,omitempty"`
	Asked     *trial.Step `json:"asked,omitempty"`
	Instance  int         `json:"instance,omitempty"`
	StartedAt time.Time   `json:"started_at"`
	DurationS float64     `json:"duration_s"`
	OutsideS  float64     `json:"outside_s,omitempty"`
	// Made are the chains that came up for it.
	Made       trial.List[trial.Making] `json:"made,omitempty"`
	Metrics    trial.Map[float64]       `json:"metrics"`
	Histograms trial.Map[string]        `json:"histograms"`
	// Series are metrics over the time of the trial.
	Series   trial.Map[trial.Series] `json:"series"`
	Observed trial.Observation       `json:"observed"`
	Warnings trial.List[string]      `json:"warnings"`
}

type sourceDocument struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	At      string `json:"at,omitempty"`
	Machine string `json:"machine,omitempty"`
}

type referenceDocument struct {
	At     trial.Map[any] `json:"at"`
	Metric string         `json:"metric"`
	Value  float64        `json:"value"`
	Note   string         `json:"note,omitempty"`
}

// JSON writes a report as one object, values raw in the units of their names.
func JSON(w io.Writer, r Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(newDocument(r))
}

func newDocument(r Report) document {
	run := r.Run
	d := document{
		SchemaVersion: trial.SchemaVersion, Run: run.ID, Chain: run.Chain, Experiment: run.Experiment, State: run.State,
		CreatedAt: run.CreatedAt, Command: run.Command, Spec: run.Spec, Seed: run.Seed, Repeats: run.Repeats, Quick: run.Quick,
		Until: run.Until, MaxRepeats: run.MaxRepeats, Redeploy: run.Redeploy, StartAlone: run.StartAlone,
		Environment: run.Environment, Setups: run.Setups, Time: run.TimeUse(), Conditions: r.Conditions, Infeasible: run.Infeasible, Dropped: run.Dropped, Calibrated: run.Calibrated, Searches: r.Searches, Summary: r.summary(), Models: r.Fits, Rankings: r.Rankings, Claims: r.Verdicts,
		Warnings: run.Warnings, Source: newSource(r.Source), Comparison: r.Against,
	}
	for _, t := range run.Trials {
		d.Trials = append(d.Trials, newTrial(run, t))
	}
	for _, ref := range r.References {
		d.References = append(d.References, referenceDocument{At: ref.At, Metric: ref.Metric, Value: ref.Value, Note: ref.Note})
	}
	return d
}

func newTrial(run trial.Run, t trial.Trial) trialDocument {
	d := trialDocument{Index: t.Condition, Repeat: t.Repeat, Step: t.Step, Asked: t.Asked, Instance: t.Instance, StartedAt: t.StartedAt, DurationS: t.DurationS, OutsideS: t.OutsideS, Made: t.Made,
		Metrics: t.Metrics, Histograms: t.Histograms, Series: t.Series, Observed: t.Observed, Warnings: t.Warnings}
	if t.Condition >= 0 && t.Condition < len(run.Conditions) {
		d.Condition = run.Conditions[t.Condition]
	}
	return d
}

func newSource(s *api.Source) *sourceDocument {
	if s == nil {
		return nil
	}
	return &sourceDocument{ID: s.ID, Title: s.Title, At: s.At, Machine: s.Machine}
}

// summary is the metrics of the chain's first condition, never nil; where no
// condition goes through a chain, those of the first.
func (r Report) summary() metrics {
	out := metrics{}
	for i, c := range r.Conditions {
		if c.Path == trial.PathChain {
			return c.Metrics
		}
		if i == 0 {
			out = c.Metrics
		}
	}
	return out
}
