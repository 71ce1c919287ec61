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

// foldedAt is the width, in characters, that a column of text keeps to if others follow
// it: what is longer goes on in further lines, so that they stay within sight.
const foldedAt = 60

// aligned writes a table in columns of equal width; the last is left ragged.
func aligned(b *strings.Builder, t table) {
	lines := [][]string{}
	for i, cells := range append([][]string{t.Head}, cellsOf(t)...) {
		if i == 0 {
			cells = upper(cells)
		}
		lines = append(lines, folded(t, cells)...)
	}
	widths := make([]int, len(t.Head))
	for _, cells := range lines {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, cells := range lines {
		var line strings.Builder
		for j, cell := range cells {
			line.WriteString(padded(cell, widths[j], t.Numeric[j]) + "  ")
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

func upper(cells []string) (out []string) {
	for _, cell := range cells {
		out = append(out, strings.ToUpper(cell))
	}
	return out
}

// folded is a row as lines, of which the first has what fits.
func folded(t table, cells []string) (lines [][]string) {
	for i, cell := range cells {
		parts := []string{cell}
		if i < len(cells)-1 && !t.Numeric[i] {
			parts = broken(cell)
		}
		for len(lines) < len(parts) {
			lines = append(lines, make([]string, len(cells)))
		}
		for n, part := range parts {
			lines[n][i] = part
		}
	}
	return lines
}

// broken is a text in parts of at most foldedAt characters, unless a word is longer.
func broken(text string) (parts []string) {
	if utf8.RuneCountInString(text) <= foldedAt {
		return []string{text}
	}
	part := ""
	for word := range strings.SplitSeq(text, " ") {
		switch {
		case part == "":
			part = word
		case utf8.RuneCountInString(part)+1+utf8.RuneCountInString(word) > foldedAt:
			parts, part = append(parts, part), word
		default:
			part += " " + word
		}
	}
	return append(parts, part)
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
