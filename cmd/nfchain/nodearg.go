package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/namespace"
	runs "nfchain.dev/nfchain/internal/run"
)

// splitNode takes CHAIN/NODE apart: what has a slash and is not a file's name.
func splitNode(arg string) (chain, node string, is bool) {
	i := strings.LastIndexByte(arg, '/')
	if i < 0 || isFileName(arg) {
		return arg, "", false
	}
	chain, node = arg[:i], arg[i+1:]
	return chain, node, isFileName(chain) || api.CheckName(chain) == nil
}

// nodeOf takes a chain and its node from arguments that begin with CHAIN/NODE or with CHAIN and perhaps NODE; rest is what follows
// CHAIN or CHAIN/NODE.
func nodeOf(args []string) (chain, node string, rest []string, err error) {
	chain, node, split := splitNode(args[0])
	if split && node == "" {
		err = fmt.Errorf("%s names no node behind the /: %w", args[0], runs.ErrInput)
	}
	return chain, node, args[1:], err
}

// oneNode is nodeOf where nothing follows.
func oneNode(args []string) (chain, node string, err error) {
	chain, node, rest, err := nodeOf(args)
	if err == nil && node != "" && len(rest) > 0 {
		return "", "", fmt.Errorf("%s names a node, so leave %s out, or write %s %s: %w", args[0], rest[0], chain, rest[0], runs.ErrInput)
	}
	if len(rest) > 0 {
		node = rest[0]
	}
	return chain, node, err
}

// someNodes is oneNode where several may follow CHAIN.
func someNodes(args []string) (chain string, nodes []string, err error) {
	chain, node, rest, err := nodeOf(args)
	if err == nil && node != "" && len(rest) > 0 {
		return "", nil, fmt.Errorf("%s names a node; of several write %s: %w", args[0], strings.Join(slices.Concat([]string{chain, node}, rest), " "), runs.ErrInput)
	}
	if node != "" {
		rest = []string{node}
	}
	return chain, rest, err
}

// wholeChain refuses CHAIN/NODE where a command is of all nodes.
func wholeChain(arg string) error {
	chain, node, is := splitNode(arg)
	if !is {
		return nil
	}
	return fmt.Errorf("there is no file %q, and this command is of a whole chain, not of its node %s: write %s alone; `nfchain capture %s`, and exec and logs, are of a node: %w", arg, node, chain, arg, runs.ErrInput)
}

// known names the chains there are, and the one that may have been meant, where there is none of a name.
func known(err error, name string) error {
	if !errors.Is(err, runs.ErrUnknown) {
		return err
	}
	if _, unknown := deploy.Recall(name); unknown == nil {
		return err // it is there, and no chain
	}
	owners, failed := deploy.Owners()
	if failed != nil || len(owners) == 0 {
		return err
	}
	return fmt.Errorf("%q: %w; %s", name, runs.ErrUnknown, runs.Meant(name, "there are:", owners))
}

// nodesOf a plan are the names by which commands run in its nodes, with those of taps.
func nodesOf(p *plan.Plan) (names []string) {
	for _, n := range p.Nodes {
		if n.Again() {
			continue
		}
		names = append(names, n.Name)
		for _, m := range n.Functions {
			names = append(names, m.Name)
		}
	}
	for _, ns := range p.Namespaces() {
		if _, name, ok := namespace.Split(ns); ok && !slices.Contains(names, name) && netns.Exists(ns) {
			names = append(names, name)
		}
	}
	return names
}
