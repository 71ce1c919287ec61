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
	if len(figures) != 40 {
		t.Fatalf("%d charts", len(figures))
	}
	name := regexp.MustCompile(`<desc id="[a-z0-9_-]+">([^<]*)</desc>`)
	for i, f := range figures {
		found := name.FindStringSubmatch(string(f.SVG))
		if found == nil || strings.Count(found[1], "flow") != manySeries {
			t.Errorf("chart %d is described by %q", i, found)
		}
	}
}

func drawn(r Report, title string) bool {
	return slices.ContainsFunc(r.figures(), func(f figure) bool { return f.Title == title })
}
