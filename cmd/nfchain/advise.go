package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/advise"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/registry"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

func (a *app) adviseCmd() *cobra.Command {
	var goal string
	var where []string
	var force bool
	cmd := &cobra.Command{
		Use: "advise RUN...", Short: "Say which of the chains that were measured to use for a goal",
		Long: `Say of stored runs which wiring, settings, order and grouping of the same functions
to use for a goal, what the other choices cost, and what the runs do not tell. Where
nothing surely meets the goal it says so: "cannot tell" if something may, else that
nothing does.

A goal is clauses with commas between, all of which are to be kept. The words are
` + strings.Join(advise.Words(), ", ") + `, each
with <, <=, > or >= and a value with its unit. Throughput is what a search for a load
without loss found, or else goodput without loss; latency is the mean, connect that of
transactions which make a connection each (tcp_crr), and setup how long the chain took
to come up. With tcp, udp, latency, tcp_rr, udp_rr, tcp_crr or http before it a clause is about
that protocol alone; without, about all that were measured.

Runs from unlike machines are refused unless --force, and then marked.`,
		Example: "  nfchain advise last --goal \"throughput > 10Gbit, p99 < 200us\"\n  nfchain advise 20261121-0353 last --goal \"udp loss <= 0.1%, packets > 1Mpps\" --where flows=8 -o json",
		Args:    cobra.MinimumNArgs(1), ValidArgsFunction: a.completeRuns,
	}
	var format *string
	cmd.RunE = does(func(cmd *cobra.Command, args []string) error {
		o, err := adviceOptions(goal, where, force)
		if err != nil {
			return err
		}
		all, err := a.findAll(cmd, args)
		if err != nil {
			return err
		}
		advice, err := advise.Make(subjectsOf(all), o)
		if err != nil {
			return fmt.Errorf("%w: %w", err, runs.ErrInput)
		}
		if *format == "json" {
			return advice.JSON(a.stdout)
		}
		return advice.Text(a.stdout)
	})
	format = outputFlag(cmd, "text", "json")
	f := cmd.Flags()
	f.StringVar(&goal, "goal", "", "what is wanted, such as \"goodput > 10Gbit, p99 < 200us\"")
	f.StringSliceVar(&where, "where", nil, "only conditions with this value of a field, such as flows=8")
	f.BoolVar(&force, "force", false, "advise even on runs from unlike machines; such advice is marked")
	return cmd
}

func adviceOptions(goal string, where []string, force bool) (o advise.Options, err error) {
	o.Force = force
	if o.Goal, err = advise.ParseGoal(goal); err != nil {
		return o, fmt.Errorf("--goal: %w: %w", err, runs.ErrInput)
	}
	o.Where, err = selection(where)
	return o, err
}

// selection reads FIELD=VALUE.
func selection(pairs []string) (map[string]any, error) {
	where := map[string]any{}
	for _, p := range pairs {
		field, text, is := strings.Cut(p, "=")
		if !is || field == "" || text == "" {
			return nil, fmt.Errorf("--where %q is not a field and a value; write such as flows=8: %w", p, runs.ErrInput)
		}
		where[field] = scalar(text)
	}
	return where, nil
}

// scalar is what a file would have for a text: a number, true or false, or the text.
func scalar(text string) any {
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(n) {
		return n
	}
	return text
}

// subjectsOf are the runs, each once, with the chains that their files say.
func subjectsOf(all []trial.Run) (subjects []advise.Subject) {
	seen := map[string]bool{}
	for _, r := range all {
		if !seen[r.ID] {
			subjects = append(subjects, advise.Subject{Run: r, Chains: chainsOf(r)})
		}
		seen[r.ID] = true
	}
	return subjects
}

// chainsOf a run's conditions; nil where its file can no longer be read.
func chainsOf(r trial.Run) []api.ChainSpec {
	f, err := registry.Words().Decode(r.ID, []byte(r.Spec))
	if err != nil {
		return nil
	}
	chainOf, err := chainFinder(f, r)
	if err != nil {
		return nil
	}
	chains := make([]api.ChainSpec, len(r.Conditions))
	for i, c := range r.Conditions {
		chains[i] = chainOf(c)
	}
	return chains
}

// errNoChain is for a file that does not have what a run was of.
var errNoChain = errors.New("the file has no such chain")

// chainFinder tells the chain of a run's conditions by the file that it was made from.
func chainFinder(f *api.File, r trial.Run) (func(trial.Condition) api.ChainSpec, error) {
	if r.Experiment == "" {
		for _, c := range f.Chains {
			if c.Metadata.Name == r.Chain {
				return func(trial.Condition) api.ChainSpec { return c.Spec }, nil
			}
		}
		return nil, errNoChain
	}
	if len(f.Experiments) != 1 {
		return nil, errNoChain
	}
	points, err := experiment.Points(experiment.OnMachine(f.Experiments[0].Spec, r.Environment), registry.Words())
	points = experiment.WithPointsOf(points, r)
	return func(c trial.Condition) api.ChainSpec {
		for _, p := range points {
			if len(p.Factors) == len(c.Factors) && experiment.Matches(trial.Condition{Factors: c.Factors}, p.Factors) {
				return p.Chain
			}
		}
		return api.ChainSpec{}
	}, err
}
