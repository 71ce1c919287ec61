package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
)

// privileged runs a command that needs to make namespaces. Without root it goes on
// inside a user namespace of the user's, as root of that.
func (a *app) privileged(fn func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if os.Geteuid() == 0 {
			return fn(cmd, args)
		}
		err := netns.JoinHolder(a.args[1:])
		if !errors.Is(err, netns.ErrNoUserNamespace) {
			return acted{err}
		}
		set := feature.Probe(cmd.Context(), feature.Host())
		if missing := set.Missing(feature.UserNS); missing != nil {
			return acted{missing}
		}
		return acted{fmt.Errorf("%w: %w; run as root instead", feature.ErrMissing, err)}
	}
}

func (a *app) holdCmd() *cobra.Command {
	cmd := &cobra.Command{Use: netns.HoldCommand, Short: "Keep a user namespace alive", Hidden: true, Args: cobra.NoArgs,
		Example: "  nfchain hold"}
	cmd.RunE = does(func(*cobra.Command, []string) error { return netns.Hold() })
	return cmd
}
