package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"golang.org/x/net/html"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
)

// sampleIndex has an experiment of each kind of end: measured, measured in part, failed,
// and not to be had.
func sampleIndex() IndexData {
	r := sampleExperiment()
	entry := IndexEntry{ID: "livi2016/fig7", Description: "TCP goodput against the length of a chain", Source: r.Source, State: r.Run.State, Run: r.Run.ID,
		Page: "livi2016-fig7.html", Conditions: 10, Trials: 29, DurationS: 61.6, Infeasible: r.Run.Infeasible, Report: &r,
		Dropped: []trial.Infeasible{{Factors: map[string]any{"length": 5, "flows": 1}, Reason: "no claim needs it"}, {Factors: map[string]any{"length": 10, "flows": 1}, Reason: "no claim needs it"}}}
	for i, v := range r.Verdicts {
		c := IndexClaim{Verdict: v}
		if i == 0 {
			c.Floor = "The difference is smaller than the 12% that 3 repeats can show here."
		}
		entry.Claims = append(entry.Claims, c)
	}
	untold := func(id, why string) []IndexClaim {
		return []IndexClaim{{Verdict: experiment.Verdict{ID: id, Text: "OVS & patch ports stay <level>", Verdict: experiment.CannotBeTold, Reason: why}}}
	}
	return IndexData{
		SchemaVersion: trial.SchemaVersion, CreatedAt: sampleStart, Command: []string{"nfchain", "reproduce", "--all", "--quick"}, Quick: true, BudgetS: 1800,
		Environment: sampleEnvironment, Place: "/home/u/.local/share/nfchain/results.db",
		Calibration: &Calibration{Run: "20261121-030000-cal1", CreatedAt: sampleStart, Best: map[string]any{"flows": 2, "payload_size": 131072, "zerocopy": true},
			GoodputBps: 61.2e9, Floors: []NoiseFloor{{Repeats: 3, Ratio: .12}, {Repeats: 10, Ratio: .034}}},
		Experiments: []IndexEntry{
			entry,
			{ID: "livi2016/fig5", Description: "Chains of switches", Source: r.Source, State: "not run", Failure: "needs wiring ovs, which is not here", Claims: untold("livi2016/fig5-patch", "needs wiring ovs")},
			{ID: "zhao2017/fig4", Source: &api.Source{ID: "zhao2017", Title: "Container networking", At: "Fig. 4"}, State: trial.Failed, Failure: "iperf3: unable to connect | no route",
				Run: "20261121-041500-0009", Page: "zhao2017 fig4 (1).html", Conditions: 3, Claims: untold("zhao2017/fig4-macvlan", "the cell is empty")},
		},
		Elsewhere: []Elsewhere{
			{ID: "zhao2017/fig5", At: "§3.2, Fig. 5", Text: "Across hosts MACVLAN comes close", Needs: "two hosts"},
			{ID: "zhao2017/fig4-numa", Text: "Nodes matter", Needs: "one host with two NUMA nodes", Note: "77.99%"},
			{ID: "zhao2017/fig7", Text: "Flat from 10 flows", Needs: "two hosts"},
		},
	}
}

// oddIndexes are those that a page must survive.
func oddIndexes() map[string]IndexData {
	evil := IndexData{Command: []string{`$(rm -r /)`, "```"}, Experiments: []IndexEntry{{ID: `<img src=x>/](javascript:x)`, Description: "|<b>`*", Page: "javascript:alert(1)", State: "done", Run: "x",
		Failure: "</p><script>", Claims: []IndexClaim{{Verdict: experiment.Verdict{ID: `"><script>`, Text: "<i>", Reason: "\n# x", Verdict: "unheard of"}}}}},
		Elsewhere: []Elsewhere{{ID: "<u>", Needs: "<u>", Text: "a\nb"}}}
	many := sampleIndex()
	for i := range 40 {
		e := many.Experiments[0]
		e.ID = fmt.Sprintf("livi2016/fig%d", 100+i)
		many.Experiments = append(many.Experiments, e)
	}
	empty := sampleBig()
	empty.Run.Trials, empty.Run.State = nil, trial.Failed
	empty = New(empty.Run)
	return map[string]IndexData{"nothing": {}, "evil": evil, "many": many, "sample": sampleIndex(),
		"no trials": {Experiments: []IndexEntry{{ID: "a/b", State: "failed", Run: "x", Report: &empty}}}}
}

func TestIndexGolden(t *testing.T) {
	var b bytes.Buffer
	if err := IndexMarkdown(&b, sampleIndex()); err != nil {
		t.Fatal(err)
	}
	golden(t, "index.md", b.Bytes())
}

func TestIndexPageNeedsOnlyItsReports(t *testing.T) {
	for name, d := range oddIndexes() {
		text := renderIndex(t, d)
		root, err := html.Parse(strings.NewReader(text))
		if err != nil {
			t.Fatal(name, err)
		}
		ids, links := map[string]bool{}, []string{}
		walk(root, func(n *html.Node) {
			switch n.Data {
			case "script", "link", "img", "iframe", "object", "embed", "image", "use", "i", "u", "b":
				t.Errorf("%s: <%s>", name, n.Data)
			}
			for _, a := range n.Attr {
				if a.Key == "href" {
					links = append(links, a.Val)
					continue
				}
				checkAttribute(t, name, a)
				if a.Key == "id" && ids[a.Val] {
					t.Errorf("%s: id %q twice", name, a.Val)
				}
				ids[a.Val] = ids[a.Val] || a.Key == "id"
			}
		})
		for _, link := range links {
			if anchor, within := strings.CutPrefix(link, "#"); strings.Contains(link, ":") || within && anchor != "ZgotmplZ" && !ids[anchor] {
				t.Errorf("%s: a link to %q", name, link)
			}
		}
	}
}

func renderIndex(t *testing.T, d IndexData) string {
	t.Helper()
	var b, again bytes.Buffer
	if err := IndexHTML(&b, d); err != nil {
		t.Fatal(err)
	}
	if err := IndexMarkdown(&again, d); err != nil || strings.Contains(again.String(), "<script") || strings.Contains(again.String(), "NaN") {
		t.Errorf("%v: %s", err, again.String())
	}
	return b.String()
}

func TestIndexPageTellsAll(t *testing.T) {
	text := html.UnescapeString(renderIndex(t, sampleIndex()))
	for _, want := range []string{
		`href="livi2016-fig7.html"`, "1 holds", "1 does not hold", "1 undecided", "3 cannot be told here", "0.102 [0.081, 0.123]", "within 5% to 15%",
		"needs wiring ovs, which is not here", "iperf3: unable to connect", "length=5000", "a bridge takes 1,023 ports", "2 dropped", "no claim needs it",
		"two hosts", "one host with two NUMA nodes", "3.4%", "61.20 Gb/s", "AMD EPYC", "nfchain reproduce --all --quick", "In livi2016, on its own machine",
		"smaller than the 12%", "took 1m2s", "All of them were to take 30m;",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}

func TestFailingWriterOfAnIndexIsTold(t *testing.T) {
	for kind, write := range map[string]func(io.Writer, IndexData) error{"html": IndexHTML, "markdown": IndexMarkdown} {
		if err := write(closed{}, sampleIndex()); err == nil {
			t.Errorf("%s: no error", kind)
		}
	}
}

// TestIndexTellsWhatABudgetCost, in every form, and nothing where it cost nothing.
func TestIndexTellsWhatABudgetCost(t *testing.T) {
	d := sampleIndex()
	d.Quick, d.BudgetS, d.FullS, d.Shortened = false, 3600, 54*3600, "trials are cut to 1s"
	var text, md bytes.Buffer
	if err := IndexText(&text, d); err != nil {
		t.Fatal(err)
	}
	if err := IndexMarkdown(&md, d); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"trials are cut to 1s", "they take 54h0m", "were to take 1h0m"} {
		for form, got := range map[string]string{"text": text.String(), "md": md.String(), "html": renderIndex(t, d)} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %q", form, want)
			}
		}
	}
	d.Shortened, d.FullS = "", 1800
	if got := d.quick(); got != "" {
		t.Errorf("where there was time for all: %s", got)
	}
}
