package report

import (
	_ "embed" // the index's template
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

//go:embed index.html
var indexText string

var indexTemplate = template.Must(template.New("index").Parse(indexText + partsText))

// indexPage is what the index shows.
type indexPage struct {
	Style                                         template.CSS
	Title, When, Command, Place, Quick            string
	Heading                                       []string
	Tallies, Calibrated                           []tally
	Sources                                       []indexSource
	Machine, Untold, Dropped, Elsewhere, Settings *table
}

// indexSource is the experiments of one source.
type indexSource struct {
	ID, Title, Machine string
	Experiments        []indexExperiment
}

// indexExperiment is an entry as the page shows it.
type indexExperiment struct {
	IndexEntry
	// Anchor is its place on the page.
	Anchor, At, Took string
	Tallies          []tally
	// Calibrated are verdicts at the calibrated load, in words.
	Calibrated string
	Counts     []string
	Statements []statement
	Figures    []figure
}

// IndexHTML writes an index as one page that needs nothing else but the reports that it
// links, which lie beside it.
func IndexHTML(w io.Writer, d IndexData) error { return indexTemplate.Execute(w, newIndexPage(d)) }

func newIndexPage(d IndexData) indexPage {
	p := indexPage{Style: template.CSS(pageStyle), Title: d.title(), When: whenText(d.CreatedAt),
		Heading: d.heading(), Command: words.Shell(d.Command...), Place: d.Place, Quick: d.quick(),
		Machine: filled(d.machineTable()), Untold: filled(d.untoldTable()), Dropped: filled(d.droppedTable()), Elsewhere: filled(d.elsewhereTable())}
	p.Tallies, p.Calibrated = tallied(d.verdicts())
	if d.Environment.Kernel != "" {
		p.Settings = filled(environmentTable(trial.Run{Environment: d.Environment}))
	}
	for i, e := range d.Experiments {
		s := p.source(e)
		s.Experiments = append(s.Experiments, newIndexExperiment(e, i))
	}
	return p
}

// source is where an experiment stands, with the others of its source.
func (p *indexPage) source(e IndexEntry) *indexSource {
	id, _, _ := strings.Cut(e.ID, "/")
	at := slices.IndexFunc(p.Sources, func(s indexSource) bool { return s.ID == id })
	if at < 0 {
		at = len(p.Sources)
		p.Sources = append(p.Sources, newIndexSource(id, e.Source))
	}
	return &p.Sources[at]
}

func newIndexSource(id string, s *api.Source) indexSource {
	if s == nil {
		return indexSource{ID: id}
	}
	return indexSource{ID: id, Title: s.Title, Machine: s.Machine}
}

func newIndexExperiment(e IndexEntry, nth int) indexExperiment {
	x := indexExperiment{IndexEntry: e, Anchor: "x" + strconv.Itoa(nth), Took: tookText(e.DurationS)}
	var calibrated []tally
	x.Tallies, calibrated = tallied(verdictsOf(e))
	x.Calibrated = tallyWords(calibrated)
	if e.Source != nil {
		x.At = e.Source.At
	}
	x.Counts = verdictColumns(x.Tallies)
	var claims []claim
	for i, c := range e.Claims {
		claims = append(claims, newClaim(c.Verdict, fmt.Sprintf("%s-claim-%d", x.Anchor, i)))
	}
	x.Statements = statementsOf(claims)
	if e.Report != nil {
		x.Figures = e.Report.besideFigures(x.Anchor + "-")
	}
	return x
}

// besideFigures are those that have the source's values beside ours, the first of each
// metric, with ids that begin with prefix.
func (r Report) besideFigures(prefix string) (out []figure) {
	r.prefix = prefix
	for _, f := range r.mainFigures() {
		if len(f.Panels) > 0 && !strings.HasSuffix(f.Title, ", continued") {
			out = append(out, f)
		}
	}
	return out
}

// verdictColumns are how many claims came back with each verdict, for a table.
func verdictColumns(some []tally) (out []string) {
	for _, look := range verdictLooks {
		count := ""
		for _, t := range some {
			if t.Verdict == look.Verdict {
				count = strconv.Itoa(t.Count)
			}
		}
		out = append(out, count)
	}
	return out
}

// whenText is a time as a page has it; empty for none.
func whenText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2 January 2006, 15:04 UTC")
}

// tookText is a duration as people say it; empty for none.
func tookText(seconds float64) string {
	if seconds <= 0 {
		return ""
	}
	text := time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
	if whole, cut := strings.CutSuffix(text, "m0s"); cut {
		return whole + "m"
	}
	return text
}

// filled is a table, nil where it has no rows.
func filled(t table) *table {
	if len(t.Rows) == 0 {
		return nil
	}
	return &t
}

func verdictsOf(e IndexEntry) (out []experiment.Verdict) {
	for _, c := range e.Claims {
		out = append(out, c.Verdict)
	}
	return out
}
