package report

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
)

// infeasibleTable has the combinations that cannot be measured here.
func (r Report) infeasibleTable() table {
	t := table{Title: "Infeasible combinations", Aside: true, Caption: "Of the sweep; they are no conditions and have no trials."}
	t.column("combination", false)
	t.column("why", false)
	for _, c := range r.Run.Infeasible {
		t.add(true, experiment.Describe(c.Factors), c.Reason)
	}
	return t
}

// droppedTable has the combinations that were left out for want of time.
func (r Report) droppedTable() table {
	t := table{Title: "Dropped combinations", Aside: true, Caption: "Of the sweep; they were left out for want of time, and can be measured without a budget."}
	t.column("combination", false)
	t.column("why", false)
	for _, c := range r.Run.Dropped {
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
			set(rawFactor(strings.TrimPrefix(name, "load."), factorText(c.Factors[name])))
			set("factor_"+name, factorText(c.Factors[name]))
		}
		set("metric", "infeasible")
		set(reasonColumn, c.Reason)
		rows = append(rows, row)
	}
	return rows
}

// everyExtraFactor is [extraFactors] with those that only infeasible combinations have.
func (r Report) everyExtraFactor() []string {
	names := extraFactors(r.Conditions)
	for _, c := range r.Run.Infeasible {
		names = appendExtra(names, c.Factors)
	}
	slices.Sort(names)
	return names
}

// rawFactor is the column that has a factor of a load in a row of a trial, and the value as
// it is there: a file may write it with a unit.
func rawFactor(name, text string) (column, value string) {
	switch name {
	case "rate":
		rate, err := api.ParseLoadRate(text)
		switch {
		case err != nil:
			return "offered_bps", text
		case rate.Frames > 0:
			return "offered_pps", strconv.FormatUint(rate.Frames, 10)
		}
		return "offered_bps", strconv.FormatUint(rate.Bits, 10)
	case "duration":
		var d api.Duration
		if d.UnmarshalText([]byte(text)) == nil {
			text = raw(time.Duration(d).Seconds())
		}
		return "duration_s", text
	case "payload_size", "request_size", "response_size":
		if size, err := api.ParseSize(text); err == nil {
			text = strconv.FormatUint(uint64(size), 10)
		}
	}
	return name, text
}

// reasonColumn is in a CSV only where something is infeasible.
const reasonColumn = "reason"
