package experiment

import (
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// ports is a run in which chains of some lengths were measured, others refused.
func ports(measured, refused []int, reason string) (run trial.Run) {
	for i, n := range measured {
		run.Conditions = append(run.Conditions, trial.Condition{Length: n, Factors: map[string]any{"length": n}})
		for repeat := 1; repeat <= 2; repeat++ {
			run.Trials = append(run.Trials, trial.Trial{Condition: i, Repeat: repeat, Metrics: map[string]float64{metric: float64(repeat)}})
		}
	}
	for _, n := range refused {
		run.Infeasible = append(run.Infeasible, trial.Infeasible{Factors: map[string]any{"length": n}, Reason: reason})
	}
	return run
}

func TestPossible(t *testing.T) {
	full, three := "it answers EXFULL", []int{124, 1023, 1024}
	for name, c := range map[string]struct {
		run         trial.Run
		least, most *float64
		want, says  string
	}{
		"bounded":           {ports(three[:2], three[2:], full), nil, bound(1024), Holds, "1023 was measured and length=1024 refused (it answers EXFULL)"},
		"exactly":           {ports(three[:2], three[2:], full), bound(1024), bound(1024), DoesNotHold, ""},
		"more":              {ports(three[:2], three[2:], full), bound(124), bound(124), DoesNotHold, ""},
		"somewhere":         {ports(three[:1], three[2:], full), bound(500), bound(1024), Undecided, ""},
		"no root":           {ports(three[:2], three[2:], "without root"), nil, bound(1024), CannotBeTold, "no larger value was refused with EXFULL"},
		"all, and too many": {ports(three, nil, ""), nil, bound(124), DoesNotHold, ""},
		"all":               {ports(three, nil, ""), bound(2000), nil, CannotBeTold, ""},
		"nothing":           {ports(nil, three, full), nil, bound(1024), CannotBeTold, "none of the values"},
		"upside down":       {ports(three[2:], three[:2], full), nil, bound(1024), CannotBeTold, "no largest"},
	} {
		spec := api.ExperimentSpec{Sweep: sweep("length", []any{124, 1023, 1024}), Claims: []api.Claim{{ID: "c", Check: api.Check{
			Kind: "possible", Metric: metric, Over: "length", Refusal: "EXFULL", AtLeast: c.least, AtMost: c.most}}}}
		if v := Judge(spec, c.run, nil)[0]; v.Verdict != c.want || !strings.Contains(v.Reason, c.says) {
			t.Errorf("%s: %s, want %s: %s", name, v.Verdict, c.want, v.Reason)
		}
	}
}

// TestClaimsMayNeedCores, as many as the machine of the run had.
func TestClaimsMayNeedCores(t *testing.T) {
	spec := api.ExperimentSpec{Claims: []api.Claim{{ID: "c", Needs: "16 cores", Check: api.Check{
		Kind: "value", Metric: metric, A: map[string]any{"length": 124}, AtMost: bound(3)}}}}
	run := ports([]int{124}, nil, "")
	for cores, want := range map[int]string{2: CannotBeTold, 16: Undecided} {
		run.Environment.CPUs = cores
		if v := Judge(spec, run, nil)[0]; v.Verdict != want {
			t.Errorf("%d cores: %s: %s", cores, v.Verdict, v.Reason)
		}
	}
}
