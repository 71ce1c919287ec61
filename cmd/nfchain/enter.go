package main

import (
	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/engine"
)

func (a *app) enterCmd() *cobra.Command {
	cmd := &cobra.Command{Use: engine.EnterCommand, Short: "Become a container's program when its network is there", Hidden: true,
		Args: cobra.MinimumNArgs(1), Example: "  nfchain enter -- nginx"}
	cmd.RunE = does(func(_ *cobra.Command, args []string) error { return engine.Enter(args) })
	return cmd
}

func (a *app) idleCmd() *cobra.Command {
	cmd := &cobra.Command{Use: engine.IdleCommand, Short: "Do nothing until asked to end", Hidden: true, Args: cobra.NoArgs, Example: "  nfchain idle"}
	cmd.RunE = does(func(*cobra.Command, []string) error {
		engine.Idle()
		return nil
	})
	return cmd
}
