package report

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// sampleOf is a run of one metric over chains of so many lengths; of one, the length is not
// swept.
func sampleOf(metric string, lengths int) Report {
	run := trial.Run{Repeats: 2}
	for i := range lengths {
		c := trial.Condition{Path: trial.PathChain, Protocol: trial.UDP, Tool: "tool", Flows: 1, Length: 2 + i}
		if lengths > 1 {
			c.Factors = map[string]any{"length": c.Length}
		}
		value := 1000.
		addCondition(&run, c, func() map[string]float64 { value++; return map[string]float64{metric: value} })
	}
	return New(run)
}

// TestEveryMainMetricHasAChart, by itself and over the length of the chain.
func TestEveryMainMetricHasAChart(t *testing.T) {
	for _, metric := range []string{"goodput_bps", "throughput_bps", "throughput_pps", "ndr_conditional_throughput_pps", "forwarding_rate_pps",
		"transactions_per_second", "one_way_latency_p50_ns", "latency_p99_ns"} {
		title := upperFirst(words.Metric(metric)) + " over the length of the chain"
		if !drawn(sampleOf(metric, 3), title) {
			t.Errorf("%s has no chart over the length", metric)
		}
		if !strings.Contains(metric, "latency") && !drawn(sampleOf(metric, 1), upperFirst(words.Metric(metric))) {
			t.Errorf("%s has no chart", metric)
		}
	}
}

// TestChartIsDescribedByWhatItShows: of many conditions each chart has a few, says so of
// those alone, and has a name that XML takes.
func TestChartIsDescribedByWhatItShows(t *testing.T) {
	run := trial.Run{Repeats: 1}
	for flows := range 40 * manySeries {
		c := trial.Condition{Path: trial.PathChain, Protocol: trial.Latency, Tool: "tool", Flows: 1 + flows}
		addCondition(&run, c, func() map[string]float64 { return map[string]float64{"latency_p50_ns": 1e4, "latency_p99_ns": 5e4} })
	}
	figures := New(run).latencyFigures("latency_ns")
	if len(figures) != 1 || len(figures[0].Panels) != manyCharts || !strings.HasSuffix(figures[0].Caption, "192 more are in the table of measurements.") {
		t.Fatalf("%d figures: %s", len(figures), figures[0].Caption)
	}
	name := regexp.MustCompile(`<desc id="[a-z0-9_-]+">([^<]*)</desc>`)
	for i, p := range figures[0].Panels {
		found := name.FindStringSubmatch(string(p.SVG))
		if found == nil || strings.Count(found[1], "flow") != manySeries {
			t.Errorf("chart %d is described by %q", i, found)
		}
	}
}

func drawn(r Report, title string) bool {
	return slices.ContainsFunc(r.figures(), func(f figure) bool { return f.Title == title })
}

// TestManyConditionsArePartedByAFactor: a long run has the charts of latency side by side, and
// one bar of CPU use for each condition, by the factor with the fewest values.
func TestManyConditionsArePartedByAFactor(t *testing.T) {
	run := trial.Run{Repeats: 1}
	for _, wiring := range []string{"veth", "bridge", "ovs"} {
		for flows := range 7 {
			c := trial.Condition{Path: trial.PathChain, Protocol: trial.Latency, Tool: "tool", Flows: 1 + flows, Factors: map[string]any{"wiring": wiring, "flows": 1 + flows}}
			addCondition(&run, c, func() map[string]float64 { return map[string]float64{"latency_p50_ns": 1e4, "latency_p99_ns": 5e4} })
		}
	}
	for i := range run.Trials {
		run.Trials[i].Observed.CPUs = []trial.CPUUse{{CPU: 0, System: .9, Idle: .1}, {CPU: 1, User: .2, Idle: .8}}
	}
	r := New(run)
	latency := r.latencyFigures("latency_ns")
	var heads []string
	for _, p := range latency[0].Panels {
		heads = append(heads, p.Head)
		if _, drawn, _ := strings.Cut(string(p.SVG), "</desc>"); strings.Contains(drawn, "wiring") {
			t.Errorf("%s: its lines say again what its head says", p.Head)
		}
	}
	if want := "wiring veth|wiring veth, continued|wiring bridge|wiring bridge, continued|wiring ovs|wiring ovs, continued"; len(latency) != 1 || strings.Join(heads, "|") != want {
		t.Errorf("%d figures, panels %v", len(latency), heads)
	}
	cpu := r.cpuFigures()
	if len(cpu) != 1 {
		t.Fatalf("%d figures of CPU use", len(cpu))
	}
	svg := string(cpu[0].SVG)
	if n := strings.Count(svg, ">55%, busiest 90%<"); n != 21 || strings.Contains(svg, "cpu 1") || !strings.Contains(svg, ">wiring ovs<") || !strings.Contains(svg, ">LATENCY, 7 flows<") && !strings.Contains(svg, ">latency, 7 flows<") {
		t.Errorf("%d bars in\n%s", n, svg)
	}
}

// TestIntervalsOfFewTrialsSayWhatTheyCover, on the card and below the charts.
func TestIntervalsOfFewTrialsSayWhatTheyCover(t *testing.T) {
	of := func(repeats int) Report {
		run := trial.Run{Repeats: repeats}
		for length := range 3 {
			c := trial.Condition{Path: trial.PathChain, Protocol: trial.Latency, Tool: "tool", Flows: 1, Length: 2 + length, Factors: map[string]any{"length": 2 + length}}
			value := 1e4
			addCondition(&run, c, func() map[string]float64 {
				value++
				return map[string]float64{"latency_p50_ns": value, "latency_p99_ns": 2 * value}
			})
		}
		return New(run)
	}
	for repeats, want := range map[int]string{3: "75%", 4: "87.5%", 6: "95%"} {
		r := of(repeats)
		cards, _ := r.cards()
		if len(cards) != 3 || !strings.HasPrefix(cards[0].Below, want+" interval [") {
			t.Errorf("%d repeats: %+v", repeats, cards)
		}
		for _, f := range append(r.mainFigures(), r.latencyFigures("latency_ns")...) {
			if !strings.Contains(f.Caption, want) || strings.Contains(f.Caption, "fewer than six") != (repeats < 6) {
				t.Errorf("%d repeats: %q", repeats, f.Caption)
			}
		}
	}
	mixed := of(6)
	mixed.Conditions[1] = of(3).Conditions[1]
	if got := mixed.howToRead([]int{0, 1, 2}, "latency_p50_ns"); !strings.HasPrefix(got, "Error bars are 75% and 95% intervals (fewer") {
		t.Error(got)
	}
}

// TestOutageBreaksTheCurve: what lies on both sides of steps without a value is not joined.
func TestOutageBreaksTheCurve(t *testing.T) {
	at := func(v float64) *float64 { return &v }
	run := trial.Run{Repeats: 1, Conditions: []trial.Condition{{}}, Trials: []trial.Trial{{Repeat: 1, Series: map[string]trial.Series{
		"goodput_bps": {StepS: 1, Values: []*float64{at(1e9), at(1e9), nil, nil, at(1e9), at(1e9), nil, at(1e9)}}}}}}
	figures := New(run).timeFigures()
	if len(figures) != 1 || !strings.Contains(figures[0].Caption, "broken where nothing was measured") {
		t.Fatalf("%+v", figures)
	}
	curve := regexp.MustCompile(`class="k0 line" d="([^"]+)"`).FindStringSubmatch(string(figures[0].SVG))
	if curve == nil || !regexp.MustCompile(`^(M[^MLh]+L[^MLh]+){2}M[^MLh]+h4$`).MatchString(curve[1]) {
		t.Errorf("%q", curve)
	}
}

// TestTrialsAtZeroKeepTheLogarithm that the caption tells of, and it says that they are not
// on it; where a centre is zero there is no logarithm, and the caption does not say so.
func TestTrialsAtZeroKeepTheLogarithm(t *testing.T) {
	const scale, out = "The scale is logarithmic", "trials at zero have no place on it"
	for name, c := range map[string]struct {
		values             []float64
		logarithmic, leave bool
	}{"above": {[]float64{1, 2, 3}, true, false}, "one trial at zero": {[]float64{0, 2, 3}, true, true}, "a centre at zero": {[]float64{0, 0, 3}, false, false}} {
		run := trial.Run{Repeats: 3}
		for length := range 3 {
			n := 0
			addCondition(&run, trial.Condition{Path: trial.PathChain, Protocol: trial.Latency, Tool: "tool", Flows: 1, Length: 2 + length, Factors: map[string]any{"length": 2 + length}},
				func() map[string]float64 {
					v := 1000 * c.values[n] * map[int]float64{0: 1, 1: 100, 2: 1000}[length]
					n++
					return map[string]float64{"latency_p50_ns": v, "latency_p99_ns": v}
				})
		}
		for _, f := range append(New(run).mainFigures(), New(run).latencyFigures("latency_ns")...) {
			if strings.Contains(f.Caption, scale) != c.logarithmic || strings.Contains(f.Caption, out) != c.leave {
				t.Errorf("%s: %s: %q", name, f.Title, f.Caption)
			}
		}
	}
}

// TestConditionsWithoutTheAxisAreDrawnToo, behind those that have it.
func TestConditionsWithoutTheAxisAreDrawnToo(t *testing.T) {
	run := sampleOf("goodput_bps", 3).Run
	addCondition(&run, trial.Condition{Path: trial.PathChain, Protocol: trial.UDP, Tool: "other", Flows: 77, Length: 2}, func() map[string]float64 { return map[string]float64{"goodput_bps": 5e9} })
	figures := New(run).mainFigures()
	if len(figures) != 2 || figures[1].Title != "Goodput, where the length of the chain was not varied" || !strings.Contains(string(figures[1].SVG), "5.000 Gb/s") {
		t.Errorf("%d figures: %+v", len(figures), figures[len(figures)-1])
	}
	if alone := sampleOf("goodput_bps", 3).mainFigures(); len(alone) != 1 {
		t.Errorf("%d figures where all have it", len(alone))
	}
}
