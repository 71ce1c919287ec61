package results

import (
	"context"
	"errors"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/trial"
)

func experimentRun(id string, at time.Time, state string) trial.Run {
	run := sampleRun(id, at)
	run.Experiment, run.State = "fig7", state
	return run
}

func TestUnfinishedIsOfThisSpecAndNobodys(t *testing.T) {
	s, ctx := open(t), context.Background()
	other := openAt(t, s.Path())
	spec := sampleRun("x", start).Spec
	must(t, s.CreateRun(ctx, experimentRun("done", start, trial.Done)))
	must(t, s.CreateRun(ctx, experimentRun("alive", start.Add(3), trial.Running)))
	if _, err := other.Unfinished(ctx, "fig7", spec); !errors.Is(err, ErrNotFound) {
		t.Errorf("with none: %v", err)
	}
	must(t, s.CreateRun(ctx, experimentRun("old", start.Add(1), trial.Interrupted)))
	must(t, s.CreateRun(ctx, experimentRun("new", start.Add(2), trial.Interrupted)))
	if id, err := other.Unfinished(ctx, "fig7", spec); id != "new" || err != nil {
		t.Errorf("got %q, %v", id, err)
	}
	for _, c := range [][2]string{{"fig8", spec}, {"fig7", spec + " "}} {
		if _, err := other.Unfinished(ctx, c[0], c[1]); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", c, err)
		}
	}
}

func TestResumeIsForOne(t *testing.T) {
	s, ctx := open(t), context.Background()
	other := openAt(t, s.Path())
	must(t, s.CreateRun(ctx, experimentRun("a", start, trial.Interrupted)))
	must(t, s.AppendTrial(ctx, "a", sampleTrial(0, 1)))
	run, err := s.Resume(ctx, "a")
	if err != nil || run.State != trial.Running || len(run.Trials) != 1 {
		t.Fatalf("%+v, %v", run, err)
	}
	for _, store := range []*Store{s, other} {
		if _, err := store.Resume(ctx, "a"); !errors.Is(err, ErrHeld) {
			t.Errorf("second: %v", err)
		}
		if err := store.Remove(ctx, "a"); !errors.Is(err, ErrHeld) {
			t.Errorf("remove: %v", err)
		}
	}
	if state := get(t, other, "a").State; state != trial.Running {
		t.Errorf("the other sees %q", state)
	}
	must(t, s.SetState(ctx, "a", trial.Interrupted))
	if _, err := other.Resume(ctx, "a"); err != nil {
		t.Errorf("after release: %v", err)
	}
}

func TestClosedWriterLeavesItInterrupted(t *testing.T) {
	s, ctx := open(t), context.Background()
	must(t, s.CreateRun(ctx, experimentRun("a", start, trial.Running)))
	must(t, s.Close())
	other := openAt(t, s.Path())
	if state := get(t, other, "a").State; state != trial.Interrupted {
		t.Errorf("state %q", state)
	}
	all, err := other.List(ctx)
	if err != nil || all[0].State != trial.Interrupted {
		t.Errorf("%+v, %v", all, err)
	}
}
