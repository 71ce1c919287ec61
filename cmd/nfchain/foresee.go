package main

import (
	"context"
	"fmt"
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
	// Containers are how many the chain has that has most.
	Containers int `json:"containers"`
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
	x, conditions := s.x, cells.Conditions
	on, repeats := s.course(conditions), x.Spec.Load.Repeats
	f := foreseen{SchemaVersion: trial.SchemaVersion, Experiment: x.Metadata.Name, Conditions: len(conditions),
		Chains: slices.Max(on.Chain) + 1, Repeats: repeats, Infeasible: cells.Infeasible, Dropped: cells.Dropped, Warnings: cells.Warnings}
	before := a.lastRun(ctx, x.Metadata.Name)
	f.Cost, f.Learnt = experiment.CostOf(before.Trials, courseBefore(before, on)), len(before.Trials) > 1
	f.Containers = slices.Max(on.Containers)
	order := on.Order(repeats, x.Spec.Seed)
	f.Trials = len(order)
	f.DurationS = f.Cost.Seconds(on, order, -1)
	f.TrafficS = experiment.Cost{}.Seconds(on, order, -1)
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

// courseBefore is what a stored run's conditions were measured on, as far as that is told by those that are alike now.
func courseBefore(r trial.Run, now experiment.Course) experiment.Course {
	on := experiment.Course{Conditions: r.Conditions}
	for _, c := range r.Conditions {
		i := slices.IndexFunc(now.Conditions, func(other trial.Condition) bool {
			return c.Path == other.Path && len(c.Factors) == len(other.Factors) && experiment.Matches(c, other.Factors)
		})
		if i < 0 {
			on.Containers = append(on.Containers, -1)
			continue
		}
		on.Containers = append(on.Containers, now.Containers[i])
	}
	return on
}

// lastRun is the latest stored one of the experiment, if there is one.
func (a *app) lastRun(ctx context.Context, name string) (r trial.Run) {
	store, err := results.OpenExisting(a.resultsPath())
	if err != nil {
		return r
	}
	defer func() { _ = store.Close() }()
	list, err := store.List(ctx)
	if err != nil {
		return r
	}
	id, at := "", time.Time{}
	for _, r := range list {
		if r.Experiment == name && r.Trials > 1 && r.CreatedAt.After(at) {
			id, at = r.ID, r.CreatedAt
		}
	}
	r, err = store.Get(ctx, id)
	if err != nil {
		return trial.Run{}
	}
	return r
}

func (a *app) printForeseen(f foreseen) error {
	how := "by what is usual"
	if f.Learnt {
		how = "as in the latest run"
	}
	each := fmt.Sprintf("%.2g s for each of its nodes", f.Cost.Node)
	if f.Containers > 0 {
		each += fmt.Sprintf(" and %.2g s for each of its containers", f.Cost.Container)
	}
	repeats := words.Plural(f.Repeats, "repeat")
	if f.Trials < f.Conditions*f.Repeats { // conditions have their own instances
		repeats = "some of " + repeats
	}
	a.printf("%s × %s: %s over %s, about %s, of which %s traffic; %.2g s for a trial, %.2g s for another chain and %s, %s\n",
		words.Plural(f.Conditions, "condition"), repeats, words.Plural(f.Trials, "trial"), words.Plural(f.Chains, "chain"), rough(f.DurationS), rough(f.TrafficS), f.Cost.Trial, f.Cost.Chain, each, how)
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
		return a.Path == b.Path && a.Protocol == b.Protocol && a.Tool == b.Tool && a.DurationS == b.DurationS && slices.Equal(a.Instances, b.Instances) &&
			len(a.Factors) == len(b.Factors) && experiment.Matches(a, b.Factors)
	})
}
