package main

import (
	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/traffic/rfc6349"
	"nfchain.dev/nfchain/internal/traffic/rr"
	"nfchain.dev/nfchain/internal/traffic/web"
)

// trafficCmds are the sides of the built-in traffic tools, which bench starts
// inside the ends of a chain.
func (a *app) trafficCmds() []*cobra.Command {
	return []*cobra.Command{a.transactCmd(), a.transferCmd(), a.surfCmd()}
}

// transactCmd is one side of a measurement of transactions.
func (a *app) transactCmd() *cobra.Command {
	cmd := &cobra.Command{Use: rr.Command + " SIDE SETTINGS", Short: "Be one side of a measurement of transactions", Hidden: true,
		Args: cobra.ExactArgs(2), Example: "  nfchain transact server '{\"protocol\": \"tcp_rr\", …}'"}
	cmd.RunE = does(func(_ *cobra.Command, args []string) error { return rr.Main(args, a.stdout, a.stderr) })
	return cmd
}

// transferCmd is one side of a test of TCP.
func (a *app) transferCmd() *cobra.Command {
	cmd := &cobra.Command{Use: rfc6349.Command + " SIDE SETTINGS", Short: "Be one side of a test of TCP", Hidden: true,
		Args: cobra.ExactArgs(2), Example: "  nfchain transfer server '{\"connections\": 1, …}'"}
	cmd.RunE = does(func(_ *cobra.Command, args []string) error { return rfc6349.Main(args, a.stdout, a.stderr) })
	return cmd
}

// surfCmd is one side of a load of a web server.
func (a *app) surfCmd() *cobra.Command {
	cmd := &cobra.Command{Use: web.Command + " SIDE SETTINGS", Short: "Be one side of a load of a web server", Hidden: true,
		Args: cobra.ExactArgs(2), Example: "  nfchain surf server '{\"connections\": 1, …}'"}
	cmd.RunE = does(func(_ *cobra.Command, args []string) error { return web.Main(args, a.stdout, a.stderr) })
	return cmd
}
