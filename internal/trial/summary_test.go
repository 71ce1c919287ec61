package trial

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// latencyTrial records samples and takes their percentiles as a tool would.
func latencyTrial(t *testing.T, repeat int, samples []int64) Trial {
	t.Helper()
	h := NewHistogram()
	for _, s := range samples {
		if err := h.RecordValue(s); err != nil {
			t.Fatal(err)
		}
	}
	text, err := EncodeHistogram(h)
	if err != nil {
		t.Fatal(err)
	}
	return Trial{Repeat: repeat, Histograms: map[string]string{"latency_ns": text}, Metrics: map[string]float64{
		"latency_p50_ns": Percentile(h, 50), "latency_p99_ns": Percentile(h, 99),
		"latency_p999_ns": Percentile(h, 99.9),
		"latency_min_ns":  float64(slices.Min(samples)), "latency_max_ns": float64(slices.Max(samples)),
	}}
}

// drawLatencies gives one slow trial among fast ones, where averaged percentiles go wrong.
func drawLatencies(t *testing.T) (run Run, all []int64) {
	r := rand.New(rand.NewPCG(1, 2))
	run.Conditions = []Condition{{Protocol: Latency}}
	for repeat, scale := range []float64{10e3, 10e3, 500e3} {
		samples := make([]int64, 5000)
		for i := range samples {
			samples[i] = 1000 + int64(r.ExpFloat64()*scale)
		}
		run.Trials = append(run.Trials, latencyTrial(t, repeat+1, samples))
		all = append(all, samples...)
	}
	slices.Sort(all)
	return run, all
}

func TestPercentilesArePooled(t *testing.T) {
	run, all := drawLatencies(t)
	metrics := Summarize(run)[0].Metrics
	for name, p := range map[string]float64{"latency_p50_ns": 0.5, "latency_p99_ns": 0.99, "latency_p999_ns": 0.999} {
		s := metrics[name]
		want := float64(all[int(p*float64(len(all)))])
		if s.Mean != nil || s.Pooled == nil || math.Abs(*s.Pooled/want-1) > 0.005 {
			t.Errorf("%s: %+v, want %v over all samples", name, s, want)
		}
	}
	if s := metrics["latency_min_ns"]; s.Mean != nil || *s.Pooled != float64(all[0]) {
		t.Errorf("minimum %+v", s)
	}
	if s := metrics["latency_max_ns"]; s.Mean != nil || *s.Pooled != float64(all[len(all)-1]) {
		t.Errorf("maximum %+v", s)
	}
}

func TestPooledNeedsEveryHistogram(t *testing.T) {
	for _, broken := range []string{"", "rubbish"} {
		run, _ := drawLatencies(t)
		run.Trials[1].Histograms = Map[string]{"latency_ns": broken}
		s := Summarize(run)[0].Metrics["latency_p99_ns"]
		if s.Pooled != nil || s.N != 3 {
			t.Errorf("histogram %q: %+v", broken, s)
		}
	}
}

func TestSummarizeByCondition(t *testing.T) {
	goodput := func(condition, repeat int, bps float64) Trial {
		return Trial{Condition: condition, Repeat: repeat, Metrics: map[string]float64{"goodput_bps": bps}}
	}
	run := Run{
		Conditions: []Condition{{Length: 2}, {Length: 3}, {Length: 5}},
		Trials:     []Trial{goodput(1, 2, 30), goodput(0, 1, 10), goodput(1, 1, 20)},
	}
	run.Trials[0].Metrics["loss_ratio"] = 0.5
	got := Summarize(run)
	if len(got) != 3 || got[2].Metrics == nil || len(got[2].Metrics) != 0 {
		t.Fatalf("%+v", got)
	}
	if m := got[1].Metrics; *m["goodput_bps"].Mean != 25 || m["goodput_bps"].N != 2 || m["loss_ratio"].N != 1 {
		t.Errorf("%+v", m)
	}
	if xs := run.Samples(1, "goodput_bps"); !slices.Equal(xs, []float64{20, 30}) {
		t.Errorf("samples %v, want them by repeat", xs)
	}
	if Summarize(Run{}) == nil {
		t.Error("no conditions give nil, which is null in JSON")
	}
}

func TestNeverAveraged(t *testing.T) {
	for name, want := range map[string]orderStatistic{
		"latency_p50_ns": {50, "latency_ns"}, "latency_p9_ns": {9, "latency_ns"},
		"latency_p999_ns": {99.9, "latency_ns"}, "one_way_p9999_ns": {99.99, "one_way_ns"},
		"latency_p100_ns": {100, "latency_ns"}, "latency_min_ns": {0, "latency_ns"}, "latency_median_ns": {50, "latency_ns"},
	} {
		if got, is := parseOrderStatistic(name); !is || math.Abs(got.Percent-want.Percent) > 1e-9 || got.Stem != want.Stem {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	for _, name := range []string{"goodput_bps", "p_ratio", "latency_mean_ns", "packets_px", "minutes_s", "p50"} {
		if NeverAveraged(name) {
			t.Errorf("%s taken for a percentile", name)
		}
	}
}

func TestListsAreNeverNull(t *testing.T) {
	run := Run{Conditions: []Condition{{}}, Trials: []Trial{{Raw: []ToolOutput{{Output: json.RawMessage("{}")}}}}}
	for name, v := range map[string]any{"empty": Run{}, "filled": run, "summary": Summarize(run)} {
		text, err := json.Marshal(v)
		if err != nil || strings.Contains(string(text), "null") {
			t.Errorf("%s: %v %s", name, err, text)
		}
	}
}

func TestRunSurvivesJSON(t *testing.T) {
	run, _ := drawLatencies(t)
	run.Conditions[0].Factors = map[string]any{"length": 3.0, "zerocopy": true}
	text, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	var back Run
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	again, _ := json.Marshal(back)
	if string(again) != string(text) {
		t.Error("differs after a round trip")
	}
}

// TestRatiosThatAreNoShares may be above one, with their intervals.
func TestRatiosThatAreNoShares(t *testing.T) {
	run := Run{Conditions: []Condition{{}}}
	for i, v := range []float64{0.9, 1, 1.1} {
		run.Trials = append(run.Trials, Trial{Repeat: i + 1, Metrics: Map[float64]{"transfer_time_ratio": v, "loss_ratio": v - 0.1}})
	}
	m := Summarize(run)[0].Metrics
	if hi := m["transfer_time_ratio"].CI95[1]; hi <= 1.1 {
		t.Errorf("the interval of a ratio ends at %v", hi)
	}
	if hi := m["loss_ratio"].CI95[1]; hi != 1 {
		t.Errorf("the interval of a share ends at %v", hi)
	}
}

// TestIntervalsBeyondBounds: what lies below zero, or above one, is told with the interval around it.
func TestIntervalsBeyondBounds(t *testing.T) {
	run := Run{Conditions: []Condition{{}}}
	for i, v := range []float64{1.8, 1.9, 2, 2.1, 2.2, 2.3} {
		run.Trials = append(run.Trials, Trial{Repeat: i + 1, Metrics: Map[float64]{"duplicate_ratio": v, "change_ns": -v}})
	}
	for name, s := range Summarize(run)[0].Metrics {
		centre := s.Median
		if s.Mean != nil {
			centre = *s.Mean
		}
		if s.CI95 != nil && (s.CI95[0] > centre || s.CI95[1] < centre) {
			t.Errorf("%s: %v around %v", name, *s.CI95, centre)
		}
	}
}
