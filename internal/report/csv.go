package report

import (
	"encoding/csv"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"
)

// CSV writes one row for every metric of every trial, raw, with a header: run,
// chain, the condition, then repeat, started_at, duration_s, metric and value; and a row
// for every combination that is infeasible, with the reason.
func CSV(w io.Writer, r Report) error {
	extra := r.everyExtraFactor()
	head := append(conditionHead(extra), "repeat", "step", "started_at", "trial_duration_s", "metric", "value")
	if len(r.Run.Infeasible) > 0 {
		head = append(head, reasonColumn)
	}
	rows := [][]string{head}
	for _, t := range r.Run.Trials {
		if t.Condition < 0 || t.Condition >= len(r.Run.Conditions) {
			continue
		}
		begin := append(conditionRow(r, t.Condition, extra),
			strconv.Itoa(t.Repeat), rawUnlessZero(float64(t.Step)), t.StartedAt.UTC().Format(time.RFC3339Nano), raw(t.DurationS))
		for _, m := range slices.Sorted(maps.Keys(t.Metrics)) {
			row := append(slices.Clip(begin), m, raw(t.Metrics[m]))
			rows = append(rows, append(row, make([]string, len(head)-len(row))...))
		}
	}
	return writeCSV(w, append(rows, r.infeasibleRows(head)...))
}

func conditionHead(extra []string) []string {
	head := []string{"run", "chain", "condition"}
	for _, f := range fields {
		head = append(head, f.name)
	}
	for _, name := range extra {
		head = append(head, "factor_"+name)
	}
	return head
}

func conditionRow(r Report, index int, extra []string) []string {
	c := r.Run.Conditions[index]
	row := []string{r.Run.ID, r.Run.Chain, strconv.Itoa(index)}
	for _, f := range fields {
		row = append(row, f.raw(c))
	}
	for _, name := range extra {
		row = append(row, factorText(c.Factors[name]))
	}
	return row
}

// raw writes a value with all its digits and no exponent.
func raw(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func writeCSV(w io.Writer, rows [][]string) error { return csv.NewWriter(w).WriteAll(rows) }
