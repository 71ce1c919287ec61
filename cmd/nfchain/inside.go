package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/supervise"
)

func (a *app) execCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "exec NAME [NODE] -- COMMAND [ARG...]", Short: "Run a command inside a function or endpoint",
		Long: `Run a command in the network namespace of a chain's function or endpoint, or of a
standalone function, which needs no NODE, or in the tap of a mirror, whose name is the
mirror's with .tap behind. NAME/NODE is NAME NODE, and the chain's file may stand for NAME. The names of the chain's nodes resolve
inside. Where the function is a container of an image, the command is one of that, run in
the container as its user and with its environment; with --host it is one of this machine's, in the
container's network alone. The exit code is the command's own.`,
		Example:           "  nfchain exec edge client -- ping -c 3 server\n  nfchain exec edge/fw -- nft list ruleset\n  nfchain exec filter -- nft list ruleset\n  nfchain exec --host edge proxy -- tcpdump -n -i eth0",
		Args:              cobra.MinimumNArgs(2),
		ValidArgsFunction: a.completeInside,
	}
	cmd.Flags().SetInterspersed(false)
	ofHost := cmd.Flags().Bool("host", false, "run a command of this machine's in a container's network")
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		name, node, words, err := nodeOf(args)
		if err != nil {
			return err
		}
		if node == "" && words[0] != "--" {
			node, words = words[0], words[1:]
		}
		if len(words) > 0 && words[0] == "--" {
			words = words[1:]
		}
		p, n, err := a.node(cmd, name, node)
		if err != nil {
			return err
		}
		if len(words) == 0 {
			return fmt.Errorf("say what to run, after --: %w", runs.ErrInput)
		}
		if c, is := containerOf(p, n); is && !*ofHost {
			return a.within(cmd.Context(), c, words)
		}
		hosts, err := runs.HostsFile(p, n.Name)
		if err != nil {
			return err
		}
		here, err := os.Getwd()
		if err != nil {
			here = "/"
		}
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		return a.execute(inside(n.Namespace, hosts, process.Spec{Dir: here}, words))
	}))
	return cmd
}

// node finds a node of a chain that is up. A standalone function is its own node,
// which need not be named.
func (a *app) node(cmd *cobra.Command, name, node string) (*plan.Plan, plan.Node, error) {
	none := plan.Node{}
	p, err := a.planned(cmd.Context(), name)
	if err != nil {
		return nil, none, err
	}
	if p.Alone() && node == "" {
		node = name
	}
	if node == "" {
		return nil, none, fmt.Errorf("say which node of chain %s: %s: %w", p.Chain, runs.Meant("", "it has", nodesOf(p)), runs.ErrInput)
	}
	for _, n := range p.Nodes {
		switch {
		case n.Has(node):
			n.Name = node
		case n.Usual() != node:
			continue
		}
		if !netns.Exists(n.Namespace) {
			return nil, n, fmt.Errorf("%s of %s is not up; `nfchain up` brings it up: %w", node, name, runs.ErrInput)
		}
		return p, n, nil
	}
	for _, n := range p.Nodes {
		if of, tap := strings.CutPrefix(node, n.Called+"."); tap && n.Called != "" {
			node = n.Function() + "." + of
		}
	}
	if ns := namespace.Name(p.Chain, node); slices.Contains(p.Namespaces(), ns) && netns.Exists(ns) {
		return p, plan.Node{Name: node, Namespace: ns}, nil // a tap
	}
	if slices.ContainsFunc(p.Inline, func(f plan.Inline) bool { return f.Name == node }) {
		return nil, none, fmt.Errorf("%s of chain %s is inline: it has no namespace and no program; `nfchain show %s` tells what it does: %w", node, name, name, runs.ErrInput)
	}
	if p.Alone() {
		return nil, none, fmt.Errorf("%s is a standalone function and has no %q; leave the node out: %w", name, node, runs.ErrInput)
	}
	if all := replicasOf(p, node); len(all) > 0 {
		return nil, none, fmt.Errorf("%s of chain %s has replicas; say which, %s: %w", node, name, strings.Join(all, " or "), runs.ErrInput)
	}
	return nil, none, fmt.Errorf("chain %s has no %q; %s: %w", p.Chain, node, runs.Meant(node, "it has", nodesOf(p)), runs.ErrInput)
}

// replicasOf a function are the nodes in its place; none where it has no replicas.
func replicasOf(p *plan.Plan, function string) (names []string) {
	for _, n := range p.Nodes {
		if n.Replica != nil && (n.Function() == function || n.InFile() == function) {
			names = append(names, n.Name)
		}
	}
	return names
}

// execute runs a command with this process's streams and passes its exit code on. Who asks this process to end means the command,
// which a terminal's interrupt reaches by itself, as often as it likes: a shell goes on.
func (a *app) execute(args []string) error {
	c := exec.Command(args[0], args[1:]...)
	c.Args[0] = a.args[0]
	c.Stdin, c.Stdout, c.Stderr = a.stdin, a.stdout, a.stderr
	asked := make(chan os.Signal, 8)
	signal.Notify(asked, syscall.SIGTERM, os.Interrupt)
	defer signal.Stop(asked)
	a.uninterruptible()
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	err, over := error(nil), false
	for !over {
		select {
		case s := <-asked:
			if s != os.Interrupt {
				_ = c.Process.Signal(s)
			}
		case err = <-ended:
			over = true
		}
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return exitCode{signalled(failed)}
	}
	return err
}

// insideCommand is the hidden command that becomes a program.
const insideCommand = "inside"

// inside is the command line that runs a program in a namespace: this binary's own
// hidden command, which becomes the program.
func inside(ns, hosts string, s process.Spec, words []string, more ...string) []string {
	self := netns.Image()
	if s.Own {
		words = append([]string{self}, words[1:]...)
	}
	args := []string{self, insideCommand, "--netns", ns, "--hosts", hosts}
	if s.Dir != "" {
		args = append(args, "--dir", s.Dir)
	}
	if s.MemoryBytes != 0 {
		args = append(args, "--memory", strconv.FormatUint(s.MemoryBytes, 10))
	}
	return slices.Concat(args, more, []string{"--"}, words)
}

// ownFiles are the flags by which a program gets directories of its own, or another those of a
// process of the program's. One whose file cannot be written does not begin without it.
func ownFiles(owner string, s process.Spec, beside int) []string {
	if beside != 0 {
		return []string{"--beside", strconv.Itoa(beside)}
	}
	own, err := runs.WriteOwn(owner, s)
	if err != nil {
		own = deploy.StateDir(owner)
	}
	return []string{"--own", own}
}

func (a *app) insideCmd() *cobra.Command {
	var o netns.Become
	var own string
	cmd := &cobra.Command{Use: insideCommand, Short: "Become a program inside a namespace", Hidden: true,
		Args: cobra.MinimumNArgs(1), Example: "  nfchain inside --netns nfchain.edge.fw -- ip address"}
	cmd.RunE = does(func(_ *cobra.Command, args []string) error {
		if own != "" {
			text, err := os.ReadFile(own)
			if err == nil {
				err = json.Unmarshal(text, &o.Own)
			}
			if err != nil {
				return fmt.Errorf("what the program has for itself: %w", err)
			}
		}
		o.Mark = process.MarkOf(os.Environ())
		return o.Run(args)
	})
	cmd.Flags().StringVar(&o.Ref, "netns", "", "network namespace")
	cmd.Flags().StringVar(&o.Hosts, "hosts", "", "file to see as /etc/hosts")
	cmd.Flags().StringVar(&own, "own", "", "file that says what directories and files it has for itself")
	cmd.Flags().IntVar(&o.Beside, "beside", 0, "process whose files it sees")
	cmd.Flags().StringVar(&o.Dir, "dir", "", "working directory")
	cmd.Flags().Uint64Var(&o.MemoryBytes, "memory", 0, "bytes it may map")
	return cmd
}

func (a *app) superviseCmd() *cobra.Command {
	cmd := &cobra.Command{Use: process.SuperviseCommand + " CHAIN", Short: "Keep a chain's programs running", Hidden: true,
		Args: cobra.ExactArgs(1), Example: "  nfchain supervise edge"}
	cmd.RunE = does(func(cmd *cobra.Command, args []string) error {
		owner := args[0]
		host := sync.OnceValue(func() *runs.Host { return a.host(cmd.Context()) }) // who only looks, often, need not ask what there is on the machine
		return supervise.Run(cmd.Context(), supervise.Config{
			Owner: owner,
			Inside: func(s process.Spec, words []string, beside int) []string {
				hosts := container.NamesFile(owner, s.Node)
				if len(s.Scratch) == 0 {
					return inside(s.Netns, hosts, s, words)
				}
				return inside(s.Netns, hosts, s, words, ownFiles(owner, s, beside)...)
			},
			LogFile: func(node string) string { return deploy.LogFile(owner, node) },
			Again:   func(ctx context.Context) error { return a.host(ctx).Drain(ctx, owner) },
			Leaving: func() (*steer.Leaving, error) { return host().Leaving(owner) },
			Restore: func(ctx context.Context) (map[string]error, error) { return a.host(ctx).Restore(ctx, owner) },
		})
	})
	return cmd
}

// killedBySignal is the shell's convention for the exit code of a killed program.
const killedBySignal = 128

func signalled(err *exec.ExitError) int {
	if s, ok := err.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return killedBySignal + int(s.Signal())
	}
	return err.ExitCode()
}
