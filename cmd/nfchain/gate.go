package main

import (
	"fmt"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/report"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

func (a *app) gateCmd() *cobra.Command {
	var o report.GateOptions
	var tolerance string
	cmd := &cobra.Command{
		Use: "gate RUN...", Short: "Say what the gate of bench --baseline is worth, by trials that are stored",
		Long: `Draw pairs of samples from stored runs of one chain, compare them as bench --baseline
does, and count: false alarms between pairs of the same, and alarms where the second
is slowed down by a known share. Several runs show what differs between runs, too.`,
		Example: "  nfchain gate last\n  nfchain gate 20261121-0353 20261121-0410 last --tolerance 1% --pairs 500", Args: cobra.MinimumNArgs(1),
	}
	var format *string
	cmd.RunE = does(func(cmd *cobra.Command, args []string) error {
		share, err := api.ParseShare(tolerance)
		if err != nil {
			return fmt.Errorf("--tolerance: %w: %w", err, runs.ErrInput)
		}
		if o.Tolerance = float64(share); o.Pairs < 1 || o.Repeats < 0 {
			return fmt.Errorf("--pairs and --repeats count what is drawn: at least one: %w", runs.ErrInput)
		}
		all, err := a.findAll(cmd, args)
		if err != nil {
			return err
		}
		g, err := report.TryGate(all, o)
		if err != nil {
			return fmt.Errorf("%w: %w", err, runs.ErrInput)
		}
		if *format == "json" {
			return g.JSON(a.stdout)
		}
		return g.Text(a.stdout)
	})
	format = outputFlag(cmd, "text", "json")
	f := cmd.Flags()
	f.StringVar(&tolerance, "tolerance", "2%", "change that does not matter to the gate")
	f.IntVar(&o.Repeats, "repeats", 0, "repeats on each side of a pair (default: as many as the runs give)")
	f.IntVar(&o.Pairs, "pairs", 200, "pairs to draw")
	f.Int64Var(&o.Seed, "seed", 1, "seed of the draws")
	return cmd
}

// findAll reads several stored runs.
func (a *app) findAll(cmd *cobra.Command, refs []string) (all []trial.Run, err error) {
	store, err := a.stored()
	if err != nil {
		return nil, err
	}
	defer func() { _ = store.Close() }()
	for _, ref := range refs {
		r, err := find(cmd.Context(), store, ref)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
