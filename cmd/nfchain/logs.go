package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/plan"
	runs "nfchain.dev/nfchain/internal/run"
)

func (a *app) logsCmd() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use: "logs NAME [NODE...]", Short: "Print what functions' programs wrote",
		Long: `Print what the program of a chain's function or endpoint wrote, or that of a standalone function, and of a function
that is watched (onFailure) when it failed and was well again. Without NODE, or with several, it is what all of the chain's
nodes that have logs wrote, or these, each line behind its node's name; --follow goes on with those that begin to write, too. A
line that tells its time, as 2026-11-21T03:53:52Z or 2026/11/21 03:53:52 near its beginning, is in that order, one that does not
stays behind the one that its node wrote before, and a log in which none does is where its last line was written. Of
more than 16 MiB of a node the newest 8 are kept, below /run: a program that begins to write after it was
silent is looked at within 8 s, and while it writes twice a second. NAME/NODE is NAME NODE, and
the chain's file may stand for NAME.`,
		Example: "  nfchain logs edge proxy\n  nfchain logs edge/proxy\n  nfchain logs edge proxy --follow\n  nfchain logs edge\n  nfchain logs edge proxy fw -f", Args: cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeNode(math.MaxInt, nodesOf),
	}
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		name, nodes, err := someNodes(args)
		if err != nil {
			return err
		}
		p, err := a.planned(cmd.Context(), name)
		if err != nil {
			return err
		}
		if len(nodes) == 1 || p.Alone() && len(nodes) == 0 {
			return a.logOf(cmd, name, append(nodes, "")[0], follow)
		}
		logs, err := a.logsOf(cmd, p, name, nodes)
		if err != nil {
			return err
		}
		return printLogs(cmd.Context(), a.stdout, logs, follow)
	}))
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on printing what is written, until interrupted")
	return cmd
}

// logOf one node is printed as it is.
func (a *app) logOf(cmd *cobra.Command, name, node string, follow bool) error {
	p, n, err := a.node(cmd, name, node)
	if err != nil {
		return err
	}
	log, err := openLog(p.Chain, n.Name)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	if _, err := io.Copy(a.stdout, log); err != nil || !follow {
		return err
	}
	return tail(cmd.Context(), a.stdout, log)
}

// openLog of a node that has one.
func openLog(chain, node string) (*os.File, error) {
	log, err := os.Open(deploy.LogFile(chain, node))
	if errors.Is(err, os.ErrNotExist) {
		return nil, unlogged(chain, node)
	}
	return log, err
}

// logsOf the nodes of a chain that are named, which must have some, or of all that may, of which one must.
func (a *app) logsOf(cmd *cobra.Command, p *plan.Plan, name string, nodes []string) (logs []*nodeLog, err error) {
	for _, node := range nodes {
		_, n, err := a.node(cmd, name, node)
		if err != nil {
			return nil, err
		}
		log, err := openLog(p.Chain, n.Name)
		if err != nil {
			return nil, err
		}
		_ = log.Close()
		logs = append(logs, &nodeLog{node: n.Name, path: deploy.LogFile(p.Chain, n.Name)})
	}
	if len(nodes) > 0 {
		return logs, nil
	}
	for _, node := range nodesOf(p) {
		logs = append(logs, &nodeLog{node: node, path: deploy.LogFile(p.Chain, node)})
	}
	if !slices.ContainsFunc(logs, (*nodeLog).isThere) {
		return nil, a.noneLogged(p.Chain)
	}
	return logs, nil
}

// noneLogged says why a chain has no logs.
func (a *app) noneLogged(chain string) error {
	nodes, err := deploy.Nodes(chain)
	if err == nil && len(nodes) == 0 {
		err = fmt.Errorf("%s is not up; bring it up first, by `nfchain up`: %w", chain, runs.ErrInput)
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("no node of chain %s has a log: %s: %w", chain, whoLogs, runs.ErrInput)
}

// whoLogs says which nodes have logs.
const whoLogs = "only functions of kind command, endpoints with a command, and functions with onFailure that have failed once, have logs"

// unlogged says why a node has no log.
func unlogged(chain, node string) error {
	watched, err := runs.OnWatch(chain)
	if err != nil {
		return err
	}
	if watched.Has(node) {
		return fmt.Errorf("%s has nothing in its log: it is watched (onFailure), and has neither failed nor written anything since it is up; `nfchain show %s` tells its health: %w", node, chain, runs.ErrInput)
	}
	return fmt.Errorf("%s runs no program, or it has written nothing; %s: %w", node, whoLogs, runs.ErrInput)
}

// printLogs of several nodes, each line behind its node's name, until the context ends where they are followed.
func printLogs(ctx context.Context, w io.Writer, logs []*nodeLog, follow bool) error {
	width := 0
	for _, l := range logs {
		if follow || l.isThere() {
			width = max(width, len(l.node))
		}
	}
	defer closeLogs(logs)
	out := func(l *nodeLog, line []byte) error {
		_, err := fmt.Fprintf(w, "%-*s | %s\n", width, l.node, line)
		return err
	}
	if follow {
		return followLogs(ctx, logs, out)
	}
	return mergeLogs(logs, true, out)
}
