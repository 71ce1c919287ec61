package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/report"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// gateFlags make bench a gate: what to compare with, and how.
type gateFlags struct {
	compareFlags
	baseline string
}

func (g *gateFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&g.baseline, "baseline", "", "measure the conditions of this stored run again; exit with 1 if the chain became slower")
	g.compareFlags.register(cmd)
}

// baseline is a stored run that a new one is compared with; nil for none.
type baseline struct {
	run     trial.Run
	options report.CompareOptions
}

// baseline finds the run to compare with, and makes the load what its was.
func (a *app) baseline(cmd *cobra.Command, g gateFlags, load *api.Load) (*baseline, error) {
	if g.baseline == "" {
		for _, name := range []string{"tolerance", "force"} {
			if cmd.Flags().Changed(name) {
				return nil, fmt.Errorf("--%s is about comparing; name the run to compare with by --baseline: %w", name, runs.ErrInput)
			}
		}
		return nil, nil
	}
	options, err := g.read()
	if err != nil {
		return nil, err
	}
	if err := onlyFlags(cmd, besideBaseline, "--baseline measures the conditions of the run it names"); err != nil {
		return nil, err
	}
	store, err := a.stored()
	if err != nil {
		return nil, err
	}
	defer func() { _ = store.Close() }()
	r, err := find(cmd.Context(), store, g.baseline)
	if err != nil {
		return nil, err
	}
	if r.Experiment != "" || len(r.Trials) == 0 {
		return nil, fmt.Errorf("run %s is no bench with trials, so there is nothing to measure again: %w", r.ID, runs.ErrInput)
	}
	if slices.ContainsFunc(r.Conditions, func(c trial.Condition) bool { return len(c.Factors) > 0 }) {
		return nil, fmt.Errorf("run %s varied something that bench does not, as a profile does: it is no baseline: %w", r.ID, runs.ErrInput)
	}
	repeatAs(load, r, cmd.Flags())
	return &baseline{r, options}, nil
}

// besideBaseline are the flags that do not say what is measured.
var besideBaseline = []string{"baseline", "tolerance", "force", "repeats", "until", "max-repeats", "redeploy", "start-alone", "seed",
	"strict", "html", "openmetrics", "output", "quiet", "results"}

// repeatAs gives a load the repeats of a run, where the flags do not say another.
func repeatAs(load *api.Load, r trial.Run, flags *pflag.FlagSet) {
	for _, name := range []string{"repeats", "until", "max-repeats", "redeploy", "start-alone"} {
		if flags.Changed(name) {
			return
		}
	}
	load.Repeats, load.Until, load.MaxRepeats, load.Redeploy, load.StartAlone = r.Repeats, api.Share(r.Until), r.MaxRepeats, r.Redeploy, r.StartAlone
}

// conditionsOf a load; or of the baseline, over a chain that may have another
// length now.
func conditionsOf(load api.Load, length int, h *runs.Host, b *baseline) ([]trial.Condition, error) {
	if b == nil {
		return runs.Conditions(load, length, nil, registry.Tools, h.Features)
	}
	out := slices.Clone(b.run.Conditions)
	for i, c := range out {
		if c.Path == trial.PathChain {
			out[i].Length = length
		}
		tool := slices.IndexFunc(registry.Tools, func(t traffic.Tool) bool { return t.Name() == c.Tool })
		if tool < 0 {
			return nil, fmt.Errorf("run %s was measured with %s, which this nfchain does not know: %w", b.run.ID, c.Tool, runs.ErrInput)
		}
		if err := h.Features.Missing(registry.Tools[tool].Requires()...); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// allows refuses to measure what could not be compared afterwards.
func (b *baseline) allows(environment trial.Environment) error {
	if b == nil || b.options.Force {
		return nil
	}
	if err := report.CheckAlike(b.run, environment); err != nil {
		return fmt.Errorf("--baseline %s: %w; --force compares all the same: %w", b.run.ID, err, runs.ErrInput)
	}
	return nil
}

// compare puts the comparison into the report; its error is the gate's.
func (b *baseline) compare(rep *report.Report) error {
	if b == nil {
		return nil
	}
	c, err := report.Compare(report.New(b.run), *rep, b.options)
	if err != nil {
		return err
	}
	rep.Against = &c
	return worse(c)
}
