package report

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"nfchain.dev/nfchain/internal/words"
)

// IndexMarkdown writes an index as GitHub flavoured Markdown; its links are relative.
func IndexMarkdown(w io.Writer, d IndexData) error {
	var b strings.Builder
	page := newIndexPage(d)
	fmt.Fprintf(&b, "# %s\n\n%s\n", escapeMarkdown(page.Title), escapeMarkdown(strings.Join(nonEmpty(append([]string{page.When}, page.Heading...)...), " · ")))
	for _, text := range []string{page.Quick, tallyText(page.Tallies, page.Calibrated)} {
		if text != "" {
			b.WriteString("\n" + escapeMarkdown(text) + "\n")
		}
	}
	for _, s := range page.Sources {
		markdownSource(&b, s)
	}
	for _, t := range []*table{page.Untold, page.Dropped, page.Elsewhere, page.Machine, page.Settings} {
		if t != nil {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", t.Title, escapeMarkdown(t.Caption))
			markdownTable(&b, *t)
		}
	}
	if len(d.Command) > 0 {
		b.WriteString("\n## To repeat it\n\n" + fenced("sh", words.Shell(d.Command...)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownSource(b *strings.Builder, s indexSource) {
	fmt.Fprintf(b, "\n## %s\n\n", escapeMarkdown(strings.Join(nonEmpty(s.ID, s.Title), ": ")))
	if s.Machine != "" {
		b.WriteString("Measured on " + escapeMarkdown(s.Machine) + "\n\n")
	}
	for _, e := range s.Experiments {
		fmt.Fprintf(b, "### %s\n\n", markdownLink(e.ID, e.Page))
		line := strings.Join(nonEmpty(e.Description, e.At, e.State, e.extent(), e.Failure), " · ")
		b.WriteString(escapeMarkdown(line) + "\n\n")
		if len(e.Claims) > 0 {
			markdownTable(b, e.claimsTable())
			b.WriteString("\n")
		}
		if e.Report != nil && len(e.Report.References) > 0 {
			t := e.Report.referenceTable()
			b.WriteString(escapeMarkdown(t.Title+". "+t.Caption) + "\n\n")
			markdownTable(b, t)
			b.WriteString("\n")
		}
	}
}

// claimsTable has an experiment's claims with what their verdicts rest on.
func (e indexExperiment) claimsTable() table {
	t := table{}
	for _, head := range []string{"claim", "statement", "verdict", "estimate", "holds", "why"} {
		t.column(head, false)
	}
	for _, s := range e.Statements {
		for _, c := range s.Claims {
			t.add(true, c.ID, c.Text, c.Look.Symbol+" "+c.Verdict.Verdict, c.Numbers, c.Range, withFloor(why(c.Verdict), c.Floor))
		}
	}
	return t
}

// extent says how much was measured; nothing where nothing was.
func (e indexExperiment) extent() string {
	if e.Run == "" {
		return ""
	}
	text := fmt.Sprintf("%s, %s", words.Plural(e.Conditions, "condition"), words.Plural(e.Trials, "trial"))
	if e.FailedTrials > 0 {
		text += fmt.Sprintf(", %d of them failed,", e.FailedTrials)
	}
	if e.Took != "" {
		text += " in " + e.Took
	}
	return text
}

// Extent is that for the page.
func (e indexExperiment) Extent() string { return e.extent() }

// markdownLink is a name that leads to a page, where there is one.
func markdownLink(name, page string) string {
	if page == "" {
		return escapeMarkdown(name)
	}
	return fmt.Sprintf("[%s](%s)", escapeMarkdown(name), strings.NewReplacer("(", "%28", ")", "%29").Replace((&url.URL{Path: page}).String()))
}
