package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
)

func TestReadingsOfOneStatementStandTogether(t *testing.T) {
	low, high := .1, .15
	r := Report{Verdicts: []experiment.Verdict{
		{ID: "a2016/fig1:eleven", Verdict: experiment.Holds, Estimate: &low, CI95: &[2]float64{.09, .12}, AtMost: &high},
		{ID: "a2016/fig2", Verdict: experiment.CannotBeTold},
		{ID: "a2016/fig1:fifteen", Verdict: experiment.DoesNotHold, Estimate: &low, AtLeast: &high, Note: "later in the text"},
	}}
	all := r.statements()
	if len(all) != 2 || len(all[0].Claims) != 2 || all[0].ID != "a2016/fig1" || all[0].Claims[1].ID != "a2016/fig1:fifteen" || all[1].Several() {
		t.Fatalf("%+v", all)
	}
	if all[0].Claims[0].Span == "" || all[1].Claims[0].Span != "" {
		t.Error("an estimate has no bar, or what has none has one")
	}
}

// TestClaimsAtTheCalibratedLoad stand beside those of the source, and are counted apart.
func TestClaimsAtTheCalibratedLoad(t *testing.T) {
	of := func(id, verdict string) experiment.Verdict { return experiment.Verdict{ID: id, Verdict: verdict} }
	r := Report{Verdicts: []experiment.Verdict{
		of("a/one", experiment.Holds), of("a/two:x", experiment.Holds), of("a/two:y", experiment.Undecided),
		of("a/one@calibrated", experiment.DoesNotHold), of("a/two:x@calibrated", experiment.Holds),
	}}
	var got []string
	for _, s := range r.statements() {
		got = append(got, fmt.Sprintf("%s%s%s (%d)", s.Head(), s.ID, s.Tail(), len(s.Claims)))
	}
	if len(got) != 2 || !strings.HasPrefix(got[0], "a/one, as the source measured and at") || !strings.HasSuffix(got[0], "(2)") || !strings.HasPrefix(got[1], "2 checks ofa/two: parts") || !strings.HasSuffix(got[1], "(3)") {
		t.Errorf("%q", got)
	}
	if got, want := r.verdictCounts(), "2 holds, 1 undecided; at the calibrated load: 1 holds, 1 does not hold"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

// TestGapsHaveReasons: conditions without trials, and combinations, many of one
// reason in one row.
func TestGapsHaveReasons(t *testing.T) {
	r := sampleExperiment()
	for i := range 200 {
		r.Run.Infeasible = append(r.Run.Infeasible, trial.Infeasible{Factors: map[string]any{"length": 6000 + i}, Reason: "too long"})
	}
	r.Run.Dropped = []trial.Infeasible{{Factors: map[string]any{"flows": 1}, Reason: "no time"}}
	r.Run.Conditions = append(r.Run.Conditions, trial.Condition{Path: trial.PathChain, Protocol: trial.TCP, Length: 99})
	r.Conditions = trial.Summarize(r.Run)
	table := r.gapsTable()
	var rows []string
	for _, row := range table.Rows {
		rows = append(rows, strings.Join(row.Cells, " | "))
	}
	text := strings.Join(rows, "\n")
	for _, want := range []string{
		"zerocopy, length 20, 2 s | has 2 of 3 trials", "zerocopy, length 99, 0 s | no trial of it is stored: the run is interrupted",
		"length=6000; length=6001; length=6002; length=6003 and 196 more | too long", "flows=1 | no time",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not among\n%s", want, text)
		}
	}
	if len(table.Rows) != 5 {
		t.Errorf("%d rows:\n%s", len(table.Rows), text)
	}
	if whole := sampleBench(); whole.gapsTable() != nil {
		t.Error("a run that told everything has gaps")
	}
}

// TestFailedTrialsAreGaps: that they are stored is no measurement.
func TestFailedTrialsAreGaps(t *testing.T) {
	r := sampleBench()
	r.Run.Trials = slices.Clone(r.Run.Trials)
	failed := &r.Run.Trials[0]
	failed.Metrics, failed.Warnings = nil, trial.List[string]{"failed: the tool hangs"}
	r.Conditions = trial.Summarize(r.Run)
	table := r.gapsTable()
	if table == nil || len(table.Rows) != 1 || !strings.HasSuffix(table.Rows[0].Cells[1], "; failed: the tool hangs") {
		t.Fatalf("%+v", table)
	}
}

// TestEstimatesAreShort, however small they are.
func TestEstimatesAreShort(t *testing.T) {
	for want, c := range map[string]struct {
		v  float64
		ci *[2]float64
	}{
		"0.102 [0.081, 0.123]": {.102, &[2]float64{.081, .123}}, "-3.2e-10 [-6.7e-10, 3.3e-11]": {-3.2e-10, &[2]float64{-6.73e-10, 3.32e-11}},
		"0 [0, 0]": {0, &[2]float64{0, 0}}, "2.0e-06": {2e-6, nil}, "1.085": {1.085, nil}, "0.00000 [-0.00020, 0.00020]": {0, &[2]float64{-.0002, .0002}},
	} {
		if got := estimateText(unit{Factor: 1}, c.v, c.ci); got != want {
			t.Errorf("%v %v: %q, want %q", c.v, c.ci, got, want)
		}
	}
	if u := (unit{Factor: 1}); u.bound(1e-9)+" "+u.bound(.08)+" "+u.bound(0)+" "+u.bound(100) != "1e-09 0.08 0 100" {
		t.Errorf("%s %s %s %s", u.bound(1e-9), u.bound(.08), u.bound(0), u.bound(100))
	}
}

// TestValuesHaveTheirUnit, ratios and places have none.
func TestValuesHaveTheirUnit(t *testing.T) {
	estimate, most := 4.006e9, 3.75e6
	v := experiment.Verdict{Quantity: "goodput_bps with copies=8", Estimate: &estimate, CI95: &[2]float64{3.78e9, 4.23e9}, AtMost: &most}
	if c := newClaim(v, "x"); c.Numbers != "4.01 [3.78, 4.23] Gb/s" || c.Range != "at most 0.00375 Gb/s" || !strings.Contains(string(c.Span), ">0.00375 Gb/s<") {
		t.Errorf("%s, %s, %s", c.Numbers, c.Range, c.Span)
	}
	estimate, most = 1.5, 2
	for _, quantity := range []string{"ratio of goodput_bps from a to b", "goodput_bps at which more is had", ""} {
		v.Quantity, v.CI95 = quantity, &[2]float64{1, 2}
		if c := newClaim(v, "x"); c.Numbers != "1.50 [1.00, 2.00]" || c.Range != "at most 2" {
			t.Errorf("%s: %s, %s", quantity, c.Numbers, c.Range)
		}
	}
}
