package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/experiment"
	runs "nfchain.dev/nfchain/internal/run"
)

// aroundSeconds is what an experiment takes besides its trials and chains.
const aroundSeconds = 1.5

// prospect is an experiment of a sequence, as far as what it takes is concerned.
type prospect struct {
	// whole is as its file has it; without conditions where nothing can be measured.
	whole experiment.Trimming
	// quick is under its quick load, where that is taken whole or not at all; nil until it is asked for.
	quick *experiment.Trimming
	plan  func(experiment.Shortening) (experiment.Trimming, error)
}

// plan finds out what each experiment would take here, and shares the budget among them. One
// that this machine cannot measure at all is told so at once.
func (a *app) plan(ctx context.Context, h *runs.Host, s *sequence, all []work, e experimentFlags) error {
	steps := make([]prospect, len(all))
	for i, w := range all {
		a.progress("planned experiments", i+1, len(all))
		steps[i].plan = func(short experiment.Shortening) (experiment.Trimming, error) {
			e := e
			e.short = short
			t, _, err := a.trimming(ctx, a.subjectOf(h, w.f, w.text, e))
			if ctx.Err() != nil {
				err = deploy.Interrupted(ctx.Err())
			}
			return t, err
		}
		step := sequenceStep{ID: w.id, Text: w.text}
		var err error
		if steps[i].whole, err = steps[i].plan(experiment.Shortening{}); ctx.Err() != nil {
			return deploy.Interrupted(ctx.Err())
		} else if err != nil {
			if err := step.refused(err); err != nil {
				return err
			}
		}
		s.Steps = append(s.Steps, step)
	}
	return s.fit(steps, e)
}

// fit what is planned into the budget: of all ways to shorten trials the one that shortens
// them least and leaves time for what claims need.
func (s *sequence) fit(steps []prospect, e experimentFlags) error {
	around := aroundSeconds * float64(len(steps))
	ways := experiment.Shortenings()
	if e.budget == 0 || e.quick {
		ways = ways[:1]
	}
	var best []experiment.Span
	needed := math.Inf(1)
	for i, short := range ways {
		spans, err := spansOf(steps, short)
		if err != nil {
			return err
		}
		least, most := around, around
		for _, span := range spans {
			least, most = least+span.Least, most+span.Most
		}
		if i == 0 {
			s.NeededS, s.FullS = least, most
		}
		if least >= needed { // nothing is had by it
			continue
		}
		if s.Short, best, needed = short, spans, least; least <= e.budget.Seconds() {
			break
		}
	}
	s.share(best, e.budget)
	return nil
}

// spansOf what is planned, with trials that are shorter than the files have them.
func spansOf(steps []prospect, short experiment.Shortening) (spans []experiment.Span, err error) {
	for i := range steps {
		t, err := steps[i].shortened(short)
		if errors.Is(err, context.Canceled) {
			return nil, err
		}
		if err != nil { // it can be had as the file has it alone
			t = steps[i].whole
		}
		spans = append(spans, t.To(0).Span)
	}
	return spans, nil
}

func (p *prospect) shortened(short experiment.Shortening) (experiment.Trimming, error) {
	if short == (experiment.Shortening{}) || len(p.whole.Conditions) == 0 {
		return p.whole, nil
	}
	if !short.Whole(p.whole.Spec) {
		return p.whole.Shortened(short), nil
	}
	if p.quick == nil {
		t, err := p.plan(short)
		if err != nil {
			return t, err
		}
		p.quick = &t
	}
	return *p.quick, nil
}

// share the budget among the steps.
func (s *sequence) share(spans []experiment.Span, budget time.Duration) {
	around := aroundSeconds * float64(len(spans))
	shares := experiment.Share(max(1, budget.Seconds()-around), spans)
	least := around
	for _, span := range spans {
		least += span.Least
	}
	if over := least - budget.Seconds(); budget > 0 && over >= 1 {
		s.Over = fmt.Sprintf("what the claims need takes about %s, %s more than the budget of %s", rough(least), rough(over), rough(budget.Seconds()))
	}
	for i := range s.Steps {
		s.Steps[i].ExpectedS = spans[i].Most
		if budget > 0 {
			s.Steps[i].BudgetS, s.Steps[i].ExpectedS = shares[i], shares[i]
		}
	}
}

// told is what a budget costs, in words: nothing where all of it can be had in that time.
func (s *sequence) told(budget time.Duration) (lines []string) {
	if budget > 0 && s.FullS >= budget.Seconds()+1 {
		line := fmt.Sprintf("all of it takes about %s, and what claims need %s of that; to take about %s, combinations that no claim needs are left out", rough(s.FullS), rough(s.NeededS), rough(budget.Seconds()))
		if short := s.Short.String(); short != "" {
			line += ", and " + short
		}
		lines = append(lines, line+" (--budget "+noBudget+" has all)")
	}
	if s.Over != "" {
		lines = append(lines, s.Over)
	}
	return lines
}
