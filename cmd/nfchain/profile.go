package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/feature"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trace"
)

func (a *app) profileCmd() *cobra.Command {
	var d time.Duration
	var frequency int
	cmd := &cobra.Command{
		Use: "profile CHAIN", Short: "Sample where the cores are while a chain carries packets, by hop; as a flame graph too",
		Long: `Look many times a second where each core is, in the kernel and in programs, and say
at which hop's packets. It carries no traffic of its own: run nfchain bench meanwhile.
The clock is the kernel's own, so that virtual machines have it too. Stacks come as a
flame graph (-o svg), or a line each for other tools (-o folded).`,
		Example: "  nfchain profile edge --for 10s -o svg > edge.svg",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.completeChains,
	}
	var o *string
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		if d <= 0 || frequency < 1 || frequency > 10000 {
			return fmt.Errorf("--for takes a time, --frequency 1 to 10000: %w", runs.ErrInput)
		}
		if err := a.host(cmd.Context()).Features.Missing(feature.BPFTrace); err != nil {
			return err
		}
		p, err := a.planned(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		profile, err := trace.Sample(cmd.Context(), runs.Traced(p), d, frequency)
		if err != nil {
			return err
		}
		switch *o {
		case "json":
			return a.printJSON(profile)
		case "svg":
			return profile.SVG(a.stdout)
		case "folded":
			return profile.Folded(a.stdout)
		}
		return profile.Text(a.stdout)
	}))
	o = outputFlag(cmd, "text", "json", "svg", "folded")
	cmd.Flags().DurationVar(&d, "for", 5*time.Second, "how long to look")
	cmd.Flags().IntVar(&frequency, "frequency", trace.DefaultFrequency, "samples of each core per second")
	return cmd
}
