package search

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// A run that is stored, read back and gone on with ends as one that was never
// interrupted, whatever the order of its trials.
func TestSearchGoesOnFromStoredTrials(t *testing.T) {
	spec := trial.Search{Method: trial.MLRsearch, MaxPps: 1e6}
	m, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	run := trial.Run{Conditions: make([]trial.Condition, 2)}
	b := newBench(noisy(4e5, 0.01), 9)
	var straight []Outcome
	for {
		if len(straight)%20 == 0 {
			run = reread(t, run)
		}
		history := History(run, 1, 2)
		step, more := m.Next(history)
		if want, _ := m.Next(straight); more && want != step {
			t.Fatalf("after %d trials: %+v, want %+v", len(history), step, want)
		}
		if !more {
			if !reflect.DeepEqual(m.Result(history).Goals, m.Result(straight).Goals) {
				t.Error("the result differs")
			}
			return
		}
		o := b.trial(step)
		metrics := map[string]float64{"sent_pps": o.OfferedPps, "loss_ratio": o.LossRatio, "forwarding_rate_pps": o.ForwardingRatePps}
		straight = append(straight, OutcomeOf(trial.Condition{}, trial.Trial{Asked: &step, Metrics: metrics}))
		run.Trials = append(run.Trials,
			trial.Trial{Condition: 1, Repeat: 2, Step: len(straight), Asked: &step, Metrics: metrics},
			trial.Trial{Condition: 1, Repeat: 1, Step: len(straight), Asked: &step}, trial.Trial{Condition: 0, Repeat: 2})
		rand.New(rand.NewPCG(1, uint64(len(straight)))).Shuffle(len(run.Trials), func(i, j int) {
			run.Trials[i], run.Trials[j] = run.Trials[j], run.Trials[i]
		})
	}
}

func reread(t *testing.T, r trial.Run) (back trial.Run) {
	t.Helper()
	text, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestNothingCountedIsAllLost(t *testing.T) {
	step := trial.Step{Kind: trial.StepLoad, LoadPps: 1000, DurationS: 10}
	for want, metrics := range map[float64]map[string]float64{
		0.25: {"loss_ratio": 0.25, "sent_pps": 1000}, 0.625: {"loss_ratio": 0.25, "sent_pps": 500}, 1: {"forwarding_rate_pps": 900},
	} {
		if got := OutcomeOf(trial.Condition{}, trial.Trial{Asked: &step, Metrics: metrics}).loss(); got != want {
			t.Errorf("%v: loss %v, want %v", metrics, got, want)
		}
	}
}

// TestSentEachWay: what a trial sent is of both ways together where both are sent, and what is asked for is of each. A burst that went out at half the
// rate was not back to back.
func TestSentEachWay(t *testing.T) {
	for both, want := range map[bool]float64{false: 1.1e6, true: 0.55e6} {
		o := OutcomeOf(trial.Condition{Frames: trial.Frames{Bidirectional: both}}, trial.Trial{Asked: &trial.Step{LoadPps: 1e6}, Metrics: map[string]float64{"sent_pps": 1.1e6}})
		if o.SentPps != want {
			t.Errorf("both ways: %t: %v frames/s, want %v", both, o.SentPps, want)
		}
	}
}
