package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/process"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/words"
)

func (a *app) showCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show NAME|FILE", Short: "Show a chain or function: nodes, addresses, programs, rule, impairment, hop and interface counters",
		Long: `Show a chain or a standalone function as it is now: its nodes with their addresses and
programs, which of the functions that are watched have failed, what interfaces, a forwarder's hops, functions
that are inline, rules and policies counted, what programs tell of their work, what taps take of the cores, how flows are shared out over replicas
or get their path, and what differs from its plan, or where a FILE is given, from what the file's chain would be. With -o openmetrics, what of it is a number, for a collector; with --openmetrics such are served it.`,
		Example: "  nfchain show edge\n  nfchain show edge -o json\n  nfchain show edge -o openmetrics\n  nfchain show edge --openmetrics 127.0.0.1:9464", Args: cobra.ExactArgs(1), ValidArgsFunction: completeChain,
	}
	var o *string
	address := cmd.Flags().String("openmetrics", "", "serve the metrics of -o openmetrics to collectors at an address such as 127.0.0.1:9464, until interrupted")
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		if *address != "" {
			if cmd.Flags().Changed("output") {
				return fmt.Errorf("--openmetrics serves collectors and prints nothing; leave --output out: %w", runs.ErrInput)
			}
			return a.serveState(cmd.Context(), *address, args[0])
		}
		state, err := a.stateOf(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		switch *o {
		case "json":
			return a.printJSON(state)
		case "openmetrics":
			return metricsOf(a.stdout, state)
		}
		return a.printState(state)
	}))
	o = outputFlag(cmd, "text", "json", "openmetrics")
	return cmd
}

// stateOf a chain or function, as it is now.
func (a *app) stateOf(ctx context.Context, name string) (runs.State, error) {
	p, err := a.planned(ctx, name)
	if err != nil {
		return runs.State{}, err
	}
	return runs.Inspect(ctx, p)
}

// serveState serves what a chain is to collectors, as it is when they ask, until ctx ends.
func (a *app) serveState(ctx context.Context, address, name string) error {
	if _, err := a.stateOf(ctx, name); err != nil {
		return err
	}
	stop, err := a.listen(address, func(ctx context.Context, w io.Writer) error {
		s, err := a.stateOf(ctx, name)
		if err != nil {
			return err
		}
		return metricsOf(w, s)
	})
	if err != nil {
		return err
	}
	defer stop()
	<-ctx.Done()
	return nil
}

func (a *app) printState(s runs.State) error {
	if s.Kind == "function" {
		a.printf("function %s: %s\n", s.Chain, s.State)
	} else {
		a.printf("chain %s, wiring %s%s: %s\n", s.Chain, s.Wiring, plan.Chosen(s.WiringSettings), s.State)
	}
	if len(s.Back) > 0 {
		a.printf("back: %s\n", strings.Join(s.Back, " → "))
	}
	w := a.table("NODE\tKIND\tSTATE\tNAMESPACE\tADDRESSES\tPROGRAM")
	for i, n := range s.Nodes {
		w.row("%s\t%s\t%s\t%s\t%s\t%s\n", n.Name, n.Kind, n.State, cmp.Or(n.Namespace, "(host)"), strings.Join(n.Addresses, " "), cmp.Or(broughtText(n), programText(n.Program)))
		for _, f := range n.Functions {
			w.row("  %s\t%s\t\t\t\t%s\n", f.Name, f.Kind, programText(f.Program))
		}
		for _, f := range s.InlineAfter(i) {
			w.row("%s\t%s\t%s\t(inline)\t\t\n", f.Name, f.Kind, f.State)
		}
	}
	w.row("\nNODE\tINTERFACE\tRX PACKETS\tTX PACKETS\tRX BYTES\tTX BYTES\tDROPPED\tERRORS\n")
	for _, n := range s.Nodes {
		for _, c := range n.Interfaces {
			w.row("%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\n", c.Node, c.Interface, c.RxPackets, c.TxPackets, c.RxBytes, c.TxBytes,
				c.RxDropped+c.TxDropped, c.RxErrors+c.TxErrors)
		}
	}
	limitRows(w, s.Nodes)
	healthRows(w, s.Nodes)
	readyRows(w, s.Nodes)
	nshRows(w, s.Nodes)
	if len(s.Hops) > 0 {
		w.row("\nFROM\tTO\tPACKETS\tBYTES\n")
	}
	for _, h := range s.Hops {
		to := h.To
		if h.Direct {
			to += " (directly)"
		}
		if h.Marks != "" {
			to += " (" + h.Marks + ")"
		}
		if len(h.Older) > 0 {
			to += " (flows that stay: " + strings.Join(h.Older, ", ") + ")"
		}
		if h.Ended > 0 {
			to += " (besides, " + words.Plural(int(h.Ended), "packet") + " ended before it or behind it)"
		}
		if h.LedPast > 0 {
			to += fmt.Sprintf(" (%s led past it)", words.Plural(int(h.LedPast), "packet"))
		}
		w.row("%s\t%s\t%d\t%d\n", h.From, to, h.Packets, h.Bytes)
	}
	if err := w.end(); err != nil {
		return err
	}
	a.printInline(s)
	for _, f := range s.Inline {
		a.printCounters(runs.NodeState{Name: f.Name, Rules: f.Rules, Dropped: f.Dropped})
		if c := f.Connections; c != nil {
			a.printf("\n%s: %s known, of %d at most; %d made room for others\n", f.Name, words.Plural(int(c.Known), "connection"), c.Most, c.Evicted)
		}
		a.printTranslations(f)
	}
	a.printTaps(s.Taps)
	a.printPath(s.Path)
	if err := a.printClassifier(s.Classifier); err != nil {
		return err
	}
	a.printBranches(s.Branches)
	for _, shared := range s.Shared {
		a.printShared(shared)
	}
	for _, n := range s.Nodes {
		a.printCounters(n)
		a.printPasses(n)
		a.printThrough(n)
		if err := a.printTold(n); err != nil {
			return err
		}
		if err := a.printImpairments(n); err != nil {
			return err
		}
	}
	for _, n := range s.Nodes {
		a.printDrift(n.Name, n.Drift)
	}
	a.printDrift(s.Chain, s.Drift)
	if s.Drift.Unwatched {
		a.printf("  nobody watches over its functions any more: none is led past, restarted or put back until `nfchain up` has them watched again\n")
	}
	return nil
}

// broughtText is which container another runtime has put into a node's place, if it is for one.
func broughtText(n runs.NodeState) string {
	switch {
	case n.Container != nil:
		return fmt.Sprintf("container %.12s of network %s", n.Container.Container, n.Container.Network)
	case n.Waits:
		return "waits for its container"
	}
	return ""
}

func programText(s *process.Status) string {
	if s == nil {
		return ""
	}
	text := s.State
	if s.PID != 0 {
		text += fmt.Sprintf(", pid %d", s.PID)
	}
	text += ", " + words.Plural(s.Restarts, "restart")
	if s.Message != "" {
		text += ": " + strings.Join(strings.Fields(s.Message), " ") // an engine may tell of it in several lines
	}
	return text
}

// mostDrift is how many resources of a node are named; JSON has them all.
const mostDrift = 20

// printDrift says what differs from the plan, and with up makes good.
func (a *app) printDrift(of string, d runs.Drift) {
	for _, list := range []struct {
		what string
		ids  []string
	}{{"missing", d.Missing}, {"not as planned", d.Differs}, {"not planned", d.Surplus}} {
		if len(list.ids) == 0 {
			continue
		}
		a.printf("\n%s: %d %s\n", of, len(list.ids), list.what)
		for i, id := range list.ids {
			if i == mostDrift {
				a.printf("  … and %d more (-o json has them all)\n", len(list.ids)-i)
				break
			}
			a.printf("  %s\n", id)
		}
	}
}

// mostRules is how many rules of a function are printed; JSON has them all.
const mostRules = 20

func (a *app) printCounters(n runs.NodeState) {
	if c := n.Connections; c != nil {
		a.printf("\n%s: %s tracked by its kernel, %d made room for others, %s dropped for want of room\n", n.Name, words.Plural(int(c.Tracked), "connection"), c.Evicted,
			words.Plural(int(c.Dropped), "packet"))
	}
	if len(n.Rules) == 0 && n.Dropped == nil {
		return
	}
	a.printf("\n%s: %s counted\n", n.Name, words.Plural(len(n.Rules), "rule"))
	if n.Dropped != nil {
		a.printf("  policy drop: %s\n", packetsAndBytes(n.Dropped.Packets, n.Dropped.Bytes))
	}
	for _, f := range n.Functions {
		if f.Dropped != nil {
			a.printf("  policy drop of %s: %s\n", f.Name, packetsAndBytes(f.Dropped.Packets, f.Dropped.Bytes))
		}
	}
	for i, r := range n.Rules {
		if i == mostRules {
			a.printf("  … and %d more (-o json has them all)\n", len(n.Rules)-i)
			return
		}
		of := ""
		if r.Function != "" {
			of = r.Function + " "
		}
		text := r.Text
		if r.Comment != "" {
			text += " (" + r.Comment + ")"
		}
		a.printf("  %srule %d: %s  %s\n", of, r.Rule, packetsAndBytes(r.Packets, r.Bytes), text)
	}
}
