package report

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Text writes a report for a terminal: tables aligned with spaces, no colour.
func Text(w io.Writer, r Report) error {
	var b strings.Builder
	for _, line := range r.heading() {
		b.WriteString(line + "\n")
	}
	section(&b, "WARNINGS", bulleted(r.warnings()))
	for _, t := range r.tables() {
		b.WriteString("\n" + strings.ToUpper(t.Title) + "\n")
		aligned(&b, t)
	}
	section(&b, "NOTES", bulleted(statisticsNotes(r)))
	section(&b, "", r.footing())
	_, err := io.WriteString(w, b.String())
	return err
}

func section(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString("\n")
	if title != "" {
		b.WriteString(title + "\n")
	}
	for _, line := range lines {
		b.WriteString(line + "\n")
	}
}

func bulleted(lines []string) (out []string) {
	for _, line := range lines {
		out = append(out, "- "+line)
	}
	return out
}

// aligned writes a table in columns of equal width; the last is left ragged.
func aligned(b *strings.Builder, t table) {
	widths := make([]int, len(t.Head))
	for _, cells := range append([][]string{t.Head}, cellsOf(t)...) {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, cells := range append([][]string{t.Head}, cellsOf(t)...) {
		var line strings.Builder
		for j, cell := range cells {
			if i == 0 {
				cell = strings.ToUpper(cell)
			}
			line.WriteString(padded(cell, widths[j], t.Numeric[j]) + "  ")
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

func cellsOf(t table) (out [][]string) {
	for _, r := range t.Rows {
		out = append(out, r.Cells)
	}
	return out
}

func padded(s string, width int, right bool) string {
	space := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
	if right {
		return space + s
	}
	return s + space
}
