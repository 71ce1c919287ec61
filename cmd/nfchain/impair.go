package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/impair"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

func (a *app) impairProgramCmd() *cobra.Command {
	var ready bool
	cmd := &cobra.Command{
		Use: impair.Command + " CHAIN FUNCTION CONFIG", Short: "Impair the packets of this namespace's tun devices", Hidden: true, Args: cobra.ExactArgs(3),
		Example: "  nfchain " + impair.Command + ` edge lossy '{"ways": [{"name": "forward", "device": "impair0"}], "loss": {"every": 1000}, "limit": 1000}'`,
	}
	cmd.Flags().BoolVar(&ready, "ready", false, "only tell whether such a program gets packets")
	cmd.RunE = does(func(cmd *cobra.Command, args []string) error {
		config, err := impair.Decode(args[2])
		if err != nil {
			return fmt.Errorf("%w: %w", err, runs.ErrInput)
		}
		if ready {
			return impair.Ready(config)
		}
		return impair.Run(cmd.Context(), config, deploy.RecordFile(args[0], args[1]))
	})
	return cmd
}

// printImpairments tells what an impair function did, and how late its packets left.
func (a *app) printImpairments(n runs.NodeState) error {
	if len(n.Impairments) == 0 {
		return nil
	}
	a.printf("\n")
	w := a.table(n.Name + "\tSEEN\tDROPPED\tDUPLICATED\tREORDERED\tDELAYED\tOVERFLOWED\tUNREAD\tLEFT\tLATE P50\tP99\tMAX")
	for _, i := range n.Impairments {
		h, err := trial.DecodeHistogram(i.Late)
		if err != nil {
			return err
		}
		late := func(percentile float64) string {
			if h.TotalCount() == 0 {
				return "-"
			}
			return fmt.Sprintf("%.1f µs", trial.Percentile(h, percentile)/1000)
		}
		w.row("%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n", i.Direction, i.Seen, i.Dropped, i.Duplicated, i.Reordered, i.Delayed,
			i.Overflowed, i.Unread, i.Left, late(50), late(99), late(100))
	}
	return w.end()
}
