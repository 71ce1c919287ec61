package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
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
)

// calibrateFlags say how a calibration measures.
type calibrateFlags struct {
	name           string
	try            []string
	duration       time.Duration
	repeats, pairs int
	fresh          bool
	output         *string
}

func (a *app) calibrateCmd() *cobra.Command {
	var c calibrateFlags
	cmd := &cobra.Command{
		Use: "calibrate", Short: "Find the load that this machine carries most of, and the smallest difference it can show",
		Long: `Look for the number of flows, the payload size and the settings (zerocopy, MTU, sizes of
super-packets) with which TCP carries most over the direct path of two namespaces joined
by veth, one after another, all else as it is. The best is looked for in the odd repeats
and told from the one before in the even ones, and taken if it is surely better.

Then the noise floor: two conditions that are the same are compared, and what so many
repeats of them would differ by is the smallest difference that this machine can show.

What is found is stored for this machine as it is now, and every published experiment runs
at it too (see reproduce). Their reports tell where a difference of goodput is below the noise floor.
With --try, what an earlier calibration found of the rest stays, and is begun with.`,
		Example: "  nfchain calibrate\n  nfchain calibrate --duration 5s --repeats 10\n  nfchain calibrate show", Args: cobra.NoArgs,
	}
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, _ []string) error { return a.calibrate(cmd.Context(), c) }))
	f := cmd.Flags()
	f.StringVar(&c.name, "name", "calibrate", "name of the chain that is made for it")
	f.StringSliceVar(&c.try, "try", nil, "what to vary: flows, zerocopy, payload_size, mtu, super-packets (default: all of it)")
	f.DurationVar(&c.duration, "duration", time.Second, "length of one trial")
	f.IntVar(&c.repeats, "repeats", 8, "repeats of each setting, half of them to choose by")
	f.IntVar(&c.pairs, "pairs", 20, "pairs of equal trials by which the noise floor is told")
	f.BoolVar(&c.fresh, "fresh", false, "start anew even if an interrupted calibration could go on")
	c.output = outputFlag(cmd, "text", "json")
	cmd.AddCommand(a.calibrateShowCmd())
	return cmd
}

// check what was given before anything is measured.
func (c calibrateFlags) check() error {
	names := []string{}
	for _, one := range experiment.Coordinates(1) {
		names = append(names, one.Name)
	}
	for _, name := range c.try {
		if !slices.Contains(names, name) {
			return fmt.Errorf("--try %s: there is nothing of that name to vary; choose from %s: %w", name, strings.Join(names, ", "), runs.ErrInput)
		}
	}
	switch {
	case c.duration < time.Second || c.duration%time.Second != 0:
		return fmt.Errorf("--duration %v: give whole seconds, 1s or more: %w", c.duration, runs.ErrInput)
	case c.repeats < 4 || c.repeats > 1000:
		return fmt.Errorf("--repeats %d: give 4 or more, for half of them choose and half of them tell, and at most 1000: %w", c.repeats, runs.ErrInput)
	case c.pairs < 3 || c.pairs > 1000:
		return fmt.Errorf("--pairs %d: give 3 to 1000: %w", c.pairs, runs.ErrInput)
	}
	return checkName(c.name)
}

// stageText is an experiment over some cells as a file says it.
func (c calibrateFlags) stageText(what string, repeats int, cells []map[string]any) (string, error) {
	direct := false
	text, err := json.MarshalIndent(api.Experiment{
		APIVersion: api.Version, Kind: api.KindExperiment,
		Metadata: api.Metadata{Name: c.name, Description: "Calibration: " + what},
		Spec: api.ExperimentSpec{
			Chain: api.ChainSpec{Wiring: "veth"},
			Load:  api.Load{Tool: "iperf3", Protocols: []string{trial.TCP}, Duration: api.Duration(c.duration), Repeats: repeats, Direct: &direct},
			Cells: cells,
		},
	}, "", "  ")
	return string(text), err
}

// calibrating is a calibration under way: which runs are done, by the text of their file.
type calibrating struct {
	Environment trial.Environment `json:"environment"`
	Runs        map[string]string `json:"runs"`
}

// calibratingKind is of records of calibrations that are under way.
const calibratingKind = "calibrating"

// bench is what a calibration measures with.
type calibrator struct {
	*app
	calibrateFlags
	h     *runs.Host
	store *results.Store
	calibrating
	found calibration
}

func (a *app) calibrate(ctx context.Context, c calibrateFlags) error {
	if err := c.check(); err != nil {
		return err
	}
	return a.measuringAlone(ctx, func(store *results.Store) error {
		b := &calibrator{app: a, calibrateFlags: c, h: a.host(ctx), store: store}
		if err := b.begin(ctx); err != nil {
			return err
		}
		if err := b.run(ctx); err != nil {
			return fmt.Errorf("%w; %s goes on from there", err, again(c.fresh))
		}
		return a.printCalibration(b.found, *c.output)
	})
}

// begin takes up a calibration that was interrupted, or begins one.
func (b *calibrator) begin(ctx context.Context) error {
	now := b.h.Features.Environment(versionText())
	there, err := b.store.Record(ctx, calibratingKind, b.name, &b.calibrating)
	if err != nil {
		return err
	}
	if !there || b.fresh || len(report.Unlike(b.Environment, now)) > 0 {
		b.calibrating = calibrating{Environment: now, Runs: map[string]string{}}
	} else if len(b.Runs) > 0 {
		b.say("going on with the calibration that was interrupted (--fresh starts anew)")
	}
	b.found = calibration{Environment: now, DurationS: b.duration.Seconds()}
	if b.found.Best, err = b.start(ctx); err != nil {
		return err
	}
	if err := b.keep(ctx); err != nil {
		return err
	}
	// Before the first run: one that is interrupted does not go back to what was there before it.
	return b.store.SetRecord(ctx, calibratingKind, b.name, b.calibrating)
}

// keep what is known of the machine already: where only some things are to be tried, the others
// stay as they were found, and what is tried begins there.
func (b *calibrator) keep(ctx context.Context) error {
	known, _, err := calibrationOf(ctx, b.store, b.Environment)
	if err != nil || known == nil {
		return err
	}
	if len(b.try) == 0 {
		b.say("this replaces the calibration of %s, when it is whole", clock(known.CreatedAt))
		return nil
	}
	var kept []string
	for _, step := range known.Steps {
		if !slices.Contains(b.try, step.What) {
			b.found.Steps = append(b.found.Steps, step)
			kept = append(kept, step.What)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	s, err := b.stage("start", b.repeats, []map[string]any{known.Best})
	if err == nil {
		_, _, err = b.cells(ctx, s)
	}
	if err != nil {
		return fmt.Errorf("what was found before, %s, cannot be had now; leave --try out to calibrate anew: %w", experiment.Describe(known.Best), err)
	}
	b.found.Best = known.Best
	b.say("what the calibration of %s found of %s stays; the noise floor is told anew", clock(known.CreatedAt), strings.Join(kept, ", "))
	return nil
}

// start is the first place to begin at that can be had here.
func (b *calibrator) start(ctx context.Context) (map[string]any, error) {
	var first error
	for _, start := range experiment.CalibrationStarts() {
		s, err := b.stage("start", b.repeats, []map[string]any{start})
		if err != nil {
			return nil, err
		}
		_, _, err = b.cells(ctx, s)
		if err == nil || ctx.Err() != nil {
			return start, err
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// run every coordinate, then the floor, and keep what was found.
func (b *calibrator) run(ctx context.Context) error {
	all := slices.DeleteFunc(experiment.Coordinates(b.Environment.CPUs), func(c experiment.Coordinate) bool {
		return len(b.try) > 0 && !slices.Contains(b.try, c.Name)
	})
	for i, c := range all {
		b.whole = fmt.Sprintf("%d/%d %s: ", i+1, len(all)+1, c.Name)
		if err := b.coordinate(ctx, c); err != nil {
			return err
		}
	}
	b.whole = fmt.Sprintf("%d/%d noise floor: ", len(all)+1, len(all)+1)
	if err := b.floor(ctx); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if err := b.store.SetRecord(ctx, calibrationKind, machineKey(b.Environment), b.found); err != nil {
		return err
	}
	return b.store.RemoveRecord(ctx, calibratingKind, b.name)
}

// coordinate tries one thing and keeps what is surely better.
func (b *calibrator) coordinate(ctx context.Context, c experiment.Coordinate) error {
	s, err := b.stage(c.Name, b.repeats, c.Cells(b.found.Best))
	if err == nil {
		err = b.measured(ctx, s, func(r trial.Run) error { return b.choose(c, r) })
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	return nil
}

// choose what is surely better than what was best before.
func (b *calibrator) choose(c experiment.Coordinate, r trial.Run) error {
	before := slices.IndexFunc(r.Conditions, func(t trial.Condition) bool { return experiment.Matches(t, b.found.Best) })
	if before < 0 {
		return fmt.Errorf("what it begins with cannot be measured here: %s", experiment.Describe(b.found.Best))
	}
	choice, err := experiment.Choose(r, goodput, before)
	if err != nil {
		return err
	}
	b.found.Best = r.Conditions[choice.Condition].Factors
	b.found.Steps = append(b.found.Steps, calibrationStep{c.Name, r.ID, choice.Why, r.Infeasible})
	b.say("%s: %s", c.Name, choice.Why)
	return nil
}

// floor compares the best with itself.
func (b *calibrator) floor(ctx context.Context) error {
	s, err := b.stage("noise floor", 2*b.pairs, []map[string]any{b.found.Best})
	if err == nil {
		err = b.measured(ctx, s, b.found.tell)
	}
	if err != nil {
		return fmt.Errorf("noise floor: %w", err)
	}
	return nil
}

// stage is an experiment over some cells, to be run.
func (b *calibrator) stage(what string, repeats int, cells []map[string]any) (subject, error) {
	text, err := b.stageText(what, repeats, cells)
	if err != nil {
		return subject{}, err
	}
	f, err := registry.Words().Decode(what, []byte(text))
	if err != nil {
		return subject{}, err
	}
	return b.subjectOf(b.h, f, text, experimentFlags{fresh: b.fresh}), nil
}

// measured is the whole run of some cells: one that is stored already and told what it was
// for, or else a new one. Tell finds that out, and its error has the same measured anew another time.
func (b *calibrator) measured(ctx context.Context, s subject, tell func(trial.Run) error) error {
	if id := b.Runs[s.text]; id != "" {
		if r, err := b.store.Get(ctx, id); err == nil && tell(r) == nil {
			return nil
		}
	}
	r, err := b.runStage(ctx, s)
	if err != nil {
		return err
	}
	if err := tell(r); err != nil {
		return err
	}
	b.Runs[s.text] = r.ID
	return b.store.SetRecord(context.WithoutCancel(ctx), calibratingKind, b.name, b.calibrating)
}

func (b *calibrator) runStage(ctx context.Context, s subject) (r trial.Run, err error) {
	s.m.Store = b.store
	err = b.locked(ctx, s, func() error {
		cells, _, err := b.cells(ctx, s)
		if err != nil {
			return err
		}
		if r, err = b.startOrResume(ctx, b.store, s, cells); err != nil {
			return err
		}
		return s.m.Run(ctx, &r)
	})
	b.bar.clear()
	return r, err
}
