package report

import (
	"bytes"
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

func renderHTML(t *testing.T, r Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// walk visits every element of a page.
func walk(n *html.Node, visit func(*html.Node)) {
	if n.Type == html.ElementNode {
		visit(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walk(c, visit)
	}
}

func TestPageNeedsNothingElse(t *testing.T) {
	for name, r := range everyReport() {
		text := renderHTML(t, r)
		root, err := html.Parse(strings.NewReader(text))
		if err != nil {
			t.Fatal(name, err)
		}
		ids := map[string]bool{}
		walk(root, func(n *html.Node) {
			switch n.Data {
			case "script", "link", "img", "iframe", "object", "embed", "image", "use":
				t.Errorf("%s: <%s>", name, n.Data)
			}
			for _, a := range n.Attr {
				checkAttribute(t, name, a)
				if a.Key == "id" {
					if ids[a.Val] {
						t.Errorf("%s: id %q twice", name, a.Val)
					}
					ids[a.Val] = true
				}
			}
		})
		if strings.Contains(text, "@import") || strings.Contains(text, "ZgotmplZ") {
			t.Errorf("%s: something was imported or could not be escaped", name)
		}
	}
}

func checkAttribute(t *testing.T, name string, a html.Attribute) {
	t.Helper()
	if a.Key == "href" || a.Key == "src" || strings.HasPrefix(a.Key, "on") {
		t.Errorf("%s: attribute %s=%q", name, a.Key, a.Val)
	}
	if strings.Contains(a.Val, "://") && a.Key != "xmlns" {
		t.Errorf("%s: attribute %s=%q reaches out", name, a.Key, a.Val)
	}
	if strings.Contains(a.Val, "url(") && !strings.Contains(a.Val, "url(#") {
		t.Errorf("%s: attribute %s=%q reaches out", name, a.Key, a.Val)
	}
}

func TestPageHasEveryMetric(t *testing.T) {
	for name, r := range everyReport() {
		text := html.UnescapeString(renderHTML(t, r))
		for _, c := range r.Conditions {
			for m, s := range c.Metrics {
				if !strings.Contains(text, ">"+words.Metric(m)+"<") || !strings.Contains(text, summaryValue(m, s)) {
					t.Errorf("%s: %s %s is not on the page", name, m, summaryValue(m, s))
				}
			}
		}
		for _, want := range append(r.warnings(), words.Shell(r.Run.Command...), r.Run.ID, r.Run.Environment.Kernel) {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not on the page", name, want)
			}
		}
	}
}

// TestPageSaysWhatItLeavesOutAtAGlance, where a sweep has more numbers than are seen so.
func TestPageSaysWhatItLeavesOutAtAGlance(t *testing.T) {
	for name, want := range map[string]string{"big": "The first 6 of 18: 12 more are in the table of measurements.", "bench": ""} {
		cards, more := everyReport()[name].cards()
		if said := leftOut(len(cards), more); said != want {
			t.Errorf("%s: %q, want %q", name, said, want)
		}
		if text := renderHTML(t, everyReport()[name]); strings.Count(text, "<dt>") != len(cards) || strings.Contains(text, "more are in the table") != (want != "") || !strings.Contains(text, want) {
			t.Errorf("%s: the page has %d cards and does not say %q", name, strings.Count(text, "<dt>"), want)
		}
	}
}

func TestPageEscapesWhatOthersWrote(t *testing.T) {
	const evil = `<script>alert("x")</script>`
	r := sampleBench()
	r.Run.Chain, r.Run.Spec, r.Run.Command = evil, evil, []string{evil}
	r.Run.Warnings = []string{evil}
	r.Run.Environment.CPUModel = evil
	for i := range r.Conditions {
		r.Conditions[i].Tool = evil
		r.Conditions[i].Factors = map[string]any{"odd": evil + string(rune('a'+i))}
	}
	text := renderHTML(t, r)
	if strings.Contains(text, "<script") {
		t.Error("markup got through")
	}
}

// TestPageEscapesNamesOfMetrics, of which the ids of charts are made: they stay whole and
// apart.
func TestPageEscapesNamesOfMetrics(t *testing.T) {
	run, one := sampleDetailed().Run, 1.
	for i := range run.Trials {
		for _, evil := range []string{`x"><script>alert(1)</script>`, `x" onload="alert(1)`, "x y", "x<y"} {
			run.Trials[i].Metrics[evil] = float64(i)
			run.Trials[i].Series = map[string]trial.Series{evil: {StepS: 1, Values: []*float64{&one, &one, &one}}}
		}
	}
	text := renderHTML(t, New(run))
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	walk(root, func(n *html.Node) {
		if n.Data == "script" {
			t.Error("markup got through")
		}
		for _, a := range n.Attr {
			if checkAttribute(t, "evil", a); a.Key == "id" {
				if ids[a.Val] || strings.ContainsAny(a.Val, ` "<>`) {
					t.Errorf("id %q is odd or there twice", a.Val)
				}
				ids[a.Val] = true
			}
		}
	})
}

func TestPageIsAccessible(t *testing.T) {
	svg := regexp.MustCompile(`(?s)<svg.*?</svg>`)
	for name, r := range everyReport() {
		text := renderHTML(t, r)
		if strings.Count(text, "<table>") != strings.Count(text, "<caption>") || !strings.Contains(text, `<html lang="en">`) {
			t.Errorf("%s: a table without caption, or no language", name)
		}
		for _, chart := range svg.FindAllString(text, -1) {
			d := xml.NewDecoder(strings.NewReader(chart))
			for {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatalf("%s: a chart is not XML: %v", name, err)
				}
			}
			if !strings.Contains(chart, "<title id=") || strings.Contains(chart, "></desc>") || strings.Contains(chart, "NaN") {
				t.Errorf("%s: a chart without title or description, or with NaN", name)
			}
		}
	}
}
