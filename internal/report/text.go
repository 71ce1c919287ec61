package report

import (
	"fmt"
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

// heading says in a few lines what run this is.
func (r Report) heading() []string {
	run := r.Run
	lines := []string{fmt.Sprintf("run %s of %s, %s, %s", run.ID, r.what(), run.State, run.CreatedAt.UTC().Format("2006-01-02 15:04 UTC"))}
	if r.Source != nil {
		lines = append(lines, "source: "+r.sourceText())
	}
	lines = append(lines, r.extent())
	if len(r.Verdicts) > 0 {
		lines = append(lines, "claims: "+r.verdictCounts())
	}
	return lines
}

// what is run: a chain or an experiment on one.
func (r Report) what() string {
	if r.Run.Experiment != "" {
		return "experiment " + r.Run.Experiment
	}
	return "chain " + r.Run.Chain
}

// extent says how much was measured.
func (r Report) extent() string {
	run := r.Run
	text := fmt.Sprintf("%s × %s, %d of %d trials, seed %d",
		plural(len(run.Conditions), "condition"), plural(run.Repeats, "repeat"), len(run.Trials), r.planned(), run.Seed)
	if run.Quick {
		text += ", quick"
	}
	return text
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func (r Report) sourceText() string {
	text := fmt.Sprintf("%s, %s", r.Source.ID, r.Source.Title)
	if r.Source.At != "" {
		text += ", " + r.Source.At
	}
	if r.Source.Machine != "" {
		text += " (measured on " + r.Source.Machine + ")"
	}
	return text
}

// footing says where the run is and how to repeat it.
func (r Report) footing() (lines []string) {
	e := r.Run.Environment
	lines = append(lines, "machine: "+strings.Join(nonEmpty(e.CPUModel, plural(e.CPUs, "CPU"), e.Kernel, e.Virtualization, e.Privileges), ", "))
	if len(r.Run.Command) > 0 {
		lines = append(lines, "repeat:  "+quoted(r.Run.Command))
	}
	if r.Place != "" {
		lines = append(lines, "stored:  "+r.Place)
	}
	return lines
}

func nonEmpty(words ...string) (out []string) {
	for _, w := range words {
		if w != "" {
			out = append(out, w)
		}
	}
	return out
}
