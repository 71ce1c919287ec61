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
