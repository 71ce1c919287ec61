package run_test

import (
	"context"
	"errors"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// generator is a tool that makes its own frames, of a test.
type generator struct{ tool }

func (generator) Protocols() []string { return []string{trial.UDP} }

func (generator) Ceiling(context.Context, trial.Condition) (float64, error) { return ceiling, nil }

// A chain with a sharp capacity, and what the generator can send.
const (
	capacity = 412345.0
	ceiling  = 1e6
)

// carries is a chain that loses what is above its capacity.
func carries(_ context.Context, job traffic.Job) (traffic.Sample, error) {
	load := job.Condition.OfferedPps
	return traffic.Sample{Metrics: map[string]float64{"sent_pps": load, "forwarding_rate_pps": min(load, capacity),
		"loss_ratio": max(0, 1-capacity/load)}}, nil
}

func searching() api.Load {
	l := load(2, trial.UDP)
	l.Direct = nil
	l.Search = &api.Search{Method: trial.RFC2544Throughput, Waits: &api.SearchWaits{}}
	return l
}

func TestSearch(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	m, r := b.measurement(searching(), generator{tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		if a := job.Asked; a == nil || a.LoadPps != job.Condition.OfferedPps || a.DurationS != job.Condition.DurationS || a.LoadPps > ceiling {
			t.Errorf("asked %+v under %+v", a, job.Condition)
		}
		return carries(ctx, job)
	}}})
	if got := r.Conditions[0].Search.MaxPps; got != ceiling {
		t.Errorf("highest load %v", got)
	}
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	b.gone()
	steps, results := 0, 0
	for _, s := range b.stored(r.ID).Trials {
		if s.Step > 0 {
			steps++
			continue
		}
		results++
		if got := s.Metrics["throughput_pps"]; got > capacity || got < capacity*0.995 || len(s.Warnings) > 0 {
			t.Errorf("repeat %d found %v: %v", s.Repeat, got, s.Warnings)
		}
	}
	if results != 2 || steps < 10 || steps > 60 {
		t.Errorf("%d results of %d steps", results, steps)
	}
	if n := trial.Summarize(*r)[0].Metrics["throughput_pps"].N; n != 2 {
		t.Errorf("the summary is of %d repeats", n)
	}
}

// TestSearchGoesOn after an interruption, from the trials that are stored.
func TestSearchGoesOn(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	ctx, cancel := context.WithCancel(context.Background())
	l := searching()
	l.Repeats = 1
	calls := 0
	m, r := b.measurement(l, generator{tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		if calls++; calls == 4 {
			cancel()
		}
		return carries(ctx, job)
	}}})
	if err := m.Run(ctx, r); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	half := b.stored(r.ID)
	if len(half.Trials) != 3 || half.State != trial.Interrupted {
		t.Fatalf("%d trials, %s", len(half.Trials), half.State)
	}
	again := b.of(generator{tool{carries}}, &half)
	if err := again.Run(context.Background(), &half); err != nil {
		t.Fatal(err)
	}
	b.gone()
	for i, s := range half.Trials {
		if last := i == len(half.Trials)-1; last != (s.Step == 0) || !last && (s.Step != i+1 || s.Asked.Why == "") {
			t.Errorf("trial %d is step %d: %+v", i, s.Step, s.Asked)
		}
	}
}

func TestCalibrateRefuses(t *testing.T) {
	conditions := func(tool string, least float64) []trial.Condition {
		return []trial.Condition{{Protocol: trial.UDP, Tool: tool, Search: &trial.Search{Method: trial.MLRsearch, MinPps: least}}}
	}
	tools := []traffic.Tool{tool{}, generator{}}
	for name, c := range map[string][]trial.Condition{
		"no generator": conditions("other", 0), "least above most": conditions("tool", 2*ceiling),
	} {
		if err := run.Calibrate(context.Background(), c, tools); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// TestInterruptedWhileItSettles: a trial that is finished is kept before the pause
// that follows it.
func TestInterruptedWhileItSettles(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	l := searching()
	l.Search.Waits.Settle = api.Duration(time.Hour)
	m, r := b.measurement(l, generator{tool{carries}})
	m.Stored = func(r trial.Run) {
		if len(r.Trials) == 1 {
			cancel()
		}
	}
	if err := m.Run(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	b.gone()
	if got := b.stored(r.ID); len(got.Trials) != 1 || got.Trials[0].Step != 1 || got.Finished() != 0 {
		t.Errorf("%d trials stored, %d finished", len(got.Trials), got.Finished())
	}
}

// teacher is a generator that sends learning frames, of a test.
type teacher struct {
	generator
	taught func(traffic.Job)
}

func (t teacher) Teach(_ context.Context, job traffic.Job) error {
	t.taught(job)
	return nil
}

// TestLearningFrames are sent once before each trial of a search that pauses for them, with
// the flows of the trial, over the same chain.
func TestLearningFrames(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	l := searching()
	l.Flows, l.Repeats, l.Search.Waits.Learn = 7, 1, api.Duration(time.Millisecond)
	taught, trials := 0, 0
	var last traffic.Job
	with := teacher{generator{tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		if trials++; taught != trials || last.Condition.OfferedPps != job.Condition.OfferedPps || last.Condition.Flows != 7 || last.Address != job.Address || last.Asked != nil {
			t.Errorf("trial %d is of %+v, taught %d times, last of %+v", trials, job, taught, last)
		}
		return carries(ctx, job)
	}}}, func(job traffic.Job) { taught, last = taught+1, job }}
	m, r := b.measurement(l, with)
	if !r.Conditions[0].Search.LearningFrames {
		t.Error("the search does not know of learning frames")
	}
	if err := m.Run(context.Background(), r); err != nil || trials < 10 {
		t.Errorf("%d trials, %v", trials, err)
	}
	b.gone()
	// A tool that sends none any more cannot go on.
	r.Trials = nil
	if err := b.of(generator{tool{carries}}, r).Run(context.Background(), r); !errors.Is(err, run.ErrInput) {
		t.Errorf("without learning frames: %v", err)
	}
}
