package report

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

func TestUntilSaysWhenItDidNotGetThere(t *testing.T) {
	said := strings.Join(sampleInstances().warnings(), "\n")
	if !strings.Contains(said, "TCP: after 18 repeats the interval of goodput is 11.8% of its centre wide, and not the 6% that was asked for") {
		t.Error(said)
	}
	for state, until := range map[string]float64{trial.Done: .5, trial.Interrupted: .06} {
		run := sampleInstances().Run
		run.State, run.Until = state, until
		if said := New(run).untilWarnings(); len(said) > 0 {
			t.Errorf("%s, until %v: %v", state, until, said)
		}
	}
}

func TestChainIsSetAgainstDirectPairByPair(t *testing.T) {
	run := trial.Run{Conditions: []trial.Condition{{Path: trial.PathChain}, {Path: trial.PathDirect}}, Repeats: 8}
	for repeat := 1; repeat <= 8; repeat++ {
		state := 1 + .1*float64(repeat%3) // what the machine did, to both alike
		for c, x := range []float64{9e9, 10e9 + 1e7*float64(repeat%2)} {
			run.Trials = append(run.Trials, trial.Trial{Condition: c, Repeat: repeat, Metrics: trial.Map[float64]{"goodput_bps": x * state}})
		}
	}
	paired := New(run).besides(1, 0, "goodput_bps")
	apart := ratioOf(New(run), 1, New(run), 0, "goodput_bps")
	if paired.CI95[1]-paired.CI95[0] > .1*(apart.CI95[1]-apart.CI95[0]) || paired.Value != apart.Value {
		t.Errorf("pairs %v, apart %v", *paired.CI95, *apart.CI95)
	}
	run.Trials = run.Trials[:10] // five pairs
	if few := New(run).besides(1, 0, "goodput_bps"); *few.CI95 != *ratioOf(New(run), 1, New(run), 0, "goodput_bps").CI95 {
		t.Errorf("%v", *few.CI95)
	}
}

// TestPercentilesWithoutSamples: several trials of a tool that keeps no histogram have no
// percentile over all of them, and the reader is told.
func TestPercentilesWithoutSamples(t *testing.T) {
	run := trial.Run{Conditions: []trial.Condition{{Protocol: trial.TCPRR, Tool: "netperf", Path: trial.PathChain, Flows: 1}}, Repeats: 3}
	for i := range 3 {
		run.Trials = append(run.Trials, trial.Trial{Repeat: i + 1, Metrics: map[string]float64{"latency_p99_ns": 1000 + float64(i), "latency_max_ns": 5000}})
	}
	r := New(run)
	if said := strings.Join(statisticsNotes(r), "\n"); !strings.Contains(said, "own: latency p99 by netperf.") {
		t.Error(said)
	}
	if s := r.Conditions[0].Metrics["latency_p99_ns"]; s.Pooled != nil || s.Median != 1001 {
		t.Errorf("%+v", s)
	}
	run.Trials = run.Trials[:1]
	if said := strings.Join(statisticsNotes(New(run)), "\n"); strings.Contains(said, "without the samples") {
		t.Errorf("of one trial: %s", said)
	}
}

// TestWhatStandsOutIsARepeat, not the steps by which a search came to it.
func TestWhatStandsOutIsARepeat(t *testing.T) {
	run := trial.Run{Conditions: []trial.Condition{{Path: trial.PathChain, Protocol: trial.UDP}}, Repeats: 6}
	for repeat, rate := range []float64{100, 101, 50, 99, 100, 102} {
		for step, x := range []float64{rate, 7, 9} {
			run.Trials = append(run.Trials, trial.Trial{Repeat: repeat + 1, Step: step, Metrics: map[string]float64{"forwarding_rate_pps": x}})
		}
	}
	r := New(run)
	s := r.Conditions[0].Metrics["forwarding_rate_pps"]
	if got := r.outlierText(0, "forwarding_rate_pps", s.Outliers); got != "repeat 3: 50.00 p/s" {
		t.Errorf("%q of %v", got, s.Outliers)
	}
}

// TestInstancesThatWereMade are told, not those that the run began with.
func TestInstancesThatWereMade(t *testing.T) {
	run := trial.Run{Redeploy: 2, Conditions: make([]trial.Condition, 2)}
	for i := range 6 {
		run.Trials = append(run.Trials, trial.Trial{Condition: 0, Instance: i/2 + 1}, trial.Trial{Condition: 1, Instance: 9})
	}
	if n := instancesMade(run); n != 3 {
		t.Errorf("%d instances, not 3", n)
	}
}
