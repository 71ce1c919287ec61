package report

import (
	"slices"
	"strconv"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// conditionsTable has one row for every metric of every condition that says
// something of the chain.
func (r Report) conditionsTable() table {
	t := table{Title: "Measurements", Caption: "Every metric of every condition, over its repeats."}
	return r.metricsTable(t, ofChain, true)
}

// toolsTable has what the tools tell of themselves.
func (r Report) toolsTable() table {
	t := table{Title: "The tools themselves", Caption: "What a generator was asked, sent and can over one link with nothing between, how late it was, and what a search took: not results of the chain."}
	return r.metricsTable(t, func(c trial.Summary) []string {
		return slices.DeleteFunc(metricsOf(c), func(m string) bool { return !ofTool(m) })
	}, false)
}

func (r Report) metricsTable(t table, of func(trial.Summary) []string, empty bool) table {
	columns, extra := r.columns()
	for _, f := range columns {
		t.column(f.head, f.name == "flows" || f.name == "length")
	}
	for _, name := range extra {
		t.column(shortest(name, extra), false)
	}
	t.column("metric", false)
	t.column(r.centreHead(), true)
	t.column("95% interval", true)
	t.column("n", true)
	if r.hasPooled() {
		t.column("all samples", true)
	}
	t.column("note", false)
	for _, c := range r.Conditions {
		fixed := conditionCells(c, columns, extra)
		for i, m := range of(c) {
			t.add(i == 0, append(append([]string(nil), fixed...), r.metricCells(m, c)...)...)
		}
		if empty && len(c.Metrics) == 0 {
			t.add(true, append(fixed, r.pooledCell([]string{"nothing measured", "", "", "0"}, "", "")...)...)
		}
	}
	return t
}

// centreHead names the column of centres: percentiles have medians.
func (r Report) centreHead() string {
	for _, c := range r.Conditions {
		for _, s := range c.Metrics {
			if s.Mean == nil {
				return "mean or median"
			}
		}
	}
	return "mean"
}

// columns are the fields that a table of conditions must show.
func (r Report) columns() (columns []field, extra []string) {
	differ := map[string]bool{}
	for _, f := range varying(r.Conditions) {
		differ[f.name] = true
	}
	for _, f := range fields {
		if f.always || differ[f.name] || notAlone(f, r.Conditions) {
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
		cells = append(cells, extraCell(name, c.Factors[name]))
	}
	return cells
}

// extraCell is a swept factor in a table.
func extraCell(name string, v any) string {
	if name == experiment.CalibratedFactor && v == true {
		return "yes"
	}
	return factorText(v)
}

func (r Report) metricCells(metric string, c trial.Summary) []string {
	s := c.Metrics[metric]
	value, interval := summaryParts(metric, s)
	if s.Mean == nil {
		value = "median " + value
	}
	pooled := ""
	if s.Pooled != nil {
		pooled = printed(metric, *s.Pooled)
	}
	return r.pooledCell([]string{words.Metric(metric), value, interval, strconv.Itoa(s.N)}, pooled, summaryNote(s))
}

// pooledCell ends a row, with a cell for all samples where the table has one.
func (r Report) pooledCell(cells []string, pooled, note string) []string {
	if r.hasPooled() {
		cells = append(cells, pooled)
	}
	return append(cells, note)
}
