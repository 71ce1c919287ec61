package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/report"
	"nfchain.dev/nfchain/internal/results"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// queue is a sequence that is being run.
type queue struct {
	*app
	h     *runs.Host
	store *results.Store
	works []work
	flags experimentFlags
	*sequence
	// calibration of this machine; nil where there is none.
	calibration *calibration
	// index is what there is to say so far.
	index report.IndexData
}

// together runs experiments one after another.
func (a *app) together(ctx context.Context, all []work, e experimentFlags) error {
	if err := e.checkTogether(); err != nil {
		return err
	}
	h := a.host(ctx)
	if e.dryRun {
		return a.foreseeAll(ctx, h, all, e)
	}
	return a.measuringAlone(ctx, func(store *results.Store) error {
		s, err := a.sequenceOf(ctx, h, store, all, e)
		if err != nil {
			return err
		}
		q := &queue{app: a, h: h, store: store, works: all, flags: e, sequence: s}
		return q.run(ctx)
	})
}

// checkTogether refuses what is for one experiment alone, before anything is measured.
func (e experimentFlags) checkTogether() error {
	switch format := *e.output.format; {
	case e.output.html != "":
		return fmt.Errorf("--html is the page of one experiment; --index DIR writes one for each, and one that links them: %w", runs.ErrInput)
	case e.output.strict:
		return fmt.Errorf("--strict is for one experiment: %w", runs.ErrInput)
	case format != "text" && format != "json" && format != "md":
		return fmt.Errorf("of several experiments there is no %s; use text, json or md, and `nfchain report RUN -o %s` for each: %w", format, format, runs.ErrInput)
	}
	return checkDirectory("index", e.index)
}

// run every step that is not done, and say what all came to.
func (q *queue) run(ctx context.Context) error {
	q.index = report.IndexData{
		SchemaVersion: trial.SchemaVersion, CreatedAt: q.StartedAt, Command: q.args, Quick: q.flags.quick,
		BudgetS: q.flags.budget.Seconds(), FullS: q.FullS, Shortened: q.Short.String(), Environment: q.Environment, Place: q.store.Path(),
	}
	q.index.Elsewhere = elsewhere(q.works)
	for _, line := range q.told(q.flags.budget) {
		q.say("%s", line)
	}
	if err := q.calibrated(ctx); err != nil {
		return err
	}
	for i := range q.Steps {
		entry, err := q.step(ctx, i)
		q.index.Experiments = append(q.index.Experiments, entry)
		if err != nil {
			return errors.Join(q.stopped(err, i), q.writeIndex())
		}
		if err := q.writeIndex(); err != nil {
			return err
		}
	}
	if err := q.tell(); err != nil {
		return err
	}
	return q.end(ctx)
}

// calibrated finds out what is known of this machine.
func (q *queue) calibrated(ctx context.Context) error {
	c, why, err := calibrationOf(ctx, q.store, q.Environment)
	if err != nil {
		return err
	}
	if c == nil {
		q.say("%s; until then nobody knows how small a difference it can show", why)
		return nil
	}
	q.calibration, q.index.Calibration = c, &c.Calibration
	return nil
}

// stopped tells how to go on with a sequence that ended before its end.
func (q *queue) stopped(err error, at int) error {
	done := 0
	for _, s := range q.Steps {
		if s.done() {
			done++
		}
	}
	return fmt.Errorf("%s: %w; %d of %d experiments are done, %s goes on from there", q.Steps[at].ID, err, done, len(q.Steps), again(q.flags.fresh))
}

// again is what goes on with what a command did: with --fresh it would begin anew.
func again(fresh bool) string {
	if fresh {
		return "the same command without --fresh"
	}
	return "the same command again"
}

// end forgets a sequence that is whole; one of which something failed stays, so that the
// same command tries that again.
func (q *queue) end(ctx context.Context) error {
	var failed []string
	measured := 0
	for i, e := range q.index.Experiments {
		if !q.Steps[i].done() {
			failed = append(failed, e.ID+": "+e.Failure)
		}
		if e.Run != "" {
			measured++
		}
	}
	switch {
	case len(failed) > 0:
		return fmt.Errorf("%d of %s failed; %s tries them anew:\n%s",
			len(failed), words.Plural(len(q.Steps), "experiment"), again(q.flags.fresh), strings.Join(failed, "\n"))
	case measured == 0:
		return fmt.Errorf("nothing of %s can be measured on this machine; the first: %s: %w",
			words.Plural(len(q.Steps), "experiment"), q.Steps[0].NotHere, feature.ErrMissing)
	}
	if err := q.store.RemoveRecord(context.WithoutCancel(ctx), sequenceKind, sequenceKey(q.works, q.flags)); err != nil {
		return err
	}
	return q.trialsFailed()
}

// trialsFailed is an error where experiments went on to their ends though trials measured nothing.
func (q *queue) trialsFailed() error {
	trials, failed := 0, 0
	var in []string
	for _, e := range q.index.Experiments {
		trials += e.Trials
		if failed += e.FailedTrials; e.FailedTrials > 0 {
			in = append(in, fmt.Sprintf("%s: %d of %d", e.ID, e.FailedTrials, e.Trials))
		}
	}
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s failed, and what needs them cannot be told:\n%s", failed, words.Plural(trials, "trial"), strings.Join(in, "\n"))
}

// step takes one experiment from where it is to its end. Its error ends the sequence;
// what went wrong with the experiment alone is in the entry.
func (q *queue) step(ctx context.Context, i int) (report.IndexEntry, error) {
	s := &q.Steps[i]
	w := q.works[i]
	if s.NotHere != "" {
		q.say("experiment %d of %d: %s cannot be measured here: %s", i+1, len(q.Steps), s.ID, s.NotHere)
		return q.entryWithout(w, s.NotHere), nil
	}
	if s.Wrong != "" {
		q.say("experiment %d of %d: %s cannot be planned: %s", i+1, len(q.Steps), s.ID, s.Wrong)
		return q.entryWithout(w, s.Wrong), nil
	}
	if r, err := q.before(ctx, s); err != nil {
		return q.entryWithout(w, describe(err)), err
	} else if s.Run != "" {
		return q.entry(w, r, nil), nil
	}
	q.say("experiment %d of %d: %s, about %s; about %s left in all", i+1, len(q.Steps), s.ID, rough(s.ExpectedS), rough(q.left(i)))
	flags := q.flags
	flags.budget, flags.short = s.budget(), q.Short
	r, err := q.measureOne(ctx, q.subjectOf(q.h, w.f, w.text, flags), i)
	if err == nil {
		s.Run = r.ID
		err = q.note(ctx)
	}
	entry := q.entryWithout(w, "")
	if len(r.Trials) > 0 {
		entry = q.entry(w, r, err)
	} else if err != nil {
		entry.Failure = describe(err)
	}
	if err != nil && !endsAll(ctx, err) {
		q.say("%s failed: %s", s.ID, describe(err))
		err = nil
	}
	return entry, err
}

// before is the run of a step that was measured before. One that ended just before that
// could be noted counts, and one that somebody removed does not: it is measured again.
func (q *queue) before(ctx context.Context, s *sequenceStep) (trial.Run, error) {
	id := cmp.Or(s.Run, s.Begun)
	s.Run = ""
	if id == "" {
		return trial.Run{}, nil
	}
	r, err := q.store.Get(ctx, id)
	switch {
	case errors.Is(err, results.ErrNotFound):
		return r, nil
	case err == nil && r.State == trial.Done:
		s.Run = id
	}
	return r, err
}

// note how far the sequence is.
func (q *queue) note(ctx context.Context) error {
	return q.store.SetRecord(context.WithoutCancel(ctx), sequenceKind, sequenceKey(q.works, q.flags), q.sequence)
}

// endsAll tells errors after which another experiment could do no better.
func endsAll(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, results.ErrFull) || errors.Is(err, results.ErrReadOnly) || errors.Is(err, results.ErrCorrupt)
}

// measureOne runs one experiment, or goes on with it.
func (q *queue) measureOne(ctx context.Context, s subject, i int) (r trial.Run, err error) {
	s.m.Store = q.store
	s.m.Trial = func(done, total int, c trial.Condition, left time.Duration) {
		q.whole = fmt.Sprintf("%d/%d %s: ", i+1, len(q.Steps), q.Steps[i].ID)
		q.after = time.Duration(q.left(i+1) * float64(time.Second))
		q.trial(done, total, c, left)
	}
	err = q.locked(ctx, s, func() error {
		cells, _, err := q.cells(ctx, s)
		if err != nil {
			return err
		}
		if r, err = q.startOrResume(ctx, q.store, s, cells); err != nil {
			return err
		}
		q.Steps[i].Begun = r.ID
		if err := q.note(ctx); err != nil {
			return err
		}
		stop, err := q.serve(q.flags.output.openmetrics, s.m)
		if err != nil {
			return err
		}
		defer stop()
		q.upTo = r.Until > 0
		return s.m.Run(ctx, &r)
	})
	q.bar.clear()
	return r, err
}
