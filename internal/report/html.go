package report

import (
	_ "embed" // the page's template and style sheet
	"html/template"
	"io"

	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

//go:embed page.html
var pageText string

//go:embed parts.html
var partsText string

//go:embed page.css
var pageStyle string

var page = template.Must(template.New("report").Parse(pageText + partsText))

// pageData is what the page shows; everything is escaped by the template but the
// charts, which package plot escapes.
type pageData struct {
	Style       template.CSS
	Title       string
	Kind        string
	Heading     []string
	Source      string
	Run         trial.Run
	Warnings    []string
	Cards       []card
	LeftOut     string
	Tallies     []tally
	Calibrated  []tally
	Statements  []statement
	Gaps        *table
	Figures     []figure
	Tables      []table
	Environment table
	Notes       []string
	Command     string
	Place       string
}

// HTML writes a report as one page that needs nothing else: no script, no font,
// no image, no network. It follows the reader's light or dark setting and prints.
func HTML(w io.Writer, r Report) error {
	return page.Execute(w, newPage(r))
}

func newPage(r Report) pageData {
	cards, more := r.cards()
	d := pageData{
		Style: template.CSS(pageStyle), Title: r.title(), Kind: "chain", Run: r.Run, Heading: r.opening(),
		Warnings: r.warnings(), Cards: cards, LeftOut: leftOut(len(cards), more), Statements: r.statements(), Gaps: r.gapsTable(), Figures: r.figures(),
		Environment: environmentTable(r.Run), Notes: statisticsNotes(r), Command: words.Shell(r.Run.Command...), Place: r.Place,
	}
	d.Tallies, d.Calibrated = tallied(r.Verdicts)
	if r.Run.Experiment != "" {
		d.Kind = "experiment"
		if r.Run.Chain != "" && r.Run.Chain != r.Run.Experiment {
			d.Heading = append([]string{"chain " + r.Run.Chain}, d.Heading...)
		}
	}
	if r.Against != nil {
		d.Heading = append(d.Heading, r.against())
	}
	if r.Source != nil {
		d.Source = r.sourceText()
	}
	for _, t := range r.tables() {
		if t.Title != claimsTitle {
			d.Tables = append(d.Tables, t)
		}
	}
	return d
}

// When is the run's start as the page shows it.
func (d pageData) When() string { return d.Run.CreatedAt.UTC().Format("2 January 2006, 15:04 UTC") }
