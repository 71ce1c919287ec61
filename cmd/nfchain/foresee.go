package main

import (
	"context"
	"slices"
	"time"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/results"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// foreseen is what an experiment would do.
type foreseen struct {
	SchemaVersion int    `json:"schema_version"`
	Experiment    string `json:"experiment"`
	Conditions    int    `json:"conditions"`
	Chains        int    `json:"chains"`
	Repeats       int    `json:"repeats"`
	Trials        int    `json:"trials"`
	// Searches are conditions whose trials nobody can foresee; they count as none.
	Searches  int             `json:"searches"`
	TrafficS  float64         `json:"traffic_s"`
	DurationS float64         `json:"duration_s"`
	Cost      experiment.Cost `json:"cost"`
	// Learnt tells that the cost is that of an earlier run.
	Learnt     bool                         `json:"cost_learnt"`
	Infeasible trial.List[trial.Infeasible] `json:"infeasible"`
	// Dropped are the combinations that a budget leaves out.
	Dropped  trial.List[trial.Infeasible] `json:"dropped,omitempty"`
	Warnings trial.List[string]           `json:"warnings"`
}

// foresee says what an experiment would do, and does nothing.
func (a *app) foresee(ctx context.Context, s subject, e experimentFlags) error {
	cells, _, err := a.cells(ctx, s)
	if err != nil {
		return err
	}
	x, m, conditions := s.x, s.m, cells.Conditions
	chains, repeats := m.ChainOf(), x.Spec.Load.Repeats
	f := foreseen{SchemaVersion: trial.SchemaVersion, Experiment: x.Metadata.Name, Conditions: len(conditions),
		Chains: slices.Max(chains) + 1, Repeats: repeats, Trials: len(conditions) * repeats, Infeasible: cells.Infeasible, Dropped: cells.Dropped, Warnings: cells.Warnings}
	before := a.lastTrials(ctx, x.Metadata.Name)
	f.Cost, f.Learnt = experiment.CostOf(before), len(before) > 1
	order := experiment.Order(len(conditions), repeats, x.Spec.Seed)
	if anew := x.Spec.Load.Redeploy; anew > 1 {
		order = experiment.OnInstances(order, experiment.RepeatsEach(trial.Run{Repeats: repeats, Redeploy: anew}), chains)
	}
	f.DurationS = f.Cost.Seconds(order, conditions, chains, -1)
	f.TrafficS = experiment.Cost{}.Seconds(order, conditions, chains, -1)
	for _, c := range conditions {
		if c.Search != nil {
			f.Searches++
		}
	}
	if *e.output.format == "json" {
		return a.printJSON(f)
	}
	return a.printForeseen(f)
}

// lastTrials are those of the latest stored run of the experiment, if there is one.
func (a *app) lastTrials(ctx context.Context, name string) []trial.Trial {
	store, err := results.OpenExisting(a.resultsPath())
	if err != nil {
		return nil
	}
	defer func() { _ = store.Close() }()
	list, err := store.List(ctx)
	if err != nil {
		return nil
	}
	id, at := "", time.Time{}
	for _, r := range list {
		if r.Experiment == name && r.Trials > 1 && r.CreatedAt.After(at) {
			id, at = r.ID, r.CreatedAt
		}
	}
	r, err := store.Get(ctx, id)
	if err != nil {
		return nil
	}
	return r.Trials
}

func (a *app) printForeseen(f foreseen) error {
	how := "by what is usual"
	if f.Learnt {
		how = "as in the latest run"
	}
	a.printf("%s × %s: %s over %s, about %s, of which %s traffic; %.2g s for a trial and %.2g s for another chain, %s\n",
		words.Plural(f.Conditions, "condition"), words.Plural(f.Repeats, "repeat"), words.Plural(f.Trials, "trial"), words.Plural(f.Chains, "chain"), rough(f.DurationS), rough(f.TrafficS), f.Cost.Trial, f.Cost.Chain, how)
	if f.Searches > 0 {
		a.printf("%d of the conditions are searches, whose time is not counted\n", f.Searches)
	}
	for _, w := range f.Warnings {
		a.printf("%s\n", w)
	}
	if err := a.printLeftOut(f.Infeasible, "cannot be had here"); err != nil {
		return err
	}
	return a.printLeftOut(f.Dropped, "would be dropped")
}

// printLeftOut lists combinations that would not be measured, if there are any.
func (a *app) printLeftOut(all []trial.Infeasible, what string) error {
	if len(all) == 0 {
		return nil
	}
	a.printf("%s %s:\n", words.Plural(len(all), "combination"), what)
	w := a.table("COMBINATION\tWHY")
	for _, c := range all {
		w.row("%s\t%s\n", experiment.Describe(c.Factors), c.Reason)
	}
	return w.end()
}

// alike tells whether a stored run has the conditions that the file means now, and the
// machine's calibration: that is in no file.
func alike(r, now trial.Run) bool {
	return r.Repeats == now.Repeats && experiment.Describe(r.Calibrated) == experiment.Describe(now.Calibrated) && slices.EqualFunc(r.Conditions, now.Conditions, func(a, b trial.Condition) bool {
		return a.Path == b.Path && a.Protocol == b.Protocol && a.Tool == b.Tool && a.DurationS == b.DurationS &&
			len(a.Factors) == len(b.Factors) && experiment.Matches(a, b.Factors)
	})
}
