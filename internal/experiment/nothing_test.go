package experiment

import (
	"math"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// counts is a run that measured a metric at some rates, the same in each of its repeats.
func counts(metric string, repeats int, values map[int]float64) (spec api.ExperimentSpec, run trial.Run) {
	run.Repeats, run.State = repeats, trial.Done
	factor := api.Factor{Field: "flows"}
	for _, flows := range []int{1, 2, 4} {
		factor.Values = append(factor.Values, flows)
		i := len(run.Conditions)
		run.Conditions = append(run.Conditions, trial.Condition{Path: trial.PathChain, Protocol: trial.UDP, Factors: map[string]any{"flows": flows}})
		for k := range repeats {
			run.Trials = append(run.Trials, trial.Trial{Condition: i, Repeat: k + 1, Metrics: map[string]float64{metric: values[flows]}})
		}
	}
	spec.Sweep = []api.Factor{factor}
	return spec, run
}

// TestWhatIsNothingDoesNotGrow: a count of 0 throughout refutes that it rises or is more at one
// place, confirms nothing, and is no finding where trials failed or the metric is a rate.
func TestWhatIsNothingDoesNotGrow(t *testing.T) {
	one, four := map[string]any{"flows": 1}, map[string]any{"flows": 4}
	rises := api.Check{Kind: "rises", Over: "flows"}
	linear := api.Check{Kind: "rises", Over: "flows", Scale: linearScale}
	ratio, loss := api.Check{Kind: "ratio", A: one, B: four}, api.Check{Kind: "loss", A: one, B: four}
	atLeast := func(c api.Check, x float64) api.Check { c.AtLeast = &x; return c }
	atMost := func(c api.Check, x float64) api.Check { c.AtMost = &x; return c }
	for name, c := range map[string]struct {
		check api.Check
		want  string
	}{
		"rises":          {atLeast(rises, .1), DoesNotHold},
		"rises linear":   {atLeast(linear, .1), DoesNotHold},
		"falls":          {atMost(linear, -.1), DoesNotHold},
		"does not rise":  {atMost(linear, 0), CannotBeTold},
		"twice as much":  {atLeast(ratio, 2), DoesNotHold},
		"half as much":   {atMost(ratio, .5), DoesNotHold},
		"no less":        {atLeast(ratio, 1), CannotBeTold},
		"a tenth less":   {atLeast(loss, .1), DoesNotHold},
		"loses nothing":  {atMost(loss, .1), CannotBeTold},
		"mean as twice":  {atLeast(api.Check{Kind: "ratio_mean", A: map[string]any{"protocol": "udp"}, B: map[string]any{"protocol": "udp"}, Over: "flows"}, 2), CannotBeTold},
		"between bounds": {atMost(atLeast(ratio, 1.4), 1.7), DoesNotHold},
	} {
		c.check.Metric = "reordered_packets"
		spec, run := counts("reordered_packets", 3, nil)
		spec.Claims = []api.Claim{{ID: "c", Check: c.check}}
		v := Judge(spec, run, nil)[0]
		if v.Verdict != c.want || v.Estimate != nil {
			t.Errorf("%s: %s, want %s: %s", name, v.Verdict, c.want, v.Reason)
		}
		if c.want == DoesNotHold && !strings.HasPrefix(v.Reason, "reordered_packets is 0 in every trial ") {
			t.Errorf("%s: %s", name, v.Reason)
		}
		run.Trials[4].Metrics = nil // one that failed may have had some
		if v := Judge(spec, run, nil)[0]; v.Verdict == DoesNotHold && strings.Contains(name, "rises") {
			t.Errorf("%s, with a failed trial: %s: %s", name, v.Verdict, v.Reason)
		}
		spec, run = counts("goodput_bps", 3, nil)
		c.check.Metric = "goodput_bps"
		spec.Claims = []api.Claim{{ID: "c", Check: c.check}}
		if v := Judge(spec, run, nil)[0]; v.Verdict != CannotBeTold {
			t.Errorf("%s of a rate: %s: %s", name, v.Verdict, v.Reason)
		}
	}
	spec, run := counts("loss_ratio", 3, map[int]float64{4: .1})
	spec.Claims = []api.Claim{{ID: "c", Check: atLeast(api.Check{Kind: "rises", Metric: "loss_ratio", Over: "flows", Scale: linearScale}, .1)}}
	if v := Judge(spec, run, nil)[0]; v.Verdict != Holds || v.Estimate == nil {
		t.Errorf("of some: %s: %s", v.Verdict, v.Reason)
	}
}

// TestMeansAreOverAllValues: a mean over fewer values than the experiment has is another one,
// and is not told, whether they were dropped or not measured; trimming keeps all of them.
func TestMeansAreOverAllValues(t *testing.T) {
	spec := levelled(api.Check{Kind: "ratio_mean", A: veth, B: ovs, Over: "flows", AtMost: bound(.95)})
	run := machine{growing(.5, .9), .01, .02, 5}.measure(5)
	if v := Judge(spec, run, nil)[0]; v.Verdict != Holds {
		t.Fatalf("%s: %s", v.Verdict, v.Reason)
	}
	one := Trimming{Spec: spec, Course: Course{Conditions: run.Conditions, Chain: make([]int, len(run.Conditions))}, Repeats: 5, Cost: UsualCost}
	if got := one.To(1); len(got.Dropped) != 0 || math.Abs(got.Span.Least-got.Span.Most) > 1e-9 {
		t.Errorf("dropped: %+v", got.Dropped)
	}
	fewer := only(run, Trimmed{Kept: indices(run, func(c trial.Condition) bool { return !same("flows", c.Factors["flows"], 8) })})
	if v := Judge(spec, fewer, nil)[0]; v.Verdict != CannotBeTold {
		t.Errorf("not measured: %s: %s", v.Verdict, v.Reason)
	}
	for _, wiring := range []string{"veth", "ovs"} {
		fewer.Dropped = append(fewer.Dropped, trial.Infeasible{Factors: map[string]any{"wiring": wiring, "flows": 8}, Reason: "time"})
	}
	if v := Judge(spec, fewer, nil)[0]; v.Verdict != CannotBeTold || !strings.Contains(v.Reason, "flows=8") {
		t.Errorf("dropped: %s: %s", v.Verdict, v.Reason)
	}
}
