package trial

import (
	"math"
	"testing"
)

// made is a run of a chain and its direct path, of which instances came up in so many seconds;
// a time of 0 is one that was up before. Each has two trials of both.
func made(seconds ...float64) Run {
	r := Run{Conditions: []Condition{{Path: PathChain}, {Path: PathDirect}}}
	for i, s := range seconds {
		for k := range 4 {
			t := Trial{Condition: (k + 1) % 2, Repeat: 2*i + k/2 + 1, Instance: i + 1, Metrics: Map[float64]{"goodput_bps": 1}}
			if k == 0 && s > 0 {
				t.Made = List[Making]{{Chain: "edge", PlanS: s / 4, MakeS: s / 2, ReadyS: s / 4, ProofS: 9}, {Chain: "edge-beside-2", Beside: true, MakeS: 5}}
			}
			r.Trials = append(r.Trials, t)
		}
	}
	return r
}

// TestOneSetupForEachMaking: many trials through one instance are one making, whoever's trial
// came first; what the proof and chains beside took is not of it, and the direct path has none.
func TestOneSetupForEachMaking(t *testing.T) {
	stored := made(2, 3, 0, 4)
	r := WithSetup(stored)
	if got, want := r.Samples(0, SetupMetric), []float64{2e9, 3e9, 4e9}; !same(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := r.Samples(1, SetupMetric); len(got) > 0 {
		t.Errorf("the direct path took %v", got)
	}
	s := Summarize(r)[0].Metrics[SetupMetric]
	if s.N != 3 || s.Mean == nil || math.Abs(*s.Mean-3e9) > 1 {
		t.Errorf("%+v", s)
	}
	if len(stored.Samples(0, SetupMetric)) > 0 {
		t.Error("what was given has changed")
	}
	if again := WithSetup(r); len(again.Samples(0, SetupMetric)) != 3 {
		t.Errorf("twice it is %v", again.Samples(0, SetupMetric))
	}
	r.Redeploy = 4
	if got := r.Independent(0, SetupMetric); len(got) != 3 {
		t.Errorf("by instances it is %v", got)
	}
	for i, x := range r.Trials {
		if want := x.Instance == 3 && x.Condition == 0; r.Lacks(x, SetupMetric) != want && x.Condition == 0 {
			t.Errorf("trial %d of instance %d lacks it: %t", i, x.Instance, !want)
		}
		if r.Lacks(x, "goodput_bps") || !r.Lacks(x, "loss_ratio") {
			t.Errorf("trial %d: %v", i, x.Metrics)
		}
	}
}

// TestSetupOfTrialsThatTellNothing: a trial that failed says nothing of its chain, and a step of
// a search leaves it to the result.
func TestSetupOfTrialsThatTellNothing(t *testing.T) {
	r := made(2)
	r.Trials[1].Metrics = nil // the chain's first
	if got := WithSetup(r).Samples(0, SetupMetric); len(got) != 1 {
		t.Errorf("%v after a trial that failed", got)
	}
	r.Trials[3].Step = 1
	if got := WithSetup(r); len(got.Samples(0, SetupMetric)) > 0 || len(got.Trials[3].Metrics) != 1 {
		t.Errorf("%v without a trial that measured", got.Trials)
	}
	r.Trials = append(r.Trials, Trial{Repeat: 9, Instance: 1, Metrics: Map[float64]{"throughput_pps": 1}})
	if got := WithSetup(r).Samples(0, SetupMetric); len(got) != 1 {
		t.Errorf("%v of a search", got)
	}
}

func same(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-6*b[i] {
			return false
		}
	}
	return true
}
