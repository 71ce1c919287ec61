package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/report"
	runs "nfchain.dev/nfchain/internal/run"
)

// errWorse is the gate of compare.
var errWorse = errors.New("the second run is worse")

func (a *app) compareCmd() *cobra.Command {
	var o report.CompareOptions
	cmd := &cobra.Command{
		Use: "compare RUN RUN", Short: "Compare two runs, condition by condition; exit with 1 if the second is worse",
		Long: `Compare two stored runs. Each metric of each condition they share comes as a ratio
with its interval and a verdict: better, worse, same or undecided. Runs from unlike
machines are refused unless --force, and then marked.`,
		Example: "  nfchain compare 20261121-0353 last", Args: cobra.ExactArgs(2),
	}
	var format *string
	cmd.RunE = does(func(cmd *cobra.Command, args []string) error {
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
		if n := c.Worse(); err == nil && n > 0 {
			err = fmt.Errorf("%w in %d metric(s)", errWorse, n)
		}
		return err
	})
	format = outputFlag(cmd, "text", "json")
	cmd.Flags().BoolVar(&o.Force, "force", false, "compare even runs from unlike machines")
	cmd.Flags().Float64Var(&o.Margin, "margin", 0.02, "change that does not matter, as a share")
	return cmd
}
