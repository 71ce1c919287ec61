package report

import (
	"strconv"

	"nfchain.dev/nfchain/internal/trial"
)

// conditionsTable has one row for every metric of every condition.
func (r Report) conditionsTable() table {
	t := table{Title: "Measurements", Caption: "Every metric of every condition, over its repeats."}
	columns, extra := r.columns()
	for _, f := range columns {
		t.column(f.head, f.name == "flows" || f.name == "length")
	}
	for _, name := range extra {
		t.column(name, false)
	}
	t.column("metric", false)
	t.column("centre", true)
	t.column("95% interval", true)
	t.column("n", true)
	t.column("note", false)
	for _, c := range r.Conditions {
		fixed := conditionCells(c, columns, extra)
		for i, m := range metricsOf(c) {
			t.add(i == 0, append(append([]string(nil), fixed...), metricCells(m, c)...)...)
		}
		if len(c.Metrics) == 0 {
			t.add(true, append(fixed, "nothing measured", "", "", "0", "")...)
		}
	}
	return t
}

// columns are the fields that a table of conditions must show.
func (r Report) columns() (columns []field, extra []string) {
	differ := map[string]bool{}
	for _, f := range varying(r.Conditions) {
		differ[f.name] = true
	}
	for _, f := range fields {
		if f.always || differ[f.name] {
			columns = append(columns, f)
		}
	}
	return columns, extraFactors(r.Conditions)
}

func conditionCells(c trial.Summary, columns []field, extra []string) (cells []string) {
	for _, f := range columns {
		cells = append(cells, f.text(c.Condition))
	}
	for _, name := range extra {
		cells = append(cells, factorText(c.Factors[name]))
	}
	return cells
}

func metricCells(metric string, c trial.Summary) []string {
	s := c.Metrics[metric]
	value, interval := summaryParts(metric, s)
	if s.Mean == nil {
		value = "median " + value
	}
	return []string{metricName(metric), value, interval, strconv.Itoa(s.N), summaryNote(metric, s)}
}
