package report

import "unicode/utf8"

// table is what text, Markdown and HTML all show of one subject.
type table struct {
	Title string
	// Caption says what the columns cannot.
	Caption string
	Head    []string
	// Numeric columns are aligned at the right.
	Numeric []bool
	Rows    []row
	// Aside folds the table up on a page, where another says the most of it.
	Aside bool
}

// row is one line; Begins marks the first of those that belong together.
type row struct {
	Cells  []string
	Begins bool
}

// longCell is from where a cell's text may be broken into lines, in characters.
const longCell = 24

// Class is the style of a cell on the page.
func (t table) Class(column int, cell string) string {
	switch {
	case t.Numeric[column]:
		return "n"
	case utf8.RuneCountInString(cell) > longCell:
		return "long"
	}
	return ""
}

func (t *table) column(head string, numeric bool) {
	t.Head, t.Numeric = append(t.Head, head), append(t.Numeric, numeric)
}

func (t *table) add(begins bool, cells ...string) {
	t.Rows = append(t.Rows, row{Cells: cells, Begins: begins})
}

// tables are a report's, in reading order, without the empty ones.
func (r Report) tables() (out []table) {
	for _, t := range []table{
		r.againstTable(), r.goalsTable(), r.measuredTable(), r.conditionsTable(), r.infeasibleTable(), r.droppedTable(), r.repeatsTable(), r.instancesTable(), r.directTable(), r.referenceTable(), r.claimsTable(), r.paramsTable(), r.fitTable(), r.rankingTable(), r.dropsTable(), r.toolsTable(), r.clausesTable(),
	} {
		if len(t.Rows) > 0 {
			out = append(out, t)
		}
	}
	return out
}
