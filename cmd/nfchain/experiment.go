package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/report"
	"nfchain.dev/nfchain/internal/results"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/published"
)

// experimentFlags are what `experiment run` and `reproduce` have in common.
type experimentFlags struct {
	quick, fresh, dryRun bool
	output               output
}

func (e *experimentFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&e.quick, "quick", false, "the file's quick load: minutes instead of hours, and marked so")
	cmd.Flags().BoolVar(&e.fresh, "fresh", false, "start anew even if an interrupted run could go on")
	cmd.Flags().BoolVar(&e.dryRun, "dry-run", false, "measure nothing: say how many trials there would be, how long, and which combinations cannot be had")
	e.output.register(cmd)
}

func (a *app) experimentCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "experiment", Short: "Run experiments: a chain, a load, what to vary, what is claimed",
		Example: "  nfchain experiment run published/livi2016/fig7.yaml --quick"}
	var e experimentFlags
	run := &cobra.Command{
		Use: "run FILE", Short: "Run an experiment, or go on with one that was interrupted",
		Long: `Run every combination of an experiment's sweep, as often as it says, in a shuffled
order whose seed is recorded. Run again after an interruption, it goes on where it
stopped.`,
		Example: "  nfchain experiment run published/livi2016/fig7.yaml --dry-run\n  nfchain experiment run published/livi2016/fig7.yaml --quick --html fig7.html", Args: cobra.ExactArgs(1),
	}
	run.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		f, text, err := a.file(args[0])
		if err != nil {
			return err
		}
		if len(f.Experiments) == 0 && len(f.Chains) > 0 {
			return fmt.Errorf("%s holds a chain; `nfchain bench %s` measures it: %w", args[0], args[0], runs.ErrInput)
		}
		if len(f.Experiments) != 1 {
			return fmt.Errorf("%s holds %d experiments; this command takes a file with exactly one: %w", args[0], len(f.Experiments), runs.ErrInput)
		}
		return a.experiment(cmd.Context(), f, string(text), e)
	}))
	e.register(run)
	cmd.AddCommand(run)
	return cmd
}

func (a *app) reproduceCmd() *cobra.Command {
	var e experimentFlags
	cmd := &cobra.Command{
		Use: "reproduce [ID]", Short: "List the published experiments, or run one",
		Long: `Without an id, list the published experiments. With one, run it and say which of its
source's statements hold on this machine.`,
		Example: "  nfchain reproduce\n  nfchain reproduce livi2016/fig7 --quick", Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(published.IDs(), cobra.ShellCompDirectiveNoFileComp),
	}
	cmd.RunE = does(func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return a.listPublished(*e.output.format)
		}
		return a.privileged(func(cmd *cobra.Command, args []string) error {
			return a.reproduce(cmd.Context(), args[0], e)
		})(cmd, args)
	})
	e.register(cmd)
	return cmd
}

func (a *app) reproduce(ctx context.Context, id string, e experimentFlags) error {
	text, err := published.Read(id)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no published experiment %q; there are %s: %w", id, strings.Join(published.IDs(), ", "), runs.ErrInput)
	}
	if err != nil {
		return err
	}
	f, err := registry.Words().Decode(id, text)
	if err != nil {
		return err
	}
	return a.experiment(ctx, f, string(text), e)
}

// publishedEntry is one line of the list.
type publishedEntry struct {
	ID          string  `json:"id"`
	Title       string  `json:"title"`
	Source      string  `json:"source"`
	At          string  `json:"at"`
	Claims      int     `json:"claims"`
	Conditions  int     `json:"conditions"`
	DurationS   float64 `json:"duration_s"`
	QuickS      float64 `json:"quick_duration_s"`
	Description string  `json:"description"`
}

func (a *app) listPublished(format string) error {
	list := []publishedEntry{}
	for _, id := range published.IDs() {
		entry, err := describePublished(id)
		if err != nil {
			return err
		}
		list = append(list, entry)
	}
	if format == "json" {
		return a.printJSON(struct {
			SchemaVersion int              `json:"schema_version"`
			Experiments   []publishedEntry `json:"experiments"`
		}{1, list})
	}
	w := a.table("ID\tWHERE\tCONDITIONS\tCLAIMS\tTAKES\tQUICK\tWHAT")
	for _, e := range list {
		w.row("%s\t%s\t%d\t%d\t%s\t%s\t%s\n", e.ID, e.At, e.Conditions, e.Claims, rough(e.DurationS), rough(e.QuickS), e.Description)
	}
	return w.end()
}

func describePublished(id string) (publishedEntry, error) {
	text, err := published.Read(id)
	if err != nil {
		return publishedEntry{}, err
	}
	f, err := registry.Words().Decode(id, text)
	if err != nil {
		return publishedEntry{}, err
	}
	x := f.Experiments[0]
	points, err := experiment.Points(experiment.OnCores(x.Spec, runtime.NumCPU()), registry.Words())
	if err != nil {
		return publishedEntry{}, err
	}
	e := publishedEntry{ID: id, Claims: len(x.Spec.Claims), Conditions: len(points), Description: x.Metadata.Description}
	if s := x.Spec.Source; s != nil {
		e.Title, e.Source, e.At = s.Title, s.ID, s.At
	}
	e.DurationS = planned(points, api.Load{})
	if x.Spec.Quick != nil {
		e.QuickS = planned(points, *x.Spec.Quick)
	}
	return e, nil
}

// planned is how long the trials of the points take, s, with a load put over theirs.
func planned(points []experiment.Point, over api.Load) (seconds float64) {
	for _, p := range points {
		l := p.Load.With(over)
		seconds += time.Duration(l.Duration).Seconds() * float64(l.Repeats)
	}
	return seconds
}

func rough(seconds float64) string {
	if seconds == 0 {
		return "-"
	}
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}

// experiment runs the one experiment of a file.
func (a *app) experiment(ctx context.Context, f *api.File, text string, e experimentFlags) error {
	if err := checkWritable("html", e.output.html); err != nil {
		return err
	}
	x := f.Experiments[0]
	h := a.host(ctx)
	m := &runs.Measurement{Host: h, Tools: registry.Tools, Now: a.now, Trial: a.trial, Alone: f.Functions}
	if e.quick && x.Spec.Quick != nil {
		x.Spec.Load = x.Spec.Load.With(*x.Spec.Quick)
	}
	if e.dryRun {
		return a.foresee(ctx, x, m, e)
	}
	lock, err := h.Lock(ctx, x.Metadata.Name)
	if err != nil {
		return err
	}
	defer lock.Release()
	if err := mayDeploy(h, x.Metadata.Name, false); err != nil {
		return err
	}
	conditions, infeasible, err := a.cells(ctx, x, m)
	if err != nil {
		return err
	}
	for _, c := range infeasible {
		a.say("infeasible: %s: %s", experiment.Describe(c.Factors), c.Reason)
	}
	store, err := a.store()
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	m.Store = store
	r, err := a.startOrResume(ctx, h, store, x, text, trial.Run{Conditions: conditions, Infeasible: infeasible}, e)
	if err != nil {
		return err
	}
	return a.measure(ctx, m, &r, store, h.Features.Has, e.output)
}

// cells turns the sweep into conditions, each with its chain, and what is infeasible.
func (a *app) cells(ctx context.Context, x api.Experiment, m *runs.Measurement) ([]trial.Condition, []trial.Infeasible, error) {
	points, err := experiment.Points(onThisMachine(x.Spec, m.Host), registry.Words())
	if err != nil {
		return nil, nil, err
	}
	return m.Cells(ctx, x.Metadata.Name, points)
}

// onThisMachine has numbers where an experiment tells flows by cores. Machines are asked
// only where that is so, since it takes a while.
func onThisMachine(spec api.ExperimentSpec, h *runs.Host) api.ExperimentSpec {
	if experiment.CoresNote(spec, 1) == "" {
		return spec
	}
	return experiment.OnMachine(spec, h.Features.Environment(versionText()))
}

// startOrResume goes on with an interrupted run of the same file and load, or
// begins a new one.
func (a *app) startOrResume(ctx context.Context, h *runs.Host, store *results.Store, x api.Experiment, text string, cells trial.Run, e experimentFlags) (trial.Run, error) {
	if !e.fresh {
		if id, err := store.Unfinished(ctx, x.Metadata.Name, text); err == nil {
			r, err := store.Resume(ctx, id)
			unlike := report.Unlike(r.Environment, h.Features.Environment(versionText()))
			for _, d := range unlike {
				a.say("run %s cannot go on: %s since", id, d)
			}
			if err == nil && len(unlike) == 0 && r.Quick == e.quick && alike(r, cells) {
				a.say("going on with run %s: %d of %d trials are done (--fresh starts anew)", r.ID, r.Finished(), len(r.Conditions)*r.Repeats)
				return r, nil
			}
			if err == nil {
				_ = store.SetState(ctx, id, trial.Interrupted)
			}
		}
	}
	if err := runs.Calibrate(ctx, cells.Conditions, registry.Tools); err != nil {
		return trial.Run{}, err
	}
	r := a.newRun(h, x.Metadata.Name, text, x.Spec.Seed, x.Spec.Load)
	r.Experiment, r.Quick, r.Conditions, r.Infeasible = x.Metadata.Name, e.quick, cells.Conditions, cells.Infeasible
	return r, store.CreateRun(ctx, r)
}
