package report

import (
	"slices"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
)

// swept is a run of one metric with a condition for each combination of factors.
func swept(metric string, combinations ...map[string]any) Report {
	run := trial.Run{Repeats: 3, State: trial.Done}
	for i, factors := range combinations {
		c := trial.Condition{Path: trial.PathChain, Protocol: trial.UDP, Tool: "tool", Flows: 1, Length: 2, Factors: factors}
		value := 1e9 / float64(1+i)
		addCondition(&run, c, func() map[string]float64 { value *= 1.01; return map[string]float64{metric: value} })
	}
	return New(run)
}

// grid is every combination of two factors.
func grid(one string, ones []any, two string, twos []any) (out []map[string]any) {
	for _, a := range ones {
		for _, b := range twos {
			out = append(out, map[string]any{one: a, two: b})
		}
	}
	return out
}

func TestAxisIsTheFactorWithMostLevels(t *testing.T) {
	const rules = "chain.functions[fw].firewall.rules"
	for name, c := range map[string]struct {
		r      Report
		field  string
		texts  string
		places []float64
	}{
		"sizes, decades apart": {swept("goodput_bps", grid("payload_size", []any{"64", "1KiB", 65536}, "zerocopy", []any{true, false})...),
			"payload_size", "64 1KiB 64KiB", []float64{.25, 1.454, 3.26}},
		"rules, with none":              {swept("goodput_bps", grid(rules, []any{0, 10, 100, 1000}, "wiring", []any{"veth", "ovs"})...), rules, "0 10 100 1000", []float64{.25, .917, 1.917, 2.917}},
		"flows before lengths":          {swept("goodput_bps", grid("flows", []any{1, 2, 4, 8}, "load.zerocopy", []any{true})...), "flows", "1 2 4 8", []float64{1, 2, 4, 8}},
		"rates":                         {swept("loss_ratio", grid("rate", []any{"10Mbps", "20Mbps", "200Mbps"}, "wiring", []any{"veth"})...), "rate", "10 20 200", []float64{1e7, 2e7, 2e8}},
		"many sizes, as far apart each": {swept("goodput_bps", grid("payload_size", []any{2019, 18403, 34787, 65507}, "zerocopy", []any{true})...), "payload_size", "2019 18403 34787 65507", []float64{2019, 18403, 34787, 65507}},
		"words alone":                   {swept("goodput_bps", grid("wiring", []any{"veth", "ovs", "bridge"}, "affinity", []any{"0", "1", "2", "3"})...), "", "", nil},
		"two levels":                    {swept("goodput_bps", grid("mtu", []any{1500, 9000}, "zerocopy", []any{true, false})...), "", "", nil},
	} {
		a, has := c.r.axis()
		if has != (c.field != "") || a.field != c.field {
			t.Errorf("%s: %q", name, a.field)
			continue
		}
		if !has {
			continue
		}
		if got := strings.Join(a.texts(), " "); got != c.texts {
			t.Errorf("%s: %q, want %q", name, got, c.texts)
		}
		for i, l := range a.levels {
			if got := a.place(l); got < c.places[i]*.999 || got > c.places[i]*1.001 {
				t.Errorf("%s: level %d at %v, want %v", name, i, got, c.places[i])
			}
		}
	}
}

func TestLinesAreNamedByWhatSetsThemApart(t *testing.T) {
	r := swept("goodput_bps", grid("chain.functions[fw].firewall.rules", []any{0, 10, 100}, "wiring", []any{"veth", "ovs"})...)
	for i := range r.Conditions { // what follows from the level sets no line apart
		r.Conditions[i].Length = 2 + i/2
	}
	a, _ := r.axis()
	lines := r.lines(a, "goodput_bps")
	if len(lines) != 2 || lines[0].name != "UDP, wiring veth" || lines[1].name != "UDP, wiring ovs" || !slices.Equal(lines[1].conditions, []int{1, 3, 5}) {
		t.Errorf("%+v", lines)
	}
}

// TestSourceStandsBesideOurs: on a panel of its own, then both as shares of the first
// value that both have, which here is not the source's first.
func TestSourceStandsBesideOurs(t *testing.T) {
	r := swept("goodput_bps", grid("flows", []any{2, 4, 8}, "wiring", []any{"veth", "ovs"})...)
	r.Source = &api.Source{ID: "someone2016", Title: "A study"}
	for i, flows := range []int{1, 4, 8} {
		r.References = append(r.References, api.Reference{At: map[string]any{"flows": flows, "wiring": "ovs"}, Metric: "goodput_bps", Value: float64(10 * (i + 1))})
	}
	figures := r.mainFigures()
	if len(figures) != 2 || len(figures[0].Panels) != 2 || figures[0].Title != "Goodput over flows" {
		t.Fatalf("%+v", figures)
	}
	here, there, shape := string(figures[0].Panels[0].SVG), string(figures[0].Panels[1].SVG), string(figures[1].SVG)
	if strings.Contains(here, "someone2016") || !strings.Contains(there, "wiring ovs") || strings.Contains(there, "wiring veth") {
		t.Error("the panels do not have what is theirs")
	}
	for _, want := range []string{"here: UDP, wiring ovs", "someone2016: UDP, wiring ovs"} {
		if !strings.Contains(shape, want) {
			t.Errorf("the shapes lack %q", want)
		}
	}
	rows := r.referenceTable().Rows
	want := [][]string{{"1", "not measured", "–", "0.500"}, {"4", "255", "1.000", "1.000"}, {"8", "170", "0.667", "1.500"}}
	if len(rows) != len(want) {
		t.Fatalf("%+v", rows)
	}
	for i, cells := range want {
		got := rows[i].Cells
		if got[2] != cells[0] || !strings.HasPrefix(got[3], cells[1]) || got[6] != cells[2] || got[7] != cells[3] {
			t.Errorf("row %d: %q, want %q", i, got, cells)
		}
	}
}

// TestWordsHaveMarksWhereTheSourceHasValues, and bars besides.
func TestWordsHaveMarksWhereTheSourceHasValues(t *testing.T) {
	r := swept("transactions_per_second", map[string]any{"wiring": "macvlan"}, map[string]any{"wiring": "ovs"}, map[string]any{"wiring": "bridge"})
	bars := len(r.mainFigures())
	for i, wiring := range []string{"ovs", "bridge"} {
		r.References = append(r.References, api.Reference{At: map[string]any{"wiring": wiring}, Metric: "transactions_per_second", Value: 3e4 / float64(1+i)})
	}
	figures := r.mainFigures()
	if bars != 1 || len(figures) != 3 || len(figures[0].Panels) != 2 {
		t.Fatalf("%d, then %+v", bars, figures)
	}
	if svg := string(figures[0].Panels[0].SVG); strings.Contains(svg, `class="k0 line"`) {
		t.Error("a line joins what has no order")
	}
}

// TestManyLinesAreSpreadOverCharts, those of the source first, and no more charts than
// a reader looks at.
func TestManyLinesAreSpreadOverCharts(t *testing.T) {
	var fifty []any
	for i := range 50 {
		fifty = append(fifty, "kind"+string(rune('A'+i%26))+string(rune('a'+i/26)))
	}
	r := swept("goodput_bps", grid("kind", fifty, "flows", []any{1, 2, 4, 8})...)
	r.References = []api.Reference{{At: map[string]any{"flows": 1, "kind": fifty[49]}, Metric: "goodput_bps", Value: 7}}
	figures := r.mainFigures()
	if len(figures) != manyCharts || !strings.HasSuffix(figures[0].Caption, " The one value in the source: UDP, kind "+fifty[49].(string)+", flows 1: 7.000 b/s.") {
		t.Fatalf("%d figures, %s", len(figures), figures[0].Caption)
	}
	if !strings.Contains(string(figures[0].SVG), ">UDP, kind "+fifty[49].(string)+"<") {
		t.Error("the line that the source has is not in the first chart")
	}
	if last := figures[len(figures)-1].Caption; !strings.HasSuffix(last, "2 more are in the table of measurements.") {
		t.Error(last)
	}
}

// TestChartsAtTheCalibratedLoad are behind those of what the source measured, with none of its
// lines in them.
func TestChartsAtTheCalibratedLoad(t *testing.T) {
	var all []map[string]any
	for _, mode := range []string{"a", "b"} {
		for _, flows := range []int{1, 2, 4, 8} {
			all = append(all, map[string]any{"flows": flows, "mode": mode}, map[string]any{"flows": flows, "mode": mode, experiment.CalibratedFactor: true})
		}
	}
	var titles []string
	for _, f := range swept("goodput_bps", all...).mainFigures() {
		titles = append(titles, f.Title)
		apart := strings.HasSuffix(f.Title, ", at the calibrated load")
		if calibrated := strings.Count(string(f.SVG), "calibrated, mode"); apart != (calibrated > 0) {
			t.Errorf("%s names %d lines calibrated", f.Title, calibrated)
		}
	}
	if len(titles) != 2 || strings.Contains(titles[0], "calibrated") || !strings.Contains(titles[1], "calibrated") {
		t.Errorf("%q", titles)
	}
}
