package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/report"
	"nfchain.dev/nfchain/internal/results"
	"nfchain.dev/nfchain/internal/trial"
)

// TestCalibrationOfThisMachineAsItIs: one of another kernel is not found, and one that was
// made under other settings counts no longer.
func TestCalibrationOfThisMachineAsItIs(t *testing.T) {
	store, err := results.Open(filepath.Join(t.TempDir(), "results.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	ctx := context.Background()
	then := trial.Environment{Kernel: "6.1", CPUModel: "a CPU", CPUs: 2, Governor: "performance"}
	made := calibration{Calibration: report.Calibration{Run: "r", GoodputBps: 1}, Environment: then}
	if err := store.SetRecord(ctx, calibrationKind, machineKey(then), made); err != nil {
		t.Fatal(err)
	}
	changed, other := then, then
	changed.Governor, other.Kernel = "powersave", "6.18"
	for _, c := range []struct {
		now  trial.Environment
		why  string
		here bool
	}{{then, "", true}, {changed, "CPU governor: performance and powersave", false}, {other, "is not calibrated", false}} {
		got, why, err := calibrationOf(ctx, store, c.now)
		if err != nil || (got != nil) != c.here || !strings.Contains(why, c.why) {
			t.Errorf("%+v: %+v, %q, %v", c.now, got, why, err)
		}
	}
}

// TestEveryStageOfACalibrationIsAnExperiment, each beginning with what the one before would
// find: the values that a file was read to.
func TestEveryStageOfACalibrationIsAnExperiment(t *testing.T) {
	for _, best := range experiment.CalibrationStarts() {
		b := &calibrator{app: &app{}, calibrateFlags: calibrateFlags{name: "c", duration: time.Second}}
		for _, c := range experiment.Coordinates(4) {
			s, err := b.stage(c.Name, 4, c.Cells(best))
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			best = s.x.Spec.Cells[len(s.x.Spec.Cells)-1]
		}
	}
}

// TestCalibrationMeasuresAnewWhatToldNothing: a run that does not tell what it was for is not
// gone back to when the calibration goes on, and one that does is.
func TestCalibrationMeasuresAnewWhatToldNothing(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, "tool.iperf3")
	ctx := context.Background()
	store, err := results.Open(filepath.Join(t.TempDir(), "results.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	a := &app{env: env{stderr: io.Discard, now: time.Now, getenv: func(string) string { return "" }}}
	b := &calibrator{app: a, calibrateFlags: calibrateFlags{name: nstest.Owner(t), duration: time.Second, repeats: 4}, h: a.host(ctx), store: store}
	if err := b.begin(ctx); err != nil {
		t.Fatal(err)
	}
	tells := errors.New("it tells nothing")
	var ids []string
	for range 3 {
		s, err := b.stage("nothing", 1, []map[string]any{b.found.Best})
		if err != nil {
			t.Fatal(err)
		}
		err = b.measured(ctx, s, func(r trial.Run) error { ids = append(ids, r.ID); return tells })
		if !errors.Is(err, tells) {
			t.Fatal(err)
		}
		tells = nil
	}
	if len(ids) != 3 || ids[0] == ids[1] || ids[1] != ids[2] {
		t.Errorf("runs %v", ids)
	}
}

func TestBelowTheNoiseFloor(t *testing.T) {
	c := &calibration{Calibration: report.Calibration{Floors: []report.NoiseFloor{{Repeats: 10, Ratio: 0.02}, {Repeats: 3, Ratio: 0.05}}}}
	at := func(x float64) experiment.Verdict { return experiment.Verdict{Estimate: &x} }
	for _, one := range []struct {
		of       *calibration
		kind     string
		estimate float64
		repeats  int
		below    string
	}{
		{c, "ratio", 1.04, 3, "with 3 repeats this machine cannot show less than 5%"}, {c, "ratio", 0.94, 3, ""}, {c, "ratio", 1.04, 10, ""},
		{c, "loss", 0.01, 20, "less than 2%"}, {c, "loss", -0.01, 2, "less than 5%"}, {c, "flat", 0.01, 10, "less than 2%"},
		{c, "rises", 0.001, 3, ""}, {nil, "ratio", 1, 3, ""}, {&calibration{}, "ratio", 1, 3, ""},
	} {
		got := one.of.below(api.Check{Kind: one.kind, Metric: goodput}, at(one.estimate), one.repeats)
		if (got == "") != (one.below == "") || !strings.Contains(got, one.below) {
			t.Errorf("%+v: %q", one, got)
		}
	}
	if got := c.below(api.Check{Kind: "ratio", Metric: goodput}, experiment.Verdict{}, 3); got != "" {
		t.Errorf("without an estimate: %q", got)
	}
	if got := c.below(api.Check{Kind: "ratio", Metric: "transactions_per_second"}, at(1.01), 3); got != "" {
		t.Errorf("of a metric that was not looked at: %q", got)
	}
}

// TestReportsTellOfTheNoiseFloor of the machine that their run was on.
func TestReportsTellOfTheNoiseFloor(t *testing.T) {
	store, err := results.Open(filepath.Join(t.TempDir(), "results.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	ctx, here := context.Background(), trial.Environment{Kernel: "6.1", CPUModel: "a CPU", CPUs: 2}
	made := calibration{Calibration: report.Calibration{Floors: []report.NoiseFloor{{Repeats: 3, Ratio: .1}}}, Environment: here}
	if err := store.SetRecord(ctx, calibrationKind, machineKey(here), made); err != nil {
		t.Fatal(err)
	}
	spec := "apiVersion: nfchain.dev/v1alpha1\nkind: Experiment\nmetadata: {name: x}\nspec:\n  sweep: [{field: length, values: [2, 3]}]\n" +
		"  claims: [{id: c, text: t, check: {kind: ratio, metric: goodput_bps, a: {length: 2}, b: {length: 3}, at_most: 1}}]\n"
	for _, c := range []struct {
		environment trial.Environment
		ratio       float64
		told        bool
	}{{here, .95, true}, {here, .8, false}, {trial.Environment{Kernel: "6.18"}, .95, false}} {
		rep := report.New(trial.Run{ID: "r", Spec: spec, Experiment: "x", Repeats: 3, Environment: c.environment})
		rep.Verdicts = []experiment.Verdict{{ID: "c", Verdict: experiment.Holds, Estimate: &c.ratio, Reason: "why"}}
		knownNoise(ctx, store, &rep)
		if got := rep.Verdicts[0].Floor; (got != "") != c.told {
			t.Errorf("%v on %s: %q", c.ratio, c.environment.Kernel, got)
		}
		for _, format := range []string{"text", "md", "json"} {
			var b strings.Builder
			if err := render(&b, rep, format); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(b.String(), "below the noise floor") != c.told {
				t.Errorf("%v on %s as %s:\n%s", c.ratio, c.environment.Kernel, format, b.String())
			}
		}
	}
}
