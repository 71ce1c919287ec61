// Package words writes what a person reads in a terminal: how many there are of a thing,
// tables, and commands. It knows nothing of what they are about.
package words

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Plural is a number of things: "1 pair", "2 pairs".
func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// Few of many things are named, at most so many, and how many there are besides: "a, b and 3 more". One more takes no more room than to say so.
func Few(all []string, most int, between string) string {
	if len(all) <= most+1 {
		return strings.Join(all, between)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:most], between), len(all)-most)
}

// Table has its columns below each other, and no space at the end of a line.
type Table struct {
	text    strings.Builder
	columns *tabwriter.Writer
}

// NewTable is an empty one.
func NewTable() *Table {
	t := &Table{}
	t.columns = tabwriter.NewWriter(&t.text, 0, 0, 2, ' ', 0)
	return t
}

// Row adds a line of cells.
func (t *Table) Row(cells ...string) {
	_, _ = io.WriteString(t.columns, strings.Join(cells, "\t")+"\n") // into memory
}

// String is the table, each of its lines ended.
func (t *Table) String() string {
	_ = t.columns.Flush() // into memory
	var b strings.Builder
	for line := range strings.Lines(t.text.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}
