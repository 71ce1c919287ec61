package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/plan"
	runs "nfchain.dev/nfchain/internal/run"
)

func (a *app) showCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show CHAIN", Short: "Show a chain's nodes, addresses, programs, rule, impairment and interface counters",
		Example: "  nfchain show edge\n  nfchain show edge -o json", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeChains,
	}
	var o *string
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		p, err := a.planned(cmd.Context(), args[0], plan.Options{})
		if err != nil {
			return err
		}
		state, err := runs.Inspect(p)
		if err != nil {
			return err
		}
		if *o == "json" {
			return a.printJSON(state)
		}
		return a.printState(state)
	}))
	o = outputFlag(cmd, "text", "json")
	return cmd
}

func (a *app) printState(s runs.State) error {
	a.printf("chain %s, wiring %s\n", s.Chain, s.Wiring)
	w := a.table("NODE\tKIND\tSTATE\tNAMESPACE\tADDRESSES\tPROGRAM")
	for _, n := range s.Nodes {
		program := ""
		if n.Program != nil {
			program = fmt.Sprintf("%s, pid %d, %d restart(s)", n.Program.State, n.Program.PID, n.Program.Restarts)
		}
		w.row("%s\t%s\t%s\t%s\t%s\t%s\n", n.Name, n.Kind, n.State, n.Namespace, strings.Join(n.Addresses, " "), program)
	}
	w.row("\nNODE\tINTERFACE\tRX PACKETS\tTX PACKETS\tRX BYTES\tTX BYTES\tDROPPED\tERRORS\n")
	for _, n := range s.Nodes {
		for _, c := range n.Interfaces {
			w.row("%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\n", c.Node, c.Interface, c.RxPackets, c.TxPackets, c.RxBytes, c.TxBytes,
				c.RxDropped+c.TxDropped, c.RxErrors+c.TxErrors)
		}
	}
	if err := w.end(); err != nil {
		return err
	}
	for _, n := range s.Nodes {
		a.printCounters(n)
		if err := a.printImpairments(n); err != nil {
			return err
		}
	}
	return nil
}

// mostRules is how many rules of a function are printed; JSON has them all.
const mostRules = 20

func (a *app) printCounters(n runs.NodeState) {
	if len(n.Rules) == 0 && n.Dropped == nil {
		return
	}
	a.printf("\n%s: %d counted rule(s)\n", n.Name, len(n.Rules))
	if n.Dropped != nil {
		a.printf("  policy drop: %d packets, %d bytes\n", n.Dropped.Packets, n.Dropped.Bytes)
	}
	for i, r := range n.Rules {
		if i == mostRules {
			a.printf("  … and %d more (-o json has them all)\n", len(n.Rules)-i)
			return
		}
		a.printf("  rule %d: %d packets, %d bytes  %s\n", r.Rule, r.Packets, r.Bytes, r.Comment)
	}
}
