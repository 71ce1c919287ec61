package report

import (
	"strconv"

	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// metrics are a condition's, by name.
type metrics = map[string]stats.Summary

// dropsTable has the interfaces that dropped or failed, summed over a
// condition's trials; those that did not are left out.
func (r Report) dropsTable() table {
	t := table{Title: "Drops and errors", Caption: "Summed over the trials of a condition; interfaces with none are left out."}
	t.column("condition", false)
	t.column("node", false)
	t.column("interface", false)
	for _, head := range []string{"rx dropped", "tx dropped", "rx errors", "tx errors"} {
		t.column(head, true)
	}
	name := labels(r.Conditions)
	for i, c := range r.Conditions {
		for j, n := range r.drops(i) {
			t.add(j == 0, name.of(c.Condition), n.Node, n.Interface,
				count(n.RxDropped), count(n.TxDropped), count(n.RxErrors), count(n.TxErrors))
		}
	}
	return t
}

// drops sums a condition's counts by interface, in the order they first appear.
func (r Report) drops(condition int) (out []trial.InterfaceCounts) {
	at := map[[2]string]int{}
	for _, t := range r.Run.Trials {
		if t.Condition != condition {
			continue
		}
		for _, n := range t.Observed.Interfaces {
			if n.RxDropped+n.TxDropped+n.RxErrors+n.TxErrors == 0 {
				continue
			}
			k := [2]string{n.Node, n.Interface}
			if _, known := at[k]; !known {
				at[k] = len(out)
				out = append(out, trial.InterfaceCounts{Node: n.Node, Interface: n.Interface})
			}
			sum := &out[at[k]]
			sum.RxDropped += n.RxDropped
			sum.TxDropped += n.TxDropped
			sum.RxErrors += n.RxErrors
			sum.TxErrors += n.TxErrors
		}
	}
	return out
}

func count(n uint64) string { return strconv.FormatUint(n, 10) }
