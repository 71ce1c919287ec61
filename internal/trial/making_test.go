package trial

import (
	"math"
	"slices"
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

// TestStartsOfAMaking: with the chain they are from its beginning until the program is ready; without it what engine and program
// took, which is told only where all have an engine.
func TestStartsOfAMaking(t *testing.T) {
	m := Making{PlanS: 0.1, MakeS: 1, ReadyS: 0.4, ProofS: 0.5, CPUS: 0.3, MemoryBytes: 5, Starts: []Start{
		{Node: "a", AskedS: 0.2, EngineS: 0.3, BeganS: 1, ReadyS: 1.1}, // by itself 0.4
		{Node: "b", AskedS: 0.2, EngineS: 0.6, BeganS: 1, ReadyS: 1.3}, // 0.9
	}}
	want := map[string]float64{SetupMetric: 1.5e9, ReachableMetric: 2e9, StartMeanMetric: 1.2e9, StartMinMetric: 1.1e9, StartMaxMetric: 1.3e9,
		StartAloneMetric: 0.65e9, StartFactorMetric: 1.2 / 0.65, MakingCPUsMetric: 0.2, MakingMemoryMetric: 5}
	differ := func(m Making, want map[string]float64) {
		t.Helper()
		got := m.metrics()
		for name, x := range want {
			if math.Abs(got[name]-x) > 1e-6*math.Abs(x) {
				t.Errorf("%s is %v, want %v", name, got[name], x)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%v", got)
		}
	}
	differ(m, want)
	m.Starts[0].AloneS, m.Starts[1].AloneS = 0.2, 0.5 // by themselves 0.3 and 0.8
	want[StartAloneMetric], want[StartFactorMetric] = 0.55e9, 1.2/0.55
	differ(m, want)
	m.Starts[1].EngineS, m.ProofS = 0, 0
	for _, name := range []string{ReachableMetric, StartAloneMetric, StartFactorMetric} {
		delete(want, name)
	}
	differ(m, want)
	m.Starts = nil
	differ(m, map[string]float64{SetupMetric: 1.5e9, MakingCPUsMetric: 0.2, MakingMemoryMetric: 5})
	for name := range want {
		if !slices.Contains(ofMakings, name) {
			t.Errorf("%s would be lacked by trials on the same instance", name)
		}
	}
}
