package report

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"slices"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/parquet-go/parquet-go"

	"nfchain.dev/nfchain/internal/trial"
)

func TestParquetReadsBack(t *testing.T) {
	r := sampleBench()
	var b bytes.Buffer
	if err := Parquet(&b, r); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.Read[parquetRow](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, done := range r.Run.Trials {
		want += len(done.Metrics)
	}
	if len(rows) != want {
		t.Fatalf("%d rows, want %d", len(rows), want)
	}
	first := r.Run.Trials[0]
	at := slices.IndexFunc(rows, func(x parquetRow) bool { return x.Metric == "goodput_bps" })
	if x := rows[at]; x.Value != first.Metrics["goodput_bps"] || !x.StartedAt.Equal(first.StartedAt) || x.PayloadSize != nil || x.Path != "chain" || x.Factors != "{}" {
		t.Errorf("%+v", x)
	}
}

// TestInfeasibleCombinationsAreWholeInCSV: each factor is in its condition's column, raw, or
// in one of its own, also where no condition has it.
func TestInfeasibleCombinationsAreWholeInCSV(t *testing.T) {
	r := sampleBench()
	r.Run.Infeasible = []trial.Infeasible{
		{Factors: map[string]any{"load.rate": "100kpps", "duration": "1m30s", "load.payload_size": "64KiB", "flows": 8, "copies.fw": 3}, Reason: "no"},
		{Factors: map[string]any{"rate": 1e9, "chain.wiring": "ovs"}, Reason: "none"},
	}
	var b bytes.Buffer
	if err := CSV(&b, r); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []map[string]string{
		{"offered_pps": "100000", "offered_bps": "", "duration_s": "90", "payload_size": "65536", "flows": "8", "factor_copies.fw": "3", "factor_chain.wiring": "", "reason": "no"},
		{"offered_pps": "", "offered_bps": "1000000000", "factor_copies.fw": "", "factor_chain.wiring": "ovs", "reason": "none", "metric": "infeasible"},
	} {
		row := rows[len(rows)-2+i]
		for column, value := range want {
			if at := slices.Index(rows[0], column); at < 0 || row[at] != value {
				t.Errorf("row %d has not %s in column %s (%d): %v", i, value, column, at, row)
			}
		}
	}
}

func TestHDRLogReadsBack(t *testing.T) {
	r := sampleDetailed()
	var b bytes.Buffer
	if err := HDRLog(&b, r); err != nil {
		t.Fatal(err)
	}
	log, read := hdrhistogram.NewHistogramLogReader(bytes.NewReader(b.Bytes())), 0
	for {
		h, err := log.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			break
		}
		if h.TotalCount() != 20000 || !strings.HasSuffix(h.Tag(), ":latency_ns") {
			t.Errorf("%s with %d samples", h.Tag(), h.TotalCount())
		}
		read++
	}
	if read != 12 {
		t.Errorf("%d histograms, want 12\n%s", read, b.String())
	}
}

func TestJUnitCounts(t *testing.T) {
	var b bytes.Buffer
	if err := JUnit(&b, sampleExperiment()); err != nil {
		t.Fatal(err)
	}
	var s suite
	if err := xml.Unmarshal(b.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	// Ten conditions, of which one lacks a trial; one that is infeasible; four claims.
	if s.Tests != 15 || len(s.Cases) != 15 || s.Failures != 1 || s.Errors != 1 || s.Skipped != 3 {
		t.Errorf("%+v", s)
	}
	if c := s.Cases[10]; c.Skipped == nil || c.Skipped.Message != "a bridge takes 1,023 ports | and no more" {
		t.Errorf("%+v", c)
	}
	if c := s.Cases[12]; c.Name != "livi2016/fig7-fade" || c.Failure == nil || c.Failure.Message != "it is 0.4% more <per> hop" {
		t.Errorf("%+v", c)
	}
}

func TestOpenMetricsEnds(t *testing.T) {
	r := sampleBench()
	r.Run.Trials = r.Run.Trials[:2]
	var b bytes.Buffer
	if err := OpenMetrics(&b, r); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		`nfchain_trials{chain="edge",experiment="",run="20261121-035352-k3f9"} 2.0`, "nfchain_trials_planned{", `} 36.0`,
		`metric="goodput_bps",path="chain"`, `state="done"} 1.0`, "# TYPE nfchain_trial gauge",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if !strings.HasSuffix(text, "# EOF\n") {
		t.Errorf("no end: %s", text)
	}
}

// TestInterruptedSaysWhatGoesOn: an experiment does, and nothing else.
func TestInterruptedSaysWhatGoesOn(t *testing.T) {
	r := sampleSearch()
	r.Run.State, r.Run.Experiment = trial.Interrupted, ""
	if got := r.warnings()[0]; got != "The run was interrupted; what it measured before is shown." {
		t.Error(got)
	}
	r.Run.Experiment = "falls"
	if got := r.warnings()[0]; got != "The run was interrupted; the same command again goes on where it stopped." {
		t.Error(got)
	}
}

// TestJUnitOfASearch: one that was interrupted is an error; one that ended has the time
// of its steps, once.
func TestJUnitOfASearch(t *testing.T) {
	whole := sampleSearch()
	cut := whole.Run
	cut.State = trial.Interrupted
	cut.Trials = slices.DeleteFunc(slices.Clone(cut.Trials), func(t trial.Trial) bool { return t.Condition == 1 && t.Step == 0 })
	for name, c := range map[string]struct {
		report Report
		errors int
	}{"whole": {whole, 0}, "interrupted": {New(cut), 1}} {
		var b bytes.Buffer
		if err := JUnit(&b, c.report); err != nil {
			t.Fatal(err)
		}
		var s suite
		if err := xml.Unmarshal(b.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		if s.Tests != 4 || s.Errors != c.errors || (s.Cases[1].Error != nil) != (c.errors == 1) {
			t.Errorf("%s: %+v", name, s)
		}
		if want := c.report.Searches[0].TrafficS + c.report.Searches[0].WaitS; s.Cases[0].Time != raw(want) {
			t.Errorf("%s: %s s, want %v", name, s.Cases[0].Time, want)
		}
	}
}

func junitOf(t *testing.T, r Report) (s suite) {
	t.Helper()
	var b bytes.Buffer
	if err := JUnit(&b, r); err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(b.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestJUnitOfFailedTrials: they are stored, and no pass, neither all of a condition nor one.
func TestJUnitOfFailedTrials(t *testing.T) {
	for name, c := range map[string]struct {
		fails int
		want  string
	}{
		"all": {6, "0 of 6 repeats measured anything, 6 failed: failed: iperf3: connection refused"},
		"one": {1, "5 of 6 repeats measured anything, 1 failed: failed: iperf3: connection refused"},
	} {
		left := c.fails
		run := sampleBench().Run
		for i := range run.Trials {
			if run.Trials[i].Condition == 0 && left > 0 {
				left--
				failing(&run.Trials[i])
			}
		}
		if s := junitOf(t, New(run)); s.Errors != 1 || s.Cases[0].Error == nil || s.Cases[0].Error.Message != c.want {
			t.Errorf("%s: %+v", name, s.Cases[0].Error)
		}
	}
}

// TestJUnitOfAGate: slower than the baseline is a failure.
func TestJUnitOfAGate(t *testing.T) {
	for by, want := range map[float64]string{.5: "failure", 1: "skipped"} {
		r := changed(by)
		c, err := Compare(sampleBench(), r, CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r.Against = &c
		s := junitOf(t, r)
		last := s.Cases[len(s.Cases)-1]
		if last.Class != "edge.baseline" || (last.Failure != nil) != (want == "failure") || (last.Skipped != nil) != (want == "skipped") || s.Failures != b2i(want == "failure") {
			t.Errorf("× %v: %+v", by, last)
		}
	}
}
