package main

import (
	"context"

	"nfchain.dev/nfchain/internal/experiment"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// foreseenStep is what one experiment of several would do.
type foreseenStep struct {
	ID         string  `json:"id"`
	Conditions int     `json:"conditions"`
	Trials     int     `json:"trials"`
	DurationS  float64 `json:"duration_s"`
	// NotHere is why nothing of it can be measured.
	NotHere string `json:"not_here,omitempty"`
	// Wrong is why it cannot be planned, where that does not lie in the machine.
	Wrong      string                       `json:"wrong,omitempty"`
	Infeasible trial.List[trial.Infeasible] `json:"infeasible"`
	Dropped    trial.List[trial.Infeasible] `json:"dropped"`
	Warnings   trial.List[string]           `json:"warnings"`
}

// foreseeAll says what several experiments would do, and does nothing.
func (a *app) foreseeAll(ctx context.Context, h *runs.Host, works []work, e experimentFlags) error {
	s := &sequence{}
	if err := a.plan(ctx, h, s, works, e); err != nil {
		return err
	}
	e.short = s.Short
	all, total := []foreseenStep{}, 0.0
	for i, step := range s.Steps {
		one, err := a.foreseeStep(ctx, h, works[i], step, e)
		if err != nil {
			return err
		}
		all, total = append(all, one), total+one.DurationS+aroundSeconds
	}
	if *e.output.format == "json" {
		return a.printJSON(struct {
			SchemaVersion int            `json:"schema_version"`
			DurationS     float64        `json:"duration_s"`
			Over          string         `json:"over_budget,omitempty"`
			Experiments   []foreseenStep `json:"experiments"`
			// FullS is what all of it takes as the files have it, NeededS what claims need of that.
			FullS   float64 `json:"full_s"`
			NeededS float64 `json:"needed_s"`
			// Shortening is how far trials are shorter than the files have them.
			Shortening experiment.Shortening `json:"shortening"`
		}{trial.SchemaVersion, total, s.Over, all, s.FullS, s.NeededS, s.Short})
	}
	for _, line := range s.told(e.budget) {
		a.printf("%s\n", line)
	}
	return a.printForeseenSteps(all, total)
}

func (a *app) foreseeStep(ctx context.Context, h *runs.Host, w work, step sequenceStep, e experimentFlags) (foreseenStep, error) {
	one := foreseenStep{ID: step.ID, NotHere: step.NotHere, Wrong: step.Wrong}
	if step.NotHere != "" || step.Wrong != "" {
		return one, nil
	}
	e.budget = step.budget()
	s := a.subjectOf(h, w.f, w.text, e)
	cells, trimmed, err := a.cells(ctx, s)
	one.Conditions, one.DurationS = len(cells.Conditions), trimmed.Seconds
	one.Trials = trial.Run{Repeats: s.x.Spec.Load.Repeats, Redeploy: s.x.Spec.Load.Redeploy, Conditions: cells.Conditions}.Asked()
	one.Infeasible, one.Dropped, one.Warnings = cells.Infeasible, cells.Dropped, cells.Warnings
	return one, err
}

func (a *app) printForeseenSteps(all []foreseenStep, total float64) error {
	w := a.table("EXPERIMENT\tCONDITIONS\tTRIALS\tTAKES\tINFEASIBLE\tDROPPED")
	for _, s := range all {
		if s.NotHere != "" || s.Wrong != "" {
			w.row("%s\t-\t-\t-\t-\t-\n", s.ID)
			continue
		}
		w.row("%s\t%d\t%d\t%s\t%d\t%d\n", s.ID, s.Conditions, s.Trials, rough(s.DurationS), len(s.Infeasible), len(s.Dropped))
	}
	if err := w.end(); err != nil {
		return err
	}
	a.printf("%s, about %s in all\n", words.Plural(len(all), "experiment"), rough(total))
	for _, s := range all {
		if s.NotHere != "" {
			a.printf("%s cannot be measured here: %s\n", s.ID, s.NotHere)
		}
		if s.Wrong != "" {
			a.printf("%s cannot be planned: %s\n", s.ID, s.Wrong)
		}
		for _, line := range byReason(s.Infeasible) {
			a.printf("%s: cannot be had here: %s\n", s.ID, line)
		}
		for _, line := range byReason(s.Dropped) {
			a.printf("%s: would be dropped: %s\n", s.ID, line)
		}
		for _, text := range s.Warnings {
			a.printf("%s: %s\n", s.ID, text)
		}
	}
	return nil
}
