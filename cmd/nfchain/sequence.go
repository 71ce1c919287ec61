package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/report"
	"nfchain.dev/nfchain/internal/results"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

// sequenceKind is the kind of the records that say how far sequences are.
const sequenceKind = "sequence"

// sequenceLock begins the name of what is held by who runs several experiments. It is no
// chain's.
const sequenceLock = "/reproduce"

// sequence is several experiments, one after another, as it is kept until all are done, so
// that the same command goes on with it.
type sequence struct {
	StartedAt time.Time `json:"started_at"`
	// Environment is where it began; it goes on nowhere else.
	Environment trial.Environment `json:"environment"`
	Steps       []sequenceStep    `json:"steps"`
	// FullS is how long all of it takes as the files have it, NeededS what their claims need of that.
	FullS   float64 `json:"full_s,omitempty"`
	NeededS float64 `json:"needed_s,omitempty"`
	// Short is how far trials are shorter than the files have them, for want of time.
	Short experiment.Shortening `json:"shortening,omitzero"`
	// Over is by how much the claims' needs are more than the budget, in words; empty where
	// they are not.
	Over string `json:"over_budget,omitempty"`
}

// sequenceStep is one experiment of a sequence.
type sequenceStep struct {
	ID string `json:"id"`
	// Text is the experiment's file as it was planned.
	Text string `json:"text"`
	// BudgetS is its part of the budget, 0 for none; ExpectedS how long it should take.
	BudgetS   float64 `json:"budget_s,omitempty"`
	ExpectedS float64 `json:"expected_s"`
	// Begun is the stored run, from its start on; Run is the same once it is whole.
	Begun string `json:"begun,omitempty"`
	Run   string `json:"run,omitempty"`
	// NotHere is why nothing of it can be measured on this machine.
	NotHere string `json:"not_here,omitempty"`
	// Wrong is why it cannot be planned, where that does not lie in the machine.
	Wrong string `json:"wrong,omitempty"`
}

// refused notes why an experiment cannot be measured. What is wrong with its file is an error.
func (s *sequenceStep) refused(err error) error {
	var problems api.Problems
	s.NotHere, s.Wrong = "", ""
	switch {
	case errors.Is(err, experiment.ErrSweep), errors.As(err, &problems):
		return fmt.Errorf("%s: %w", s.ID, err)
	case feature.NotHere(err):
		s.NotHere = describe(err)
	default:
		s.Wrong = describe(err)
	}
	return nil
}

// done tells whether nothing is left to do of a step.
func (s sequenceStep) done() bool { return s.Run != "" || s.NotHere != "" }

// budget of a step, no less than its part: an experiment that has time for all is to drop nothing.
func (s sequenceStep) budget() time.Duration {
	return time.Duration(math.Ceil(s.BudgetS * float64(time.Second)))
}

// left is how long the steps from one on should take.
func (s sequence) left(from int) (seconds float64) {
	for _, step := range s.Steps[from:] {
		if !step.done() {
			seconds += step.ExpectedS
		}
	}
	return seconds
}

// sequenceKey tells sequences apart: what is run, and how.
func sequenceKey(all []work, e experimentFlags) string {
	var ids []string
	for _, w := range all {
		ids = append(ids, w.id)
	}
	return fmt.Sprintf("%s quick=%t budget=%s best: %s", strings.Join(ids, " "), e.quick, e.budget, experiment.Describe(e.best))
}

// work is one experiment to run, with the file that it is in.
type work struct {
	id, text string
	f        *api.File
}

func (w work) experiment() api.Experiment { return w.f.Experiments[0] }

// sequenceOf what a command line asks for: one that was interrupted, or a new one.
func (a *app) sequenceOf(ctx context.Context, h *runs.Host, store *results.Store, all []work, e experimentFlags) (*sequence, error) {
	s := &sequence{}
	key, now := sequenceKey(all, e), h.Features.Environment(versionText())
	there, err := store.Record(ctx, sequenceKind, key, s)
	if err != nil {
		return nil, err
	}
	if there && !e.fresh && a.goesOn(s, all, now) {
		return s, a.lookAgain(ctx, h, s, all, e)
	}
	s = &sequence{StartedAt: a.now(), Environment: now}
	if err := a.plan(ctx, h, s, all, e); err != nil {
		return nil, err
	}
	return s, store.SetRecord(ctx, sequenceKind, key, s)
}

// goesOn tells whether an interrupted sequence is still what it was.
func (a *app) goesOn(s *sequence, all []work, now trial.Environment) bool {
	same := true
	for _, d := range report.Unlike(s.Environment, now) {
		a.say("what began at %s cannot go on: %s since", clock(s.StartedAt), d)
		same = false
	}
	done := 0
	for i, step := range s.Steps {
		if i >= len(all) || all[i].id != step.ID || all[i].text != step.Text {
			a.say("what began at %s cannot go on: %s is another experiment since", clock(s.StartedAt), step.ID)
			return false
		}
		if step.done() {
			done++
		}
	}
	if same {
		a.say("going on with what began at %s: %d of %d experiments are done (--fresh starts anew)", clock(s.StartedAt), done, len(s.Steps))
	}
	return same
}

func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// lookAgain at what could not be measured when an interrupted sequence began: what it
// lacked may be there since. It then has the time that its claims need.
func (a *app) lookAgain(ctx context.Context, h *runs.Host, s *sequence, all []work, e experimentFlags) error {
	budget := e.budget
	e.budget, e.short = 0, s.Short
	for i := range s.Steps {
		step := &s.Steps[i]
		if step.NotHere == "" && step.Wrong == "" {
			continue
		}
		_, trimmed, err := a.cells(ctx, a.subjectOf(h, all[i].f, all[i].text, e))
		switch {
		case ctx.Err() != nil:
			return deploy.Interrupted(ctx.Err())
		case err != nil:
			if err := step.refused(err); err != nil {
				return err
			}
		case budget > 0:
			step.NotHere, step.Wrong, step.BudgetS, step.ExpectedS = "", "", trimmed.Span.Least, trimmed.Span.Least
		default:
			step.NotHere, step.Wrong, step.ExpectedS = "", "", trimmed.Span.Most
		}
	}
	return nil
}

// sequenceLockOf a file, however it is called: by its real path, or its directory's where it
// is still to be made.
func sequenceLockOf(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	if there, err := filepath.EvalSymlinks(path); err == nil {
		path = there
	} else if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	place := sha256.Sum256([]byte(path))
	return fmt.Sprintf("%s-%x", sequenceLock, place[:6])
}

// alone keeps other sequences away that store what they measure in the same place: it waits
// until they are through.
func (a *app) alone(ctx context.Context) (release func(), err error) {
	name, told := sequenceLockOf(a.resultsPath()), false
	for {
		lock, err := deploy.Acquire(ctx, name, func(pid int) {
			if !told {
				a.say("waiting for another nfchain process (%d) to finish with its experiments", pid)
			}
			told = true
		})
		if err == nil {
			return lock.Release, nil
		}
		if !errors.Is(err, deploy.ErrLocked) {
			return nil, err
		}
	}
}

// measuringAlone opens the results to measure into them, and keeps other sequences away meanwhile.
func (a *app) measuringAlone(ctx context.Context, do func(*results.Store) error) error {
	release, err := a.alone(ctx)
	if err != nil {
		return err
	}
	defer release()
	store, err := a.store()
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	return do(store)
}
