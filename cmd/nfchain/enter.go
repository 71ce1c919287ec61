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

func (a *app) besideCmd() *cobra.Command {
	cmd := &cobra.Command{Use: engine.BesideCommand, Short: "Become the program of a container in another's network, when that is there", Hidden: true,
		Args: cobra.MinimumNArgs(1), Example: "  nfchain enter-beside -- nginx"}
	cmd.RunE = does(func(_ *cobra.Command, args []string) error { return engine.EnterBeside(args) })
	return cmd
}

func (a *app) hostedCmd() *cobra.Command {
	cmd := &cobra.Command{Use: engine.HostedCommand + " NAME", Short: "Become the program of a container in the machine's own network", Hidden: true,
		Args: cobra.MinimumNArgs(2), Example: "  nfchain enter-hosted -- nfchain.edge.web nginx"}
	cmd.RunE = does(func(_ *cobra.Command, args []string) error { return engine.EnterHosted(args) })
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

func (a *app) inCmd() *cobra.Command {
	cmd := &cobra.Command{Use: engine.InCommand + " DIR", Short: "Become a command that runs in a directory", Hidden: true,
		Args: cobra.MinimumNArgs(2), Example: "  nfchain in /srv -- ls"}
	cmd.RunE = does(func(_ *cobra.Command, args []string) error { return engine.In(args[0], args[1:]) })
	return cmd
}
