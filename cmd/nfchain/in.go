package main

import (
	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/engine"
)

func (a *app) inCmd() *cobra.Command {
	cmd := &cobra.Command{Use: engine.InCommand + " DIR", Short: "Become a command that runs in a directory", Hidden: true,
		Args: cobra.MinimumNArgs(2), Example: "  nfchain in /srv -- ls"}
	cmd.RunE = does(func(_ *cobra.Command, args []string) error { return engine.In(args[0], args[1:]) })
	return cmd
}
