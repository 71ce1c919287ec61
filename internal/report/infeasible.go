package report

import (
	"maps"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/experiment"
)

// infeasibleTable has the combinations that cannot be measured here.
func (r Report) infeasibleTable() table {
	t := table{Title: "Infeasible combinations", Caption: "Of the sweep; they are no conditions and have no trials."}
	t.column("combination", false)
	t.column("why", false)
	for _, c := range r.Run.Infeasible {
		t.add(true, experiment.Describe(c.Factors), c.Reason)
	}
	return t
}

// infeasibleCases are skipped tests, one for each combination.
func (r Report) infeasibleCases() (out []testcase) {
	for _, c := range r.Run.Infeasible {
		out = append(out, testcase{Class: r.title() + ".infeasible", Name: experiment.Describe(c.Factors), Time: "0", Skipped: &message{c.Reason}})
	}
	return out
}

// infeasibleRows of a CSV with that header: the factors, the metric "infeasible" and,
// in a column of its own, the reason.
func (r Report) infeasibleRows(head []string) (rows [][]string) {
	for _, c := range r.Run.Infeasible {
		row := make([]string, len(head))
		set := func(name, value string) {
			if i := slices.Index(head, name); i >= 0 {
				row[i] = value
			}
		}
		set("run", r.Run.ID)
		set("chain", r.Run.Chain)
		for _, name := range slices.Sorted(maps.Keys(c.Factors)) {
			set(strings.TrimPrefix(name, "load."), factorText(c.Factors[name]))
			set("factor_"+name, factorText(c.Factors[name]))
		}
		set("metric", "infeasible")
		set(reasonColumn, c.Reason)
		rows = append(rows, row)
	}
	return rows
}

// reasonColumn is in a CSV only where something is infeasible.
const reasonColumn = "reason"
