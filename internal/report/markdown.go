package report

import (
	"fmt"
	"io"
	"strings"

	"nfchain.dev/nfchain/internal/words"
)

// Markdown writes a report as GitHub flavoured Markdown.
func Markdown(w io.Writer, r Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", escapeMarkdown(r.title()))
	for _, line := range bulleted(r.heading()) {
		b.WriteString(escapeMarkdown(line) + "\n")
	}
	markdownList(&b, "Warnings", r.warnings())
	for _, t := range append(r.tables(), environmentTable(r.Run)) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", t.Title, escapeMarkdown(t.Caption))
		markdownTable(&b, t)
	}
	markdownList(&b, "Notes", statisticsNotes(r))
	if len(r.Run.Command) > 0 {
		b.WriteString("\n## To repeat it\n\n" + fenced("sh", words.Shell(r.Run.Command...)))
	}
	if r.Run.Spec != "" {
		b.WriteString("\n" + fenced("yaml", strings.TrimRight(r.Run.Spec, "\n")))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownList(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	for _, line := range bulleted(lines) {
		b.WriteString(escapeMarkdown(line) + "\n")
	}
}

func markdownTable(b *strings.Builder, t table) {
	rule := make([]string, len(t.Head))
	for i, numeric := range t.Numeric {
		rule[i] = ":--"
		if numeric {
			rule[i] = "--:"
		}
	}
	markdownRow(b, t.Head)
	b.WriteString("| " + strings.Join(rule, " | ") + " |\n")
	for _, r := range t.Rows {
		markdownRow(b, r.Cells)
	}
}

func markdownRow(b *strings.Builder, cells []string) {
	escaped := make([]string, len(cells))
	for i, c := range cells {
		escaped[i] = escapeMarkdown(c)
	}
	b.WriteString("| " + strings.Join(escaped, " | ") + " |\n")
}

// escapeMarkdown keeps what others wrote from being read as markup.
func escapeMarkdown(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "`", "\\`", "*", `\*`, "_", `\_`,
		"[", `\[`, "]", `\]`, "\r", " ", "\n", " ").Replace(s)
}

// fenced puts a text between fences longer than any that it holds.
func fenced(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + text + "\n" + fence + "\n"
}
