package report

import (
	"errors"
	"math/rand"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// sampleInstances is a bench on five instances of a chain, until intervals are
// narrow, that slowed down and stalled once.
func sampleInstances() Report {
	run := trial.Run{
		SchemaVersion: trial.SchemaVersion, ID: "20261121-050000-0000", Chain: "edge", State: trial.Done, CreatedAt: sampleStart,
		Command: []string{"nfchain", "bench", "edge.yaml", "--redeploy", "6", "--until", "6%"}, Seed: 5,
		Repeats: 18, Until: .06, MaxRepeats: 60, Redeploy: 6, Environment: sampleEnvironment,
	}
	r, made := rand.New(rand.NewSource(6)), []float64{1.03, 1.01, 1, .985, .98, .95}
	for _, protocol := range []string{trial.TCP, trial.Latency} {
		repeat := 0
		addCondition(&run, trial.Condition{Path: trial.PathChain, Protocol: protocol, Tool: "tool", Flows: 1, DurationS: 5, Length: 3}, func() map[string]float64 {
			instance := made[repeat/3]
			if repeat++; protocol == trial.Latency {
				return latencies(r, 40e3*around(r, 1, .01))
			}
			if repeat == 17 {
				return map[string]float64{"goodput_bps": 7e9}
			}
			return map[string]float64{"goodput_bps": around(r, 9.7e9*instance, .004)}
		})
	}
	for i := range run.Trials {
		run.Trials[i].Instance = 1 + (run.Trials[i].Repeat-1)/3
	}
	return New(run)
}

func TestInstancesReachEveryReport(t *testing.T) {
	text := renderHTML(t, sampleInstances())
	for _, want := range []string{"Within and between instances", "The repeats", "repeat 17: 7.000 Gb/s", "fell by", "over 6 instances of the chain"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestOwnInstancesAreTold: conditions that are measured on some instances alone lack nothing, and which those are is told.
func TestOwnInstancesAreTold(t *testing.T) {
	run := trial.Run{Repeats: 5, Redeploy: 5, State: trial.Done}
	for c, on := range [][]int{{1, 2, 5}, {3, 4}} {
		run.Conditions = append(run.Conditions, trial.Condition{Path: trial.PathChain, Protocol: trial.TCP, Flows: 1 + c, Instances: on})
		for _, n := range on {
			run.Trials = append(run.Trials, trial.Trial{Condition: c, Repeat: n, Instance: n, Metrics: trial.Map[float64]{"goodput_bps": 1e9}})
		}
	}
	told := func() string {
		var b strings.Builder
		if err := Text(&b, New(run)); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text := told()
	for _, want := range []string{"2 conditions × at most 3 repeats, 5 of 5 trials", "over 5 instances of the chain", "INSTANCES", "1,2,5", "3,4"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "Missing") || strings.Contains(text, "has 2 of") {
		t.Errorf("something is missing:\n%s", text)
	}
	run.Trials = run.Trials[:4]
	if text := told(); !strings.Contains(text, "Missing: 1 of 5 trials.") {
		t.Errorf("nothing is missing:\n%s", text)
	}
}

// sampleGate is a bench that was slower than its baseline, measured on another
// kernel.
func sampleGate(t *testing.T) Report {
	t.Helper()
	run := sampleInstances().Run
	run.ID, run.Until, run.Environment.Kernel = "20261122-000000-0000", 0, "6.19.0"
	for i := range run.Trials {
		for m := range run.Trials[i].Metrics {
			run.Trials[i].Metrics[m] *= .8
		}
	}
	r := New(run)
	c, err := Compare(sampleInstances(), r, CompareOptions{Force: true, Tolerance: .03})
	if err != nil {
		t.Fatal(err)
	}
	r.Against = &c
	return r
}

func TestBaselineReachesEveryReport(t *testing.T) {
	r := sampleGate(t)
	if lines := r.Against.Worse(); len(lines) != 1 || r.Against.Verdict != Slower {
		t.Fatalf("%s: %v", r.Against.Verdict, lines)
	}
	text := renderHTML(t, r)
	for _, want := range []string{"Against the baseline", "this run is slower than run ", "worse (gate)", "FORCED", "6.19.0"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestCheckAlike(t *testing.T) {
	run := sampleInstances().Run
	if err := CheckAlike(run, run.Environment); err != nil {
		t.Error(err)
	}
	other := run.Environment
	other.CPUModel = "another"
	if err := CheckAlike(run, other); !errors.Is(err, ErrUnlike) || !strings.Contains(err.Error(), "CPU model") {
		t.Error(err)
	}
}
