package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/feature"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

// prospectOf is an experiment of some conditions of 30 s, ten times, of which claims need the first two.
func prospectOf(conditions int) prospect {
	least := 0.
	spec := api.ExperimentSpec{
		Load: api.Load{Duration: api.Duration(30 * time.Second), Repeats: 10}, Quick: &api.Load{Duration: api.Duration(time.Second), Repeats: 3},
		Claims: []api.Claim{{ID: "c", Check: api.Check{Kind: "ratio", Metric: "goodput_bps", A: map[string]any{"length": 2}, B: map[string]any{"length": 3}, AtLeast: &least}}},
	}
	t := experiment.Trimming{Spec: spec, Course: experiment.Course{Chain: make([]int, conditions)}, Repeats: 10, Cost: experiment.Cost{Trial: 0.1, Chain: 1}}
	for i := range conditions {
		t.Conditions = append(t.Conditions, trial.Condition{DurationS: 30, Length: i + 2, Factors: map[string]any{"length": i + 2}})
	}
	return prospect{whole: t}
}

// TestSequenceFitsItsBudget: what claims need comes first, trials are shortened no more than
// that takes, and the reader is told how long all of it takes.
func TestSequenceFitsItsBudget(t *testing.T) {
	for _, c := range []struct {
		budget time.Duration
		quick  bool
		short  experiment.Shortening
		told   string
	}{
		{0, false, experiment.Shortening{}, ""},
		{24 * time.Hour, false, experiment.Shortening{}, ""},
		{2 * time.Hour, false, experiment.Shortening{}, "all of it takes about 2h31m, and what claims need 20m10s of that; to take about 2h, combinations that no claim needs are left out (--budget none has all)"},
		{15 * time.Minute, false, experiment.Shortening{DurationS: 20}, "left out, and trials are cut to 20s where"},
		{time.Minute, false, experiment.Shortening{DurationS: 1}, "trials are cut to 1s where"},
		{30 * time.Second, false, experiment.Shortening{DurationS: 1, Repeats: 5}, "trials are cut to 1s and repeats to 5 where"},
		{time.Second, false, experiment.Shortening{DurationS: 1, Repeats: 3}, "more than the budget of 1s"},
		{time.Minute, true, experiment.Shortening{}, "more than the budget of 1m"},
	} {
		s := &sequence{Steps: make([]sequenceStep, 3)}
		steps := []prospect{prospectOf(15), prospectOf(15), {}}
		if err := s.fit(steps, experimentFlags{budget: c.budget, quick: c.quick}); err != nil {
			t.Fatal(err)
		}
		told := strings.Join(s.told(c.budget), "\n")
		if s.Short != c.short || c.told == "" != (told == "") || !strings.Contains(told, c.told) {
			t.Errorf("%v: %+v: %s", c.budget, s.Short, told)
		}
		if c.budget > 0 && s.Over == "" && s.left(0) > c.budget.Seconds() {
			t.Errorf("%v: %.0f s are planned", c.budget, s.left(0))
		}
	}
}

// TestQuickLoadsTakenWholeArePlannedAnew, once, and only where trials are shortened.
func TestQuickLoadsTakenWholeArePlannedAnew(t *testing.T) {
	asked := 0
	one := prospectOf(2)
	one.whole.Spec.Load.Redeploy = 5
	quick := prospectOf(1).whole
	one.plan = func(experiment.Shortening) (experiment.Trimming, error) { asked++; return quick, nil }
	steps := []prospect{one, prospectOf(2)}
	s := &sequence{Steps: make([]sequenceStep, 2)}
	if err := s.fit(steps, experimentFlags{budget: 24 * time.Hour}); err != nil || asked != 0 {
		t.Errorf("planned %d times: %v", asked, err)
	}
	if err := s.fit(steps, experimentFlags{budget: 8 * time.Minute}); err != nil || asked != 1 {
		t.Errorf("planned %d times: %v", asked, err)
	}
	steps[0].quick, steps[0].plan = nil, func(experiment.Shortening) (experiment.Trimming, error) { return quick, context.Canceled }
	if err := s.fit(steps, experimentFlags{budget: 8 * time.Minute}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestBudgetFlag(t *testing.T) {
	for text, want := range map[string]time.Duration{"none": 0, "0": 0, "90s": 90 * time.Second, "1h": time.Hour} {
		var r reproduceFlags
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.SetOutput(new(bytes.Buffer))
		f.Var(budgetFlag{&r.experimentFlags}, "budget", "")
		if err := f.Parse([]string{"--budget", text}); err != nil || r.budget != want || r.timed(5).budget != want {
			t.Errorf("%s: %v, %v", text, r.budget, err)
		}
	}
	var r reproduceFlags
	for _, wrong := range []string{"-1s", "soon", "5", ""} {
		if err := (budgetFlag{&r.experimentFlags}).Set(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
	r = reproduceFlags{}
	if one, all := r.timed(1).budget, r.timed(2).budget; one != 0 || all != time.Hour {
		t.Errorf("%v, %v", one, all)
	}
	r.all, r.quick = true, true
	if got := r.timed(30).budget; got != quickBudget {
		t.Error(got)
	}
}

// TestTimeForAllDropsNothing, whatever seconds come to when they are told as a duration.
func TestTimeForAllDropsNothing(t *testing.T) {
	all := prospectOf(7).whole
	for n := 1; n <= 7; n++ {
		some := all
		some.Conditions, some.Chain = all.Conditions[:n], all.Chain[:n]
		some.Cost.Trial = 0.1 / float64(n)
		step := sequenceStep{BudgetS: some.To(0).Span.Most}
		if got := some.To(step.budget().Seconds()); len(got.Dropped) > 0 {
			t.Errorf("%d: %v is dropped", n, got.Dropped)
		}
	}
}

func TestRough(t *testing.T) {
	for seconds, want := range map[float64]string{0: "-", 0.6: "1s", 59.4: "59s", 60: "1m", 90: "1m30s", 3600: "1h", 5400: "1h30m", 3661: "1h1m1s", 7200: "2h", 194_400: "54h", 200_000: "55h33m", 600: "10m", 36000: "10h"} {
		if got := rough(seconds); got != want {
			t.Errorf("%v: %s, want %s", seconds, got, want)
		}
	}
}

// TestNoExperimentOverwritesTheIndex of their pages.
func TestNoExperimentOverwritesTheIndex(t *testing.T) {
	for id, want := range map[string]string{"livi2016/fig7": "livi2016-fig7.html", "index": "index_.html", "an-index": "an-index.html"} {
		if got := pageOf(id); got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
}

// TestWhatIsNotHereIsNotWhatIsWrong: what the machine lacks is left out, what a file has wrong
// is told at once, and anything else fails.
func TestWhatIsNotHereIsNotWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		err            error
		notHere, wrong string
		atOnce         bool
	}{
		{&feature.MissingError{}, "this machine lacks what is needed:", "", false},
		{fmt.Errorf("all: %w", errors.Join(runs.ErrInput, feature.Lacking(errors.New("one node")))), "all: " + runs.ErrInput.Error() + "\none node", "", false},
		{fmt.Errorf("no function: %w", runs.ErrInput), "", "no function", false},
		{fmt.Errorf("%w: twice", experiment.ErrSweep), "", "", true},
		{api.Problems{{}}, "", "", true},
	} {
		s := sequenceStep{ID: "x", NotHere: "before", Wrong: "before"}
		err := s.refused(c.err)
		if (err != nil) != c.atOnce || s.NotHere != c.notHere || s.Wrong != c.wrong || s.done() != (c.notHere != "") {
			t.Errorf("%v: %v, %+v", c.err, err, s)
		}
		if err != nil && (!strings.HasPrefix(err.Error(), "x: ") || code(acted{err}) != exitInput) {
			t.Errorf("%v: exit code %d", err, code(acted{err}))
		}
	}
}
