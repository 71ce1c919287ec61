package main

import (
	"fmt"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	runs "nfchain.dev/nfchain/internal/run"
)

// repeatFlags say how often to repeat; until is read as a file's word is.
type repeatFlags struct {
	cmd   *cobra.Command
	until string
}

func (r *repeatFlags) register(cmd *cobra.Command, load *api.Load) {
	r.cmd = cmd
	f := cmd.Flags()
	f.IntVar(&load.Repeats, "repeats", load.Repeats, "trials of every condition; with --until at least, with --redeploy two an instance by default")
	f.StringVar(&r.until, "until", "", "repeat until the 95% interval of each condition's main metric is at most this wide, such as 2%")
	f.IntVar(&load.MaxRepeats, "max-repeats", 0, "most trials of every condition with --until (default 50)")
	f.IntVar(&load.Redeploy, "redeploy", 0, "make the chain anew this many times, with --until at least, the repeats spread over them")
	f.BoolVar(&load.StartAlone, "start-alone", false, "before each making have the engine start the chain's containers by themselves, for what the chain adds")
}

// read puts the flags into the load.
func (r *repeatFlags) read(load *api.Load) (err error) {
	if r.until != "" {
		if load.Until, err = api.ParseShare(r.until); err != nil {
			return fmt.Errorf("--until: %w: %w", err, runs.ErrInput)
		}
	}
	if load.Redeploy > 1 && !r.cmd.Flags().Changed("repeats") {
		load.Repeats = 2 * load.Redeploy
	}
	return nil
}
