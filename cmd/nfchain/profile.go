package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/profile"
	"nfchain.dev/nfchain/internal/registry"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

// profileFlags say how to sample, and what comes of it.
type profileFlags struct {
	options     profile.Options
	pairs       int
	svg, output string
	// look is how long to sample the load that is there; 0 offers one.
	look time.Duration
}

func (a *app) profileCmd() *cobra.Command {
	var l loadFlags
	var p profileFlags
	cmd := &cobra.Command{
		Use: "profile FILE|CHAIN", Short: "Show what the cores execute while a chain carries load, by hop and as a flame graph",
		Long: `Offer load to a chain, sample meanwhile what every core executes, in the kernel and in
programs, and show it by node, by function and core by core: where the time goes, and so
where a wiring stops scaling. Shares are of the samples in which a core did not idle, with
95% intervals. Given a file, the chain is deployed first and removed after.

A process counts for the node in whose network namespace it is. A softirq counts for the
node that has the packet, where the kernel takes BPF programs (Linux 5.5 or newer with BTF);
as (softirq) if no packet of the chain is known there. Processes elsewhere are (outside).

Stacks of programs are as deep as they keep frame pointers; what has no symbol is
[unknown]. Trials with sampling come in turn with trials without, which shows its cost;
both are stored as a run. With --for, a chain that is up is sampled as it is, and no load
is offered. As root only.`,
		Example: `  nfchain profile edge --svg edge.svg
  nfchain profile examples/edge-chain.yaml --traffic builtin --frame-size 64 --pairs 0
  nfchain profile edge --protocol udp --rate 2Gbit --duration 10s -o folded
  nfchain profile edge --for 10s -o svg > edge.svg`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeChain,
	}
	var o *string
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		p.output = *o
		if err := p.check(); err != nil {
			return err
		}
		if cmd.Flags().Changed("for") {
			return a.look(cmd, args[0], p)
		}
		load, err := l.read(cmd)
		if err != nil {
			return err
		}
		if len(load.Protocols) != 1 {
			return fmt.Errorf("--protocol: one at a time is profiled, not %d: %w", len(load.Protocols), runs.ErrInput)
		}
		load.Repeats = max(1, p.pairs)
		return a.profile(cmd.Context(), args[0], load, l.seed, p)
	}))
	o = outputFlag(cmd, "text", "folded", "svg", "json")
	l.registerOffered(cmd)
	f := cmd.Flags()
	f.IntVar(&p.options.Frequency, "frequency", 499, "samples a second on each core; an odd number keeps clear of what comes at round ones")
	f.BoolVar(&p.options.Softirq, "softirq", true, "tell the node whose packets a softirq has, which costs a little of each packet")
	f.IntVar(&p.pairs, "pairs", 3, "trials with sampling, each beside one without; 0 is one trial, whose cost is not known")
	f.DurationVar(&p.look, "for", 0, "offer no load, and sample for so long what a chain that is up carries")
	f.StringVar(&p.svg, "svg", "", "write a flame graph, an SVG file that needs nothing else")
	return cmd
}

func (p profileFlags) check() error {
	switch {
	case p.options.Frequency < 1 || p.options.Frequency > profile.MaxFrequency:
		return fmt.Errorf("--frequency: 1 to %d are possible, not %d: %w", profile.MaxFrequency, p.options.Frequency, runs.ErrInput)
	case p.look < 0:
		return fmt.Errorf("--for: a time cannot be less than nothing: %w", runs.ErrInput)
	case p.pairs < 0 || p.pairs > 1000:
		return fmt.Errorf("--pairs: 0 to 1000 are possible, not %d: %w", p.pairs, runs.ErrInput)
	}
	return checkWritable("svg", p.svg)
}

// profiled is what trials come to while they are sampled.
type profiled struct {
	options profile.Options
	chain   profile.Chain
	samples profile.Samples
}

// sampling is the index of the condition that is sampled.
const sampling = 0

// beside samples the trials of one condition, and not those of the other.
func (p *profiled) beside(chain *plan.Plan, condition int) (func() error, error) {
	p.chain = runs.Profiled(chain)
	if condition != sampling {
		return func() error { return nil }, nil
	}
	s, err := profile.Start(p.chain, p.options)
	if err != nil {
		return nil, err
	}
	return func() error {
		seen, err := s.Stop()
		p.samples.Add(seen)
		return err
	}, nil
}

func (a *app) profile(ctx context.Context, arg string, load api.Load, seed int64, p profileFlags) error {
	h := a.host(ctx)
	if err := h.Features.Missing(feature.PerfEvents); err != nil {
		return err
	}
	seen := &profiled{options: p.options}
	m := &runs.Measurement{Host: h, Tools: registry.Tools, Now: a.now, Trial: a.trial, Beside: seen.beside}
	chain, spec, lock, err := a.holdSubject(ctx, h, arg, m)
	if err != nil {
		return err
	}
	defer lock.Release()
	if err := h.NeedsHops(chain.Spec.Wiring, h.Catalogue.OnMachine(chain.Spec), "profile"); err != nil {
		return err
	}
	if err := mayDeploy(h, chain.Metadata.Name, m.Keep); err != nil {
		return err
	}
	if load, err = runs.Placed(chain, load); err != nil {
		return err
	}
	r := a.newRun(h, chain.Metadata.Name, spec, seed, load)
	if r.Conditions, err = sampledConditions(load, chain.Spec.Length(), h, p); err != nil {
		return err
	}
	if err := h.Offers(chain, r.Conditions, registry.Tools); err != nil {
		return err
	}
	for range r.Conditions {
		m.Chains = append(m.Chains, chain)
	}
	if err := a.storeRun(ctx, m, &r); err != nil {
		return err
	}
	return a.showProfile(seen, r, p)
}

// storeRun runs a measurement whose trials are kept.
func (a *app) storeRun(ctx context.Context, m *runs.Measurement, r *trial.Run) error {
	if err := runs.Calibrate(ctx, r.Conditions, m.Tools); err != nil {
		return err
	}
	store, err := a.store()
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	if err := store.CreateRun(ctx, *r); err != nil {
		return err
	}
	m.Store = store
	err = m.Run(ctx, r)
	a.bar.clear()
	return err
}

// sampledConditions are the load with sampling, and without.
func sampledConditions(load api.Load, length int, h *runs.Host, p profileFlags) ([]trial.Condition, error) {
	with, err := runs.Conditions(load, length, map[string]any{samplingFactor: p.options.Frequency}, registry.Tools, h.Features)
	if err != nil || p.pairs == 0 {
		return with, err
	}
	without, err := runs.Conditions(load, length, map[string]any{samplingFactor: 0}, registry.Tools, h.Features)
	return append(with, without...), err
}

// samplingFactor is what sets the conditions of a profile apart.
const samplingFactor = "sampling_hz"

func (a *app) showProfile(seen *profiled, r trial.Run, p profileFlags) error {
	rep := profile.NewReport(seen.chain, seen.samples)
	rep.Run, rep.Condition, rep.Overhead = r.ID, &r.Conditions[sampling], overhead(r)
	rep.Warnings = append(rep.Warnings, r.Warnings...)
	return a.writeProfile(rep, seen.samples, p)
}

func (a *app) writeProfile(rep profile.Report, samples profile.Samples, p profileFlags) error {
	if p.svg != "" {
		if err := writeFile(p.svg, func(w io.Writer) error {
			_, err := io.WriteString(w, flame(rep).SVG())
			return err
		}); err != nil {
			return err
		}
		a.say("flame graph written to %s", p.svg)
	}
	switch p.output {
	case "json":
		return a.printJSON(rep)
	case "folded":
		return samples.Folded(a.stdout)
	case "svg":
		a.printf("%s\n", flame(rep).SVG())
		return nil
	}
	return rep.Text(a.stdout)
}
