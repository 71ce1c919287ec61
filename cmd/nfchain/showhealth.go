package main

import (
	"cmp"
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/resource/process"
	runs "nfchain.dev/nfchain/internal/run"
)

// healthRows tell of the functions that are watched, if there are any.
func healthRows(w *table, nodes []runs.NodeState) {
	headed := false
	for _, n := range nodes {
		h := n.Health
		if h == nil {
			continue
		}
		if !headed {
			headed = true
			w.row("\nFUNCTION\tHEALTH\tSINCE\tPROBES PASS\tON FAILURE\tFAILED\tLAST TIME BECAUSE\n")
		}
		w.row("%s\t%s\t%s\t%s\t%s\t%d\t%s\n", h.Node, h.State, h.Since.Format(time.DateTime),
			cmp.Or(strings.Join(h.Proven, " "), "never yet"), h.OnFailure, h.Failures, h.Reason)
	}
}

// readyRows tell what ready commands said last that are asked as long as their programs run, if there are any.
func readyRows(w *table, nodes []runs.NodeState) {
	headed := false
	row := func(name string, program *process.Status) {
		if program == nil || program.ReadyCommand == nil {
			return
		}
		if !headed {
			headed = true
			w.row("\nFUNCTION\tREADY COMMAND\tAT\tNO IN A ROW\tSAID\n")
		}
		a := program.ReadyCommand
		answer, at := "never answered", ""
		if !a.At.IsZero() {
			answer, at = map[bool]string{true: "yes", false: "no"}[a.Ready], a.At.Format(time.DateTime)
		}
		if a.Unasked != "" {
			answer += ", " + a.Unasked
		}
		w.row("%s\t%s\t%s\t%d\t%s\n", name, answer, at, a.Failures, a.Said)
	}
	for _, n := range nodes {
		row(n.Name, n.Program)
		for _, f := range n.Functions {
			row(f.Name, f.Program)
		}
	}
}
