package main

import (
	"time"

	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/profile"
	runs "nfchain.dev/nfchain/internal/run"
)

// besideLook are the flags of a profile that say nothing of a load.
var besideLook = []string{"for", "frequency", "softirq", "svg", "output", "quiet", "results"}

// look samples a chain that is up, with the load that it has.
func (a *app) look(cmd *cobra.Command, name string, p profileFlags) error {
	if err := onlyFlags(cmd, besideLook, "--for offers no load"); err != nil {
		return err
	}
	ctx := cmd.Context()
	if err := a.host(ctx).Features.Missing(feature.PerfEvents); err != nil {
		return err
	}
	made, err := a.live(ctx, name, "profile")
	if err != nil {
		return err
	}
	chain := runs.Profiled(made)
	s, err := profile.Start(chain, p.options)
	if err != nil {
		return err
	}
	enough := time.NewTimer(p.look)
	defer enough.Stop()
	select {
	case <-ctx.Done():
	case <-enough.C:
	}
	samples, err := s.Stop()
	if err != nil {
		return err
	}
	return a.writeProfile(profile.NewReport(chain, samples), samples, p)
}
