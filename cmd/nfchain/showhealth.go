package main

import (
	"cmp"
	"strings"
	"time"

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
