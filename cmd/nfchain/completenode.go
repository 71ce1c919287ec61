package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/plan"
)

// completer gives what a word of the command line can be that is begun, args being those before it.
type completer = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

const (
	noFiles  = cobra.ShellCompDirectiveNoFileComp
	asListed = noFiles | cobra.ShellCompDirectiveKeepOrder // along the chain, or the newest first
	anyFile  = cobra.ShellCompDirectiveDefault
)

// completeNames names the chains and functions that are there and that the line has not yet, for commands that take no file.
func completeNames(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return slices.DeleteFunc(ownersFrom(begun), func(name string) bool { return slices.Contains(args, name) }), noFiles
}

// ownersFrom are the chains and functions whose names begin so.
func ownersFrom(begun string) []string {
	owners, err := deploy.Owners()
	if err != nil {
		return nil // the command itself says what is wrong
	}
	return slices.DeleteFunc(owners, func(name string) bool { return !strings.HasPrefix(name, begun) })
}

// completeChain names the chains that are there, and files, for a command of one.
func completeChain(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	return orFiles(ownersFrom(begun), begun)
}

// orFiles has files beside names, which shells list where there is no name alone.
func orFiles(names []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(names) == 0 {
		return nil, anyFile
	}
	found, _ := filepath.Glob(quoteMeta.Replace(begun) + "*")
	how := asListed
	for _, name := range found {
		info, err := os.Stat(name)
		switch {
		case err != nil:
		case info.IsDir():
			names, how = append(names, name+"/"), how|cobra.ShellCompDirectiveNoSpace
		case isFileName(name):
			names = append(names, name)
		}
	}
	return names, how
}

// quoteMeta has a path stand for itself in a pattern.
var quoteMeta = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// completeNode names the chains that are there, and files, and behind one of these, or CHAIN/, its nodes; as many as a command takes.
func (a *app) completeNode(most int, nodes func(*plan.Plan) []string) completer {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			names := ownersFrom(begun)
			if chain, _, split := splitNode(begun); split {
				for _, node := range a.nodesIn(cmd, chain, nodes) {
					names = append(names, chain+"/"+node)
				}
			}
			return orFiles(begins(names, begun), begun)
		}
		if _, _, split := splitNode(args[0]); split || len(args) > most {
			return nil, noFiles
		}
		return begins(without(a.nodesIn(cmd, args[0], nodes), args[1:]), begun), asListed
	}
}

// nodesIn a chain, by its name or its file; none where there is none, as the command itself says.
func (a *app) nodesIn(cmd *cobra.Command, chain string, nodes func(*plan.Plan) []string) []string {
	p, err := a.planned(cmd.Context(), chain)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(nodes(p), func(name string) bool { return strings.HasPrefix(name, "_") }) // the wiring's own
}

// completeInside is completeNode for exec, whose words behind the node are a program's.
func (a *app) completeInside(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	names, how := a.completeNode(1, nodesOf)(cmd, args, begun)
	if len(args) > 0 && len(names) == 0 {
		return nil, anyFile
	}
	return names, how
}

// hopsOf a plan are the names that captures are of.
func hopsOf(p *plan.Plan) (names []string) {
	for i, n := range p.Nodes {
		if !n.Again() && n.Kind != plan.StopKind { // which has the name of the first function at it
			names = append(names, n.InFile())
		}
		if n.Name != n.InFile() {
			names = append(names, n.Name)
		}
		for _, m := range n.Functions {
			names = append(names, m.Name)
		}
		for _, f := range p.InlineAfter(i) {
			names = append(names, f.Name)
		}
	}
	return names
}

// goalsOf a plan are the names that flows go to.
func goalsOf(p *plan.Plan) (names []string) {
	for _, n := range p.Nodes {
		if n.Again() || n.Kind == plan.StopKind {
			continue
		}
		names = append(names, n.InFile())
		for _, m := range n.Functions {
			names = append(names, m.Name)
		}
	}
	return names
}

// completeFlow completes what explain takes: a chain, a protocol, and where the flow begins and ends.
func (a *app) completeFlow(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return completeChain(cmd, args, begun)
	case 1:
		return begins(api.ProtocolNames(), begun), asListed
	case 2:
		return begins(a.nodesIn(cmd, args[0], endsOf), begun), asListed
	case 3:
		from, _, _ := strings.Cut(args[2], ":")
		names := begins(without(a.nodesIn(cmd, args[0], goalsOf), []string{from}), begun)
		if api.Protocol(args[1]).Ported() {
			return names, asListed | cobra.ShellCompDirectiveNoSpace // a port follows
		}
		return names, asListed
	}
	return nil, noFiles
}

// completeEnd names the ends of the chain that a command is of.
func (a *app) completeEnd(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, noFiles
	}
	return begins(a.nodesIn(cmd, args[0], endsOf), begun), asListed
}

// endsOf a plan are its endpoints.
func endsOf(p *plan.Plan) (names []string) {
	for _, n := range p.Nodes {
		if n.Kind == "endpoint" && !n.Again() {
			names = append(names, n.Name)
		}
	}
	return names
}

func begins(names []string, begun string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, begun) })
}

func without(names, others []string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(others, name) })
}
