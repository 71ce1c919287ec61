package experiment

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

func TestVerdictsOfKnownSystems(t *testing.T) {
	bent := func(n int) float64 { return map[int]float64{2: 100e9, 3: 60e9, 5: 58e9, 10: 50e9, 20: 40e9}[n] }
	cases := []struct {
		name                      string
		system                    system
		noise                     float64
		repeats                   int
		first, ratio, power, fade string
	}{
		{"power law", powerLaw(0.11), 0.01, 10, Holds, Holds, Holds, Undecided},
		{"no loss", powerLaw(0), 0.01, 10, DoesNotHold, DoesNotHold, Holds, Undecided},
		{"fading", fading, 0.005, 10, Holds, Holds, Holds, Holds},
		{"bent", bent, 0.01, 10, DoesNotHold, Holds, DoesNotHold, Holds},
		{"noisy", powerLaw(0.11), 0.25, 3, Undecided, Undecided, Undecided, Undecided},
		{"once", powerLaw(0.11), 0.01, 1, Undecided, Undecided, Undecided, Undecided},
		{"never", powerLaw(0.11), 0, 0, CannotBeTold, CannotBeTold, CannotBeTold, CannotBeTold},
		{"steeper later", func(n int) float64 { return 155e9 / (1 + 0.001*float64(n*n*n)) }, 0.005, 10, DoesNotHold, DoesNotHold, Holds, DoesNotHold},
	}
	for _, c := range cases {
		got := verdicts(fig7(), c.system.measure(c.noise, c.repeats, 4))
		for id, want := range map[string]string{"first": c.first, "ratio": c.ratio, "power": c.power, "fade": c.fade} {
			if got[id].Verdict != want {
				t.Errorf("%s, %s: %s, want %s: %s", c.name, id, got[id].Verdict, want, got[id].Reason)
			}
		}
	}
}

// With truth well inside the range a claim must hardly ever come back refuted,
// and with truth outside hardly ever confirmed.
func TestVerdictsRarelyErr(t *testing.T) {
	const runs = 500
	wrong := 0
	for seed := range uint64(runs) {
		// The truth lies on the edge of the range, where errors are most common.
		v := verdicts(fig7(), powerLaw(0.16).measure(0.03, 5, seed))["first"]
		if v.Verdict != Undecided {
			wrong++
		}
	}
	if share := float64(wrong) / runs; share > 0.08 {
		t.Errorf("decided %.1f%% of the time on the edge, want about 5%%", 100*share)
	}
}

func TestReasonCarriesNumbers(t *testing.T) {
	v := verdicts(fig7(), powerLaw(0.11).measure(0.01, 10, 4))["first"]
	want := fmt.Sprintf("%s lost (95%% interval %s to %s); the statement needs between 6%% and 16%%",
		percent(*v.Estimate), percent(v.CI95[0]), percent(v.CI95[1]))
	if v.Reason != want {
		t.Errorf("%s\nwant %s", v.Reason, want)
	}
	if want := "loss of goodput_bps from length=2 to length=3 (flows=8 zerocopy=true)"; v.Quantity != want {
		t.Errorf("%s\nwant %s", v.Quantity, want)
	}
	once := verdicts(fig7(), powerLaw(0.11).measure(0.01, 1, 4))["first"]
	if !strings.Contains(once.Reason, "fewer than two repeats") || once.Estimate == nil || once.CI95 != nil {
		t.Errorf("%+v", once)
	}
}

func TestCannotBeToldSaysWhy(t *testing.T) {
	run := powerLaw(0.11).measure(0.01, 3, 4)
	run.Conditions = append(run.Conditions, run.Conditions[0]) // length 2 twice
	run.Conditions[5].Flows = 1
	run.Trials = append(run.Trials, trial.Trial{Condition: 5, Repeat: 1, Metrics: map[string]float64{metric: 1}})
	loss := api.Check{Kind: "loss", Metric: metric, A: at(3), B: at(5), AtMost: bound(1)}
	edit := func(f func(*api.Check)) api.Check { c := loss; f(&c); return c }
	cases := []struct {
		claim api.Claim
		want  string
	}{
		{api.Claim{Needs: "ovs", Check: loss}, "needs ovs"},
		{api.Claim{Needs: "numa", Check: api.Check{Kind: "unavailable"}}, "has no check"},
		{api.Claim{Check: edit(func(c *api.Check) { c.Kind = "" })}, "has no check"},
		{api.Claim{Check: edit(func(c *api.Check) { c.Kind = "magic" })}, `"magic"`},
		{api.Claim{Check: edit(func(c *api.Check) { c.AtMost = nil })}, "no range"},
		{api.Claim{Check: edit(func(c *api.Check) { c.A = at(7) })}, "no condition with flows=8 length=7"},
		{api.Claim{Check: edit(func(c *api.Check) { c.A = at(2) })}, "true of 2 conditions"},
		{api.Claim{Check: edit(func(c *api.Check) { c.B = c.A })}, "same condition"},
		{api.Claim{Check: edit(func(c *api.Check) { c.Metric = "loss_ratio" })}, "no trial"},
		{api.Claim{Check: edit(func(c *api.Check) { c.Metric = "" })}, "no metric"},
		{api.Claim{Check: edit(func(c *api.Check) { c.Metric = "latency_p99_ns" })}, "not to be averaged"},
		{api.Claim{Check: edit(func(c *api.Check) { c.Kind = "model_error"; c.Model = "nix" })}, `no model "nix"`},
		{api.Claim{Check: edit(func(c *api.Check) { c.Kind = "slope_fades"; c.C, c.D = at(10), at(5) })}, "the longer one"},
	}
	for _, c := range cases {
		spec := api.ExperimentSpec{Claims: []api.Claim{c.claim}}
		v := Judge(spec, run, func(f string) bool { return f == "numa" })[0]
		if v.Verdict != CannotBeTold || !strings.Contains(v.Reason, c.want) {
			t.Errorf("%s: %q, want %q in it", v.Verdict, v.Reason, c.want)
		}
	}
}

func TestZeroReferenceIsNoNumber(t *testing.T) {
	v := verdicts(fig7(), system(func(int) float64 { return 0 }).measure(0, 3, 1))
	for id, v := range v {
		if v.Verdict != CannotBeTold || v.Estimate != nil {
			t.Errorf("%s: %+v", id, v)
		}
	}
	if _, err := json.Marshal(v); err != nil {
		t.Error(err)
	}
	if got := Judge(api.ExperimentSpec{}, trial.Run{}, nil); got == nil {
		t.Error("no claims give nil, which is null in JSON")
	}
}

func TestEndsOfTheRangeBelongToIt(t *testing.T) {
	for ci, want := range map[[2]float64]string{
		{1, 2}: Holds, {0.5, 1}: Undecided, {2, 3}: Undecided, {0, 0.9}: DoesNotHold, {2.1, 3}: DoesNotHold, {0, 3}: Undecided,
	} {
		if got := place(ci, bound(1), bound(2), bothSides); got != want {
			t.Errorf("%v: %s, want %s", ci, got, want)
		}
	}
}
