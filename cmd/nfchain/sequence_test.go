package main

import (
	"context"
	"path/filepath"
	"testing"
	"time"

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
