package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/report"
	"nfchain.dev/nfchain/internal/results"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

// experimentFlags are what `experiment run` and `reproduce` have in common.
type experimentFlags struct {
	quick, fresh, dryRun bool
	// budget is the time that all may take, 0 for any; budgetGiven tells that the user said so.
	budget      time.Duration
	budgetGiven bool
	// short is how far a budget makes trials shorter than the files have them.
	short experiment.Shortening
	index string
	// best is the load of this machine's calibration, for published experiments.
	best   map[string]any
	output output
}

func (e *experimentFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&e.quick, "quick", false, "the file's quick load: minutes instead of hours, and marked so")
	cmd.Flags().Var(budgetFlag{e}, "budget", "take about this long, such as 30m, or none for all of it: leave out combinations that no claim needs; of several experiments, shorten trials too")
	cmd.Flags().StringVar(&e.index, "index", "", "write a page for each report, and one that links them, into this directory")
	cmd.Flags().BoolVar(&e.fresh, "fresh", false, "start anew even if an interrupted run could go on")
	cmd.Flags().BoolVar(&e.dryRun, "dry-run", false, "measure nothing: say how many trials there would be, how long, and which combinations cannot be had")
	e.output.register(cmd)
}

func (a *app) experimentCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "experiment", Short: "Run experiments: a chain, a load, what to vary, what is claimed",
		Example: "  nfchain experiment run published/livi2016/fig7.yaml --quick"}
	var e experimentFlags
	run := &cobra.Command{
		Use: "run FILE...", Short: "Run experiments, or go on with what was interrupted",
		Long: `Run every combination of an experiment's sweep, as often as it says, in a shuffled
order whose seed is recorded. Run again after an interruption, it goes on where it
stopped. Of several files, each with one experiment, all are run one after another, and
those that are whole are not run again.`,
		Example: "  nfchain experiment run published/livi2016/fig7.yaml --dry-run\n  nfchain experiment run published/livi2016/fig7.yaml --quick --html fig7.html", Args: cobra.MinimumNArgs(1),
	}
	run.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		var all []work
		for _, name := range args {
			w, err := a.oneExperiment(name)
			if err != nil {
				return err
			}
			if i := slices.IndexFunc(all, func(o work) bool { return o.id == w.id }); i >= 0 {
				return fmt.Errorf("%s and %s hold experiments of one name, %s: %w", args[i], name, w.id, runs.ErrInput)
			}
			all = append(all, w)
		}
		return a.experiments(cmd.Context(), all, e)
	}))
	e.register(run)
	cmd.AddCommand(run)
	return cmd
}

// oneExperiment reads a file that must hold exactly one.
func (a *app) oneExperiment(name string) (work, error) {
	f, text, err := a.file(name)
	if err != nil {
		return work{}, err
	}
	if len(f.Experiments) == 0 && len(f.Chains) > 0 {
		return work{}, fmt.Errorf("%s holds a chain; `nfchain bench %s` measures it: %w", name, name, runs.ErrInput)
	}
	if len(f.Experiments) != 1 {
		return work{}, fmt.Errorf("%s holds %d experiments; this command takes a file with exactly one: %w", name, len(f.Experiments), runs.ErrInput)
	}
	return work{f.Experiments[0].Metadata.Name, string(text), f}, nil
}

// experiments runs one and reports it, or several and what they come to.
func (a *app) experiments(ctx context.Context, all []work, e experimentFlags) error {
	if len(all) > 1 || e.index != "" {
		return a.together(ctx, all, e)
	}
	return a.experiment(ctx, all[0].f, all[0].text, e)
}

// experiment runs the one experiment of a file.
func (a *app) experiment(ctx context.Context, f *api.File, text string, e experimentFlags) error {
	if err := checkWritable("html", e.output.html); err != nil {
		return err
	}
	s := a.subjectOf(a.host(ctx), f, text, e)
	if e.dryRun {
		return a.foresee(ctx, s, e)
	}
	return a.locked(ctx, s, func() error {
		cells, _, err := a.cells(ctx, s)
		if err != nil {
			return err
		}
		a.tellLeftOut(cells)
		store, err := a.store()
		if err != nil {
			return err
		}
		defer func() { _ = store.Close() }()
		s.m.Store = store
		r, err := a.startOrResume(ctx, store, s, cells)
		if err != nil {
			return err
		}
		o := e.output
		o.fresh = e.fresh
		return a.measure(ctx, s.m, &r, store, s.h.Features.Has, o)
	})
}

// subject is an experiment on the machine that it is to run on.
type subject struct {
	x    api.Experiment
	text string
	h    *runs.Host
	m    *runs.Measurement
	// quick tells that the load is shorter than the file's, and shortened by how much where that is
	// for want of time; fresh is as the user said. Budget is the time that it may take, 0 for any.
	quick, fresh bool
	shortened    string
	budget       time.Duration
	// best is the load of this machine's calibration; nil where that is not measured too.
	best map[string]any
}

// subjectOf a file, with the quick load put in if that was asked for, or one that is shorter
// for want of time.
func (a *app) subjectOf(h *runs.Host, f *api.File, text string, e experimentFlags) subject {
	s := subject{
		x: f.Experiments[0], text: text, h: h, quick: e.quick, fresh: e.fresh, budget: e.budget, best: e.best,
		m: &runs.Measurement{Host: h, Tools: registry.Tools, Now: a.now, Trial: a.trial, Alone: f.Functions, GoOn: true},
	}
	switch {
	case e.quick && s.x.Spec.Quick != nil:
		s.x.Spec.Load = s.x.Spec.Load.With(*s.x.Spec.Quick)
	case !e.quick:
		s.shortened = e.short.Told(s.x.Spec)
		s.quick = s.shortened != ""
		s.x.Spec.Load = e.short.Load(s.x.Spec)
	}
	return s
}

// course of conditions, under the experiment's load.
func (s subject) course(conditions []trial.Condition) experiment.Course {
	return s.m.Course(conditions, s.x.Spec.Load.Repeats, s.x.Spec.Load.Redeploy)
}

// locked does something while the experiment's chain is this process's.
func (a *app) locked(ctx context.Context, s subject, do func() error) error {
	lock, err := s.h.Lock(ctx, s.x.Metadata.Name)
	if err != nil {
		return err
	}
	defer lock.Release()
	if err := mayDeploy(s.h, s.x.Metadata.Name, false); err != nil {
		return err
	}
	return do()
}

// trimming turns the sweep into conditions, each with its chain and what it costs, and what
// is infeasible.
func (a *app) trimming(ctx context.Context, s subject) (experiment.Trimming, calibratedCells, error) {
	spec := onThisMachine(s.x.Spec, s.h)
	points, err := experiment.Points(spec, registry.Words())
	if err != nil {
		return experiment.Trimming{}, calibratedCells{}, err
	}
	c, err := s.cellsOf(ctx, points)
	return experiment.Trimming{
		Spec: experiment.WithTwins(spec, c.conditions), Course: s.course(c.conditions), Repeats: s.x.Spec.Load.Repeats, Cost: experiment.UsualCost,
	}, c, err
}

// cells are the conditions that there is time for, with what is left out and what is to be
// read beside them.
func (a *app) cells(ctx context.Context, s subject) (trial.Run, experiment.Trimmed, error) {
	all, calibrated, err := a.trimming(ctx, s)
	cells := trial.Run{Infeasible: calibrated.infeasible, Repeats: all.Repeats}
	if err != nil {
		return cells, experiment.Trimmed{}, err
	}
	t := all.To(s.budget.Seconds())
	s.m.Only(t.Kept)
	for _, i := range t.Kept {
		cells.Conditions = append(cells.Conditions, all.Conditions[i])
	}
	cells.Dropped = t.Dropped
	calibrated.put(&cells, s.best)
	if s.shortened != "" {
		cells.Warnings = append(cells.Warnings, s.shortened)
	}
	if t.Over >= 1 { // less is how seconds were rounded
		cells.Warnings = append(cells.Warnings, fmt.Sprintf("what the claims need takes about %s, %s more than the budget of %s", rough(t.Seconds), rough(t.Over), rough(s.budget.Seconds())))
	}
	return cells, t, nil
}

// onThisMachine has numbers where an experiment tells flows by cores. Machines are asked
// only where that is so, since it takes a while.
func onThisMachine(spec api.ExperimentSpec, h *runs.Host) api.ExperimentSpec {
	if experiment.CoresNote(spec, 1) == "" {
		return spec
	}
	return experiment.OnMachine(spec, h.Features.Environment(versionText()))
}

// tellLeftOut says what of the sweep will not be measured.
func (a *app) tellLeftOut(cells trial.Run) {
	for _, c := range cells.Infeasible {
		a.say("infeasible: %s: %s", experiment.Describe(c.Factors), c.Reason)
	}
	for _, line := range byReason(cells.Dropped) {
		a.say("dropped: %s", line)
	}
	for _, w := range cells.Warnings {
		a.say("%s", w)
	}
}

// byReason counts combinations that are left out for one reason, and names the first.
func byReason(all []trial.Infeasible) (lines []string) {
	count := map[string]int{}
	for _, c := range all {
		count[c.Reason]++
	}
	told := map[string]bool{}
	for _, c := range all {
		if told[c.Reason] {
			continue
		}
		told[c.Reason] = true
		line := fmt.Sprintf("%s: %s", experiment.Describe(c.Factors), c.Reason)
		if more := count[c.Reason] - 1; more > 0 {
			line = fmt.Sprintf("%s and %d more: %s", experiment.Describe(c.Factors), more, c.Reason)
		}
		lines = append(lines, line)
	}
	return lines
}

// resumable takes up the newest interrupted run that is the same as one begun now would be:
// what was interrupted since may have been a quick one, or on another machine.
func (a *app) resumable(ctx context.Context, store *results.Store, s subject, cells trial.Run) (trial.Run, bool) {
	var unfit []string
	for !s.fresh {
		id, err := store.Unfinished(ctx, s.x.Metadata.Name, s.text, unfit...)
		if err != nil {
			break
		}
		r, err := store.Resume(ctx, id)
		unlike := report.Unlike(r.Environment, s.h.Features.Environment(versionText()))
		if err == nil && len(unlike) == 0 && r.Quick == s.quick && alike(r, cells) {
			return r, true
		}
		if err == nil {
			_ = store.SetState(ctx, id, trial.Interrupted)
		}
		for _, d := range unlike {
			if len(unfit) == 0 {
				a.say("run %s cannot go on: %s since", id, d)
			}
		}
		unfit = append(unfit, id)
	}
	return trial.Run{}, false
}

// startOrResume goes on with an interrupted run of the same file and load, or
// begins a new one.
func (a *app) startOrResume(ctx context.Context, store *results.Store, s subject, cells trial.Run) (trial.Run, error) {
	if r, can := a.resumable(ctx, store, s, cells); can {
		a.say("going on with run %s: %d of %d trials are done (--fresh starts anew)", r.ID, r.Finished(), r.Asked())
		return r, nil
	}
	if err := runs.Calibrate(ctx, cells.Conditions, registry.Tools); err != nil {
		return trial.Run{}, err
	}
	r := a.newRun(s.h, s.x.Metadata.Name, s.text, s.x.Spec.Seed, s.x.Spec.Load)
	r.Experiment, r.Quick = s.x.Metadata.Name, s.quick
	r.Conditions, r.Infeasible, r.Dropped, r.Warnings = cells.Conditions, cells.Infeasible, cells.Dropped, cells.Warnings
	r.Calibrated = cells.Calibrated
	return r, store.CreateRun(ctx, r)
}
