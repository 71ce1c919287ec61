package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/report"
	"nfchain.dev/nfchain/internal/results"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// calibrationKind is of records of what was found of machines.
const calibrationKind = "calibration"

// goodput is the metric that a calibration looks at.
const goodput = "goodput_bps"

// calibration is what was found of a machine.
type calibration struct {
	report.Calibration
	// DurationS of the trials that it was found by.
	DurationS float64 `json:"trial_duration_s"`
	// Environment is the machine as it was.
	Environment trial.Environment `json:"environment"`
	// Steps are what was tried, one after another.
	Steps trial.List[calibrationStep] `json:"steps"`
}

// calibrationStep is one thing that was tried.
type calibrationStep struct {
	What string `json:"what"`
	Run  string `json:"run"`
	// Found in words.
	Found      string                       `json:"found"`
	Infeasible trial.List[trial.Infeasible] `json:"infeasible"`
}

// machineKey tells machines apart, and what one is after it was changed for good.
func machineKey(e trial.Environment) string {
	return fmt.Sprintf("%s, %s, Linux %s, %s", e.CPUModel, words.Plural(e.CPUs, "CPU"), e.Kernel, e.Virtualization)
}

// floorRepeats are the numbers of repeats that a noise floor is told for.
var floorRepeats = []int{3, 10, 30}

// tell what the repeats of one condition come to.
func (c *calibration) tell(r trial.Run) error {
	xs := r.Samples(0, goodput)
	if len(xs) < 4 {
		return fmt.Errorf("%s of %s measured %s, too few for a noise floor", words.Plural(len(xs), "trial"), r.ID, goodput)
	}
	c.Run, c.CreatedAt, c.GoodputBps = r.ID, r.CreatedAt, *stats.Summarize(xs).Mean
	for _, n := range floorRepeats {
		if floor := stats.NoiseFloor(xs, n); !math.IsNaN(floor) {
			c.Floors = append(c.Floors, report.NoiseFloor{Repeats: n, Ratio: floor})
		}
	}
	return nil
}

// calibrationOf this machine as it is now; nil, and why, where there is none.
func calibrationOf(ctx context.Context, store *results.Store, now trial.Environment) (c *calibration, why string, err error) {
	c = &calibration{}
	there, err := store.Record(ctx, calibrationKind, machineKey(now), c)
	switch {
	case err != nil:
		return nil, "", err
	case !there:
		return nil, "this machine, with this kernel, is not calibrated; `nfchain calibrate` does it", nil
	}
	var changed []string
	for _, d := range report.Unlike(c.Environment, now) {
		changed = append(changed, d.String())
	}
	if len(changed) > 0 {
		return nil, "the calibration of this machine no longer counts (" + strings.Join(changed, "; ") + "); `nfchain calibrate` makes another", nil
	}
	return c, "", nil
}

// bestLoad of this machine, where it is calibrated.
func (a *app) bestLoad(ctx context.Context) map[string]any {
	store, err := a.stored()
	if err != nil {
		return nil // nothing is stored yet
	}
	defer func() { _ = store.Close() }()
	c, _, err := calibrationOf(ctx, store, feature.Probe(ctx, feature.Host()).Environment(versionText()))
	if err != nil || c == nil {
		return nil // the index says why
	}
	return c.Best
}

func (a *app) calibrateShowCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "show", Short: "Show what was found of this machine", Example: "  nfchain calibrate show\n  nfchain calibrate show -o json", Args: cobra.NoArgs}
	var o *string
	cmd.RunE = does(func(cmd *cobra.Command, _ []string) error {
		store, err := a.stored()
		if err != nil {
			return err
		}
		defer func() { _ = store.Close() }()
		now := feature.Probe(cmd.Context(), feature.Host()).Environment(versionText())
		c, why, err := calibrationOf(cmd.Context(), store, now)
		if err != nil {
			return err
		}
		if c == nil {
			return errors.New(why)
		}
		return a.printCalibration(*c, *o)
	})
	o = outputFlag(cmd, "text", "json")
	return cmd
}

func (a *app) printCalibration(c calibration, format string) error {
	if format == "json" {
		return a.printJSON(struct {
			SchemaVersion int `json:"schema_version"`
			calibration
		}{trial.SchemaVersion, c})
	}
	a.printf("most: %.3g Gb/s of TCP over the direct veth, with %s (run %s, %s)\n",
		c.GoodputBps/1e9, experiment.Describe(c.Best), c.Run, clock(c.CreatedAt))
	w := a.table("REPEATS\tSMALLEST DIFFERENCE THAT THEY CAN SHOW")
	for _, f := range c.Floors {
		w.row("%d\t%.2g%%\n", f.Repeats, 100*f.Ratio)
	}
	if err := w.end(); err != nil {
		return err
	}
	a.printf("\n")
	w = a.table("TRIED\tRUN\tFOUND")
	for _, s := range c.Steps {
		w.row("%s\t%s\t%s\n", s.What, s.Run, s.Found)
		for _, cell := range s.Infeasible {
			w.row("\t\tcannot be had here: %s: %s\n", experiment.Describe(cell.Factors), cell.Reason)
		}
	}
	return w.end()
}

// floorAt so many repeats: that of the nearest number which is no more; the largest there is
// where all are more. 0 where nothing is known.
func (c *calibration) floorAt(repeats int) (floor float64) {
	if c == nil {
		return 0
	}
	floors := slices.SortedFunc(slices.Values(c.Floors), func(a, b report.NoiseFloor) int { return a.Repeats - b.Repeats })
	for _, f := range floors {
		if floor == 0 || f.Repeats <= repeats {
			floor = f.Ratio
		}
	}
	return floor
}

// below says that what a claim found is a smaller difference than this machine can show;
// empty where it is not, where the claim is about no difference, or where nobody knows: what
// other metrics are off by was not looked at.
func (c *calibration) below(check api.Check, v experiment.Verdict, repeats int) string {
	floor := c.floorAt(repeats)
	if v.Estimate == nil || floor == 0 || check.Metric != goodput {
		return ""
	}
	difference := math.Abs(*v.Estimate)
	switch check.Kind {
	case "ratio", "best_ratio", "ratio_each", "ratio_mean", "ratio_change":
		difference = math.Abs(*v.Estimate - 1)
	case "loss", "flat":
	default:
		return ""
	}
	if difference >= floor {
		return ""
	}
	return fmt.Sprintf("a difference of %.2g%% is below the noise floor: with %s this machine cannot show less than %.2g%%",
		100*difference, words.Plural(repeats, "repeat"), 100*floor)
}

// knownNoise puts beside a report's verdicts which of their differences are smaller than
// its machine can show, where a calibration tells.
func knownNoise(ctx context.Context, store *results.Store, rep *report.Report) {
	if c, _, err := calibrationOf(context.WithoutCancel(ctx), store, rep.Run.Environment); err == nil {
		c.beside(rep)
	}
}

// beside the verdicts of a report put what is below the noise floor.
func (c *calibration) beside(rep *report.Report) {
	f, err := registry.Words().Decode(rep.Run.ID, []byte(rep.Run.Spec))
	if c == nil || len(rep.Verdicts) == 0 || err != nil || len(f.Experiments) == 0 {
		return
	}
	checks := map[string]api.Check{}
	for _, claim := range experiment.WithTwins(f.Experiments[0].Spec, rep.Run.Conditions).Claims {
		checks[claim.ID] = claim.Check
	}
	for i, v := range rep.Verdicts {
		rep.Verdicts[i].Floor = c.below(checks[v.ID], v, rep.Run.Repeats)
	}
}
