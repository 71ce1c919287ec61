package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/results"
	"nfchain.dev/nfchain/internal/trial"
)

// TestSequenceKnowsWhatItMeasured: a run that ended before that was noted is not measured
// again, one that did not end is, and so is one that somebody removed.
func TestSequenceKnowsWhatItMeasured(t *testing.T) {
	store, err := results.Open(filepath.Join(t.TempDir(), "results.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	ctx := context.Background()
	for id, state := range map[string]string{"20261121-090000-done": trial.Done, "20261121-090000-fail": trial.Failed, "20261121-090000-stop": trial.Interrupted} {
		if err := store.CreateRun(ctx, trial.Run{ID: id, Chain: "c", State: state, CreatedAt: time.Unix(1, 0)}); err != nil {
			t.Fatal(err)
		}
	}
	q := &queue{store: store}
	for _, c := range []struct {
		step sequenceStep
		run  string
	}{
		{sequenceStep{}, ""}, {sequenceStep{Begun: "20261121-090000-done"}, "20261121-090000-done"}, {sequenceStep{Run: "20261121-090000-done"}, "20261121-090000-done"},
		{sequenceStep{Begun: "20261121-090000-fail"}, ""}, {sequenceStep{Begun: "20261121-090000-stop"}, ""},
		{sequenceStep{Run: "20261121-090000-gone"}, ""}, {sequenceStep{Begun: "20261121-090000-gone", Run: "20261121-090000-done"}, "20261121-090000-done"},
	} {
		step := c.step
		if r, err := q.before(ctx, &step); err != nil || step.Run != c.run || step.Run != "" && r.ID != c.run {
			t.Errorf("%+v: %q, %s, %v", c.step, step.Run, r.ID, err)
		}
	}
}

// TestSequenceLooksAgain at what could not be measured when it began.
func TestSequenceLooksAgain(t *testing.T) {
	nstest.Root(t)
	ctx := context.Background()
	a := &app{env: env{stderr: io.Discard, now: time.Now, getenv: func(string) string { return "" }}}
	h := a.host(ctx)
	var all []work
	for _, flows := range []string{"1", "cores/999"} { // the latter is none
		text := "apiVersion: nfchain.dev/v1alpha1\nkind: Experiment\nmetadata: {name: " + nstest.Owner(t) + "}\nspec:\n" +
			"  load: {tool: rr, protocols: [tcp_rr], duration: 1s, repeats: 3}\n  sweep:\n  - {field: flows, values: [" + flows + "]}\n"
		f, err := registry.Words().Decode("a file", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, work{"one", text, f})
	}
	for _, budget := range []time.Duration{0, time.Second} {
		s := &sequence{Steps: []sequenceStep{{ID: "one", NotHere: "it needs a tool"}, {ID: "two", NotHere: "it needs a tool"}}}
		if err := a.lookAgain(ctx, h, s, all, experimentFlags{budget: budget}); err != nil {
			t.Fatal(err)
		}
		one, two := s.Steps[0], s.Steps[1]
		if one.done() || one.ExpectedS <= 0 || (one.BudgetS > 0) != (budget > 0) {
			t.Errorf("%+v", one)
		}
		if !two.done() || two.NotHere == "it needs a tool" {
			t.Errorf("%+v", two)
		}
	}
}

// TestToldHowToGoOn: with --fresh again, nothing would go on.
func TestToldHowToGoOn(t *testing.T) {
	for fresh, want := range map[bool]string{false: "1 of 2 experiments are done, the same command again goes on from there", true: "the same command without --fresh goes on"} {
		q := &queue{flags: experimentFlags{fresh: fresh}, sequence: &sequence{Steps: []sequenceStep{{ID: "a", Run: "r"}, {ID: "b"}}}}
		if got := q.stopped(context.Canceled, 1); !strings.Contains(got.Error(), want) {
			t.Errorf("%v", got)
		}
	}
}

// TestAnotherCalibrationIsAnotherRun, though nothing that was varied tells of its load.
func TestAnotherCalibrationIsAnotherRun(t *testing.T) {
	of := func(flows int, size uint64) trial.Run {
		return trial.Run{
			Conditions: []trial.Condition{{Flows: flows, PayloadSize: size, Factors: trial.Map[any]{"length": 3, experiment.CalibratedFactor: true}}},
			Calibrated: trial.Map[any]{"flows": flows, "payload_size": size},
		}
	}
	if !alike(of(4, 1024), of(4, 1024)) || alike(of(4, 1024), of(8, 1024)) || alike(of(4, 1024), of(4, 2048)) {
		t.Error("runs at another load are taken for the same")
	}
}

// TestResumesTheRunThatIsTheSame, though another of the same file was interrupted since.
func TestResumesTheRunThatIsTheSame(t *testing.T) {
	store, err := results.Open(filepath.Join(t.TempDir(), "results.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	ctx := context.Background()
	a := &app{env: env{stderr: io.Discard, now: time.Now, getenv: func(string) string { return "" }}}
	s := subject{text: "spec", h: a.host(ctx), quick: true}
	s.x.Metadata.Name = "x"
	cells := trial.Run{Conditions: []trial.Condition{{Protocol: trial.TCP}}}
	begin := func(id string, at int64, quick bool, conditions []trial.Condition) {
		r := trial.Run{ID: id, Chain: "x", Experiment: "x", Spec: "spec", State: trial.Interrupted, CreatedAt: time.Unix(at, 0), Quick: quick,
			Conditions: conditions, Environment: s.h.Features.Environment(versionText())}
		if err := store.CreateRun(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	begin("20261121-090000-same", 1, true, cells.Conditions)
	begin("20261121-100000-full", 2, false, cells.Conditions)
	begin("20261121-110000-more", 3, true, append(cells.Conditions, trial.Condition{Protocol: trial.UDP}))
	if r, can := a.resumable(ctx, store, s, cells); !can || r.ID != "20261121-090000-same" {
		t.Errorf("%t: %s", can, r.ID)
	}
	if r, can := a.resumable(ctx, store, s, cells); can {
		t.Errorf("it is being written, and %s is taken up again", r.ID)
	}
	s.fresh = true
	if _, can := a.resumable(ctx, store, s, cells); can {
		t.Error("nothing goes on with --fresh")
	}
}

// TestOneLockOfAFile however it is called, whether it is there or not.
func TestOneLockOfAFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Symlink(dir, "link"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		want := sequenceLockOf(filepath.Join(dir, "results.db"))
		for _, path := range []string{"results.db", "./link/results.db"} {
			if got := sequenceLockOf(path); got != want || got == sequenceLockOf("other.db") {
				t.Errorf("%s: %s, want %s", path, got, want)
			}
		}
		if err := os.WriteFile("results.db", nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
