package experiment

import (
	"reflect"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// byCores is an experiment whose flows and claim are said by cores.
func byCores() api.ExperimentSpec {
	return api.ExperimentSpec{
		Sweep:  []api.Factor{{Field: "flows", Values: []any{1, "cores/2", "cores", 8}}},
		Models: []api.Model{{Name: "law", Kind: "usl", Metric: metric, Holdout: []any{"cores"}}},
		Claims: []api.Claim{{ID: "grows", Check: api.Check{
			Kind: "ratio", Metric: metric, A: map[string]any{"flows": 1}, B: map[string]any{"flows": "cores"}, AtLeast: bound(1.2),
		}}, {ID: "rises", Check: api.Check{
			Kind: "rises", Metric: metric, Over: "flows", Values: []any{1, "cores"}, AtLeast: bound(0.2),
		}}},
	}
}

// onCores measures it on a machine where goodput is what a flow brings, up to the cores.
func onCores(t *testing.T, spec api.ExperimentSpec, cores int) (trial.Run, []Point) {
	t.Helper()
	points, err := Points(spec, api.Catalogue{})
	if err != nil {
		t.Fatal(err)
	}
	run := trial.Run{Environment: trial.Environment{CPUs: cores}}
	for _, p := range points {
		if p.Infeasible != "" {
			continue
		}
		run.Conditions = append(run.Conditions, trial.Condition{Flows: p.Load.Flows, Factors: p.Factors})
		for k := range 3 {
			run.Trials = append(run.Trials, trial.Trial{Condition: len(run.Conditions) - 1, Repeat: k + 1, Metrics: map[string]float64{
				metric: float64(min(p.Load.Flows, cores)) * (1 + 0.001*float64(k)),
			}})
		}
	}
	return run, points
}

// TestCoresThatClaimsNeed are those that nfchain could use, however many the machine has.
func TestCoresThatClaimsNeed(t *testing.T) {
	spec := api.ExperimentSpec{Claims: []api.Claim{{Needs: "4 cores", Check: api.Check{Kind: "value", Metric: metric, AtLeast: bound(0)}}}}
	run := trial.Run{Environment: trial.Environment{CPUs: 8, Processor: &trial.Processor{Allowed: "2-3"}}}
	if v := Judge(spec, run, nil)[0]; v.Verdict != CannotBeTold || v.Reason != "it needs 4 cores, and there were 2" {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}

func TestFlowsByCores(t *testing.T) {
	for _, c := range []struct {
		cores         int
		flows         []any
		verdict, note string
	}{
		{1, []any{1, "cores/2", 8}, CannotBeTold, "cores/2 is none, cores is 1"},
		{2, []any{1, 2, 8}, Holds, "cores/2 is 1, cores is 2"},
		{3, []any{1, 3, 8}, Holds, "cores/2 is 1, cores is 3"},
		{8, []any{1, 4, 8}, Holds, "cores/2 is 4, cores is 8"},
	} {
		spec := byCores()
		if note := CoresNote(spec, c.cores); !strings.HasSuffix(note, ": "+c.note) {
			t.Errorf("%d cores: %s", c.cores, note)
		}
		there := OnMachine(spec, trial.Environment{CPUs: c.cores})
		if got := there.Sweep[0].Values; !reflect.DeepEqual(got, c.flows) {
			t.Errorf("%d cores: %v, want %v", c.cores, got, c.flows)
		}
		if got := there.Models[0].Holdout[0]; got != c.cores {
			t.Errorf("%d cores: %v is held out", c.cores, got)
		}
		run, points := onCores(t, there, c.cores)
		for _, p := range points {
			if byText := api.FlowsByCores(p.Factors["flows"]); byText != (p.Infeasible != "") {
				t.Errorf("%d cores: %+v", c.cores, p)
			}
		}
		for _, v := range Judge(there, run, nil) {
			if v.Verdict != c.verdict {
				t.Errorf("%d cores: %s %s, %s", c.cores, v.ID, v.Verdict, v.Reason)
			}
		}
		if !reflect.DeepEqual(spec, byCores()) {
			t.Fatalf("%d cores: the experiment was changed", c.cores)
		}
	}
}

func TestCellsByCores(t *testing.T) {
	spec := api.ExperimentSpec{Cells: []map[string]any{
		{"flows": "cores", "mtu": 1500}, {"flows": 4, "mtu": 1500}, {"flows": "cores", "mtu": 9000}, {"mtu": 1500},
	}}
	if got := OnCores(spec, 4).Cells; len(got) != 3 || got[0]["flows"] != 4 || got[1]["mtu"] != 9000 || len(got[2]) != 1 {
		t.Errorf("%v", got)
	}
	if note := CoresNote(spec, 4); !strings.Contains(note, "cores is 4") || CoresNote(api.ExperimentSpec{}, 4) != "" {
		t.Error(note)
	}
}

// As many cores count as nfchain may use.
func TestCoresOf(t *testing.T) {
	for allowed, want := range map[string]int{"": 4, "0-1": 2, "0-127": 4, "rubbish": 4} {
		if got := CoresOf(trial.Environment{CPUs: 4, Processor: &trial.Processor{Allowed: allowed}}); got != want {
			t.Errorf("%q: %d", allowed, got)
		}
	}
}

func TestBusy(t *testing.T) {
	observed := trial.Observation{CPUs: trial.List[trial.CPUUse]{{Idle: 0.5, User: 0.5}, {Idle: 0.1, Steal: 0.9}}}
	run := withBusy(trial.Run{Trials: []trial.Trial{{Observed: observed}, {}, {Observed: observed, Metrics: map[string]float64{busyMetric: 3}}}})
	if got := run.Trials[0].Metrics[busyMetric]; got < 0.6999 || got > 0.7001 {
		t.Errorf("busy %v", got)
	}
	if _, has := run.Trials[1].Metrics[busyMetric]; has || run.Trials[2].Metrics[busyMetric] != 3 {
		t.Errorf("%+v", run.Trials[1:])
	}
}
