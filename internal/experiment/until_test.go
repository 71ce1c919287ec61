package experiment

import (
	"math/rand/v2"
	"testing"

	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// repeatUntil simulates a run of several conditions, whose repeats scatter by
// noise about 100 and whose instances by between, until the rule ends it.
func repeatUntil(r *rand.Rand, run trial.Run, conditions int, noise, between float64) trial.Run {
	run.Conditions = make([]trial.Condition, conditions)
	each, made := RepeatsEach(run), 0.0
	for repeat := 1; repeat <= run.MaxRepeats; repeat++ {
		if Enough(run, repeat-1) {
			return run
		}
		if (repeat-1)%each == 0 {
			made = between * r.NormFloat64()
		}
		for c := range conditions {
			run.Trials = append(run.Trials, trial.Trial{Condition: c, Repeat: repeat, Instance: 1 + (repeat-1)/each,
				Metrics: trial.Map[float64]{"goodput_bps": 100 + made + noise*r.NormFloat64()}})
		}
	}
	return run
}

func TestRepeatsUntilNarrow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, run := range []trial.Run{
		{Repeats: 3, Until: .04, MaxRepeats: 100},
		{Repeats: 12, Redeploy: 6, Until: .04, MaxRepeats: 300},
	} {
		covered, of := 0, 200
		for range of {
			done := repeatUntil(r, run, 2, 2, 1)
			for _, c := range trial.Summarize(done) {
				s := c.Metrics["goodput_bps"]
				if s.N < stats.UntilLeast+stats.UntilMore || s.N >= run.MaxRepeats || s.N%RepeatsEach(run) != 0 {
					t.Fatalf("%d repeats", s.N)
				}
			}
			if ci := trial.Summarize(done)[0].Metrics["goodput_bps"].CI95; ci[0] <= 100 && 100 <= ci[1] {
				covered++
			}
		}
		if run.Redeploy == 0 {
			continue // one instance: the interval is about what that one does
		}
		if ci := stats.ProportionInterval(covered, of); ci[1] < .95 {
			t.Errorf("covers %v", ci)
		}
	}
}

func TestUntilIsBounded(t *testing.T) {
	run := repeatUntil(rand.New(rand.NewPCG(3, 4)), trial.Run{Repeats: 3, Until: .001, MaxRepeats: 12}, 1, 5, 0)
	if len(run.Trials) != 12 || Enough(run, 12) {
		t.Errorf("%d trials", len(run.Trials))
	}
}

func TestEnoughNeedsWholeInstances(t *testing.T) {
	run := trial.Run{Repeats: 12, Redeploy: 6, Until: .5, MaxRepeats: 100, Conditions: []trial.Condition{{}}}
	for repeat := 1; repeat <= 18; repeat++ {
		run.Trials = append(run.Trials, trial.Trial{Repeat: repeat, Instance: 1 + (repeat-1)/2, Metrics: trial.Map[float64]{"goodput_bps": 100}})
	}
	for repeats, want := range map[int]bool{8: false, 12: false, 15: false, 16: true, 17: false, 18: true} {
		if got := Enough(run, repeats); got != want {
			t.Errorf("%d repeats: %v", repeats, got)
		}
	}
}
