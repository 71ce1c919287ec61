package main

import (
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	runs "nfchain.dev/nfchain/internal/run"
)

// limitRows tell what containers may use at most.
func limitRows(w *table, nodes []runs.NodeState) {
	if !slices.ContainsFunc(nodes, func(n runs.NodeState) bool { return n.Limits != nil }) {
		return
	}
	w.row("\nNODE\tMAY USE\n")
	for _, n := range nodes {
		if n.Limits == nil {
			continue
		}
		text := n.Limits.String()
		if n.Limits.HugepageBytes > 0 {
			text += ", of which " + api.Size(n.Limits.HugepagesInUseBytes).String() + " in use"
		}
		w.row("%s\t%s\n", n.Name, text)
	}
}
