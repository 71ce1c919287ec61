package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/report"
	runs "nfchain.dev/nfchain/internal/run"
)

// errWorse is the gate of compare and of bench --baseline.
var errWorse = errors.New("slower than before")

func (a *app) compareCmd() *cobra.Command {
	var g compareFlags
	cmd := &cobra.Command{
		Use: "compare RUN RUN", Short: "Compare two runs, condition by condition; exit with 1 if the second is slower",
		Long: `Compare two stored runs. Each metric of each condition they share comes as a ratio
with its interval and a verdict: better, worse, same or undecided. The second run as
a whole is slower, faster, the same or undecided by the main metric of each condition
through the chain, all intervals together holding with 95%. Worse is what is surely
on the wrong side of 1 and more than --tolerance from it; so is a condition whose trials
all failed in the second run alone.

Runs from unlike machines are refused unless --force, and then marked.`,
		Example: "  nfchain compare 20261121-0353 last\n  nfchain compare 20261121-0353 last --tolerance 5% -o json", Args: cobra.ExactArgs(2),
		ValidArgsFunction: a.completeRuns,
	}
	var format *string
	cmd.RunE = does(func(cmd *cobra.Command, args []string) error {
		o, err := g.read()
		if err != nil {
			return err
		}
		store, err := a.stored()
		if err != nil {
			return err
		}
		defer func() { _ = store.Close() }()
		first, err := find(cmd.Context(), store, args[0])
		if err != nil {
			return err
		}
		second, err := find(cmd.Context(), store, args[1])
		if err != nil {
			return err
		}
		c, err := report.Compare(report.New(first), report.New(second), o)
		if err != nil {
			return fmt.Errorf("%w: %w", err, runs.ErrInput)
		}
		if *format == "json" {
			err = c.JSON(a.stdout)
		} else {
			err = c.Text(a.stdout)
		}
		if err == nil {
			err = worse(c)
		}
		return err
	})
	format = outputFlag(cmd, "text", "json")
	g.register(cmd)
	return cmd
}

// compareFlags say how to compare.
type compareFlags struct {
	force     bool
	tolerance string
}

func (g *compareFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&g.force, "force", false, "compare even runs from unlike machines; such comparisons are marked")
	cmd.Flags().StringVar(&g.tolerance, "tolerance", "2%", "change that does not matter")
}

func (g *compareFlags) read() (o report.CompareOptions, err error) {
	share, err := api.ParseShare(g.tolerance)
	if err != nil {
		return o, fmt.Errorf("--tolerance: %w: %w", err, runs.ErrInput)
	}
	return report.CompareOptions{Force: g.force, Tolerance: float64(share)}, nil
}

// worse is the gate over a comparison.
func worse(c report.Comparison) error {
	if lines := c.Worse(); len(lines) > 0 {
		return fmt.Errorf("%w: %s", errWorse, strings.Join(lines, "; "))
	}
	return nil
}
