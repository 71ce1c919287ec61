package experiment

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/model"
	"nfchain.dev/nfchain/internal/trial"
)

// calibratedToo is a run with what the machine measures at 4 flows, which is slower with every
// namespace than at those of the source.
func calibratedToo(r *rand.Rand, run trial.Run) trial.Run {
	seen := map[string]bool{}
	for _, c := range run.Conditions {
		c.Factors = maps.Clone(c.Factors)
		c.Factors["flows"], c.Factors[CalibratedFactor], c.Flows = 4, true, 4
		if key := Describe(c.Factors); seen[key] {
			continue
		} else {
			seen[key] = true
		}
		for k := range 3 {
			run.Trials = append(run.Trials, trial.Trial{Condition: len(run.Conditions), Repeat: k + 1, Instance: k/2 + 1,
				Metrics: map[string]float64{metric: 1e9 / float64(c.Length) * (1 + 0.001*r.NormFloat64())}})
		}
		run.Conditions = append(run.Conditions, c)
	}
	return run
}

// TestTwinsAreJudgedApart: what is measured at the calibrated load changes no verdict on what
// the source measured.
func TestTwinsAreJudgedApart(t *testing.T) {
	twins := 0
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 11))
		spec, run := trimmable(r)
		before := Judge(spec, run, nil)
		more := calibratedToo(r, run)
		all := Judge(WithTwins(spec, more.Conditions), more, nil)
		if len(all) < len(before) || !reflect.DeepEqual(all[:len(before)], before) {
			t.Fatalf("seed %d: other verdicts on the source's:\n%+v\n%+v", seed, before, all)
		}
		for _, v := range all[len(before):] {
			if twins++; !strings.HasSuffix(v.ID, twinSuffix) {
				t.Errorf("%s is no twin", v.ID)
			}
			source := slices.IndexFunc(before, func(b Verdict) bool { return b.ID+twinSuffix == v.ID })
			if v.Verdict == CannotBeTold && before[source].Verdict != CannotBeTold {
				t.Errorf("seed %d: %s: %s", seed, v.ID, v.Reason)
			}
		}
		if got := WithTwins(spec, run.Conditions); len(got.Claims) != len(spec.Claims) {
			t.Error("a run without the calibrated load has twins")
		}
	}
	if twins < 100 {
		t.Errorf("%d twins were judged", twins)
	}
}

// calibratedOf are conditions at the calibrated load, each of a protocol and some factors.
func calibratedOf(all map[string][]map[string]any) (out []trial.Condition) {
	for _, protocol := range slices.Sorted(maps.Keys(all)) {
		for _, factors := range all[protocol] {
			factors = with(factors, CalibratedFactor, true)
			out = append(out, trial.Condition{Path: trial.PathChain, Protocol: protocol, Flows: 4, Factors: factors})
		}
	}
	return out
}

func TestTwinOf(t *testing.T) {
	tcp := twins{conditions: calibratedOf(map[string][]map[string]any{trial.TCP: {{"length": 2, "flows": 4}, {"length": 3, "flows": 4}}})}
	udp := twins{conditions: calibratedOf(map[string][]map[string]any{trial.UDP: {{"payload_size": 100}, {"payload_size": 1000}}})}
	at := func(flows int) map[string]any { return map[string]any{"length": 2, "flows": flows} }
	for name, c := range map[string]api.Check{
		"one that compares flows":           {Kind: "ratio", Metric: metric, A: at(1), B: at(8)},
		"one that compares flows and more":  {Kind: "ratio", Metric: metric, A: at(1), B: map[string]any{"length": 3, "flows": 8}},
		"one that goes over flows":          {Kind: "rises", Metric: metric, Over: "flows"},
		"one of a value at some flows":      {Kind: "value", Metric: metric, A: at(1)},
		"one of a model that has no twin":   {Kind: "model_error", Model: "hop"},
		"one of what can be had":            {Kind: "possible", Metric: metric, Over: "length"},
		"one that nothing tells":            {Kind: unavailable},
		"one that goes over sizes over TCP": {Kind: "flat", Metric: metric, Over: "payload_size"},
	} {
		if twin, can := tcp.of(c); can {
			t.Errorf("%s has a twin: %+v", name, twin)
		}
	}
	for _, kind := range []string{"ratio", "best_ratio"} {
		c := api.Check{Kind: kind, Metric: metric, A: at(8), B: map[string]any{"length": 3, "flows": 8}}
		twin, can := tcp.of(c)
		want := map[string]any{"length": 3, CalibratedFactor: true}
		if !can || !reflect.DeepEqual(twin.B, want) || c.B["flows"] != 8 {
			t.Errorf("%v, %+v of %+v", can, twin, c)
		}
	}
	sizes := api.Check{Kind: "ratio", Metric: metric, A: map[string]any{"payload_size": 100, "flows": 6}, B: map[string]any{"payload_size": 1000, "flows": 6}}
	if twin, can := udp.of(sizes); !can || !reflect.DeepEqual(twin.A, map[string]any{"payload_size": 100, CalibratedFactor: true}) {
		t.Errorf("sizes of datagrams: %v, %+v", can, twin)
	}
	if _, can := udp.of(api.Check{Kind: "rises", Metric: metric, Over: "payload_size"}); !can {
		t.Error("one that goes over sizes of datagrams has no twin")
	}
}

// TestTwinsOfModels: what a model is fitted to, and what it takes from others, is all at the
// calibrated load; two that would be fitted to the same are one.
func TestTwinsOfModels(t *testing.T) {
	conditions := calibratedOf(map[string][]map[string]any{trial.TCP: {{"length": 2, "flows": 4}, {"length": 3, "flows": 4}}})
	one := func(name string, flows int) api.Model {
		return api.Model{Name: name, Kind: model.LossPerHop, Metric: metric, Where: map[string]any{"flows": flows}}
	}
	two := api.Model{Name: "two", Kind: model.TwoFactor, Metric: metric, From: "one"}
	spec := api.ExperimentSpec{
		Models: []api.Model{one("one", 1), one("eight", 8), two, {Name: "usl", Kind: model.USL, Metric: metric}, {Name: "cores", Kind: model.SharedCores, Metric: metric}},
		Claims: []api.Claim{
			{ID: "a", Check: api.Check{Kind: "model_error", Model: "eight"}}, {ID: "b", Check: api.Check{Kind: "model_better", Model: "two", Other: "one"}},
			{ID: "c", Check: api.Check{Kind: "model_better", Model: "two", Other: "cores"}},
		},
	}
	got := WithTwins(spec, conditions)
	if len(spec.Models) != 5 || len(got.Models) != 7 || got.Models[5].Name != "one@calibrated" || got.Models[6].From != "one@calibrated" {
		t.Fatalf("%+v", got.Models[5:])
	}
	if where := got.Models[5].Where; !reflect.DeepEqual(where, map[string]any{CalibratedFactor: true}) {
		t.Errorf("fitted where %v", where)
	}
	if len(got.Claims) != 5 || got.Claims[3].Check.Model != "one@calibrated" || got.Claims[4].Check.Model != "two@calibrated" || got.Claims[4].Check.Other != "one@calibrated" {
		t.Errorf("%+v", got.Claims[3:])
	}
}

// TestModelsAtTheCalibratedLoad: a law that holds there and not in the source's conditions is
// found there alone.
func TestModelsAtTheCalibratedLoad(t *testing.T) {
	run := system(fading).measure(0.001, 6, 3)
	law := powerLaw(0.11).measure(0.001, 6, 5)
	for _, tr := range law.Trials {
		tr.Condition += len(run.Conditions)
		run.Trials = append(run.Trials, tr)
	}
	for _, c := range law.Conditions {
		c.Factors = with(with(c.Factors, CalibratedFactor, true), "flows", 2)
		run.Conditions = append(run.Conditions, c)
	}
	spec := fig7()
	spec.Models[0].MaxLength = 0
	got := verdicts(WithTwins(spec, run.Conditions), run)
	if v := got["power"]; v.Verdict != DoesNotHold {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	if v := got["power"+twinSuffix]; v.Verdict != Holds || !strings.HasSuffix(v.Text, twinText) {
		t.Errorf("%+v", v)
	}
}

// TestUntwinned: a twin that cannot be told for want of time is not told of, nor one that
// cannot be told any more than the claim itself.
func TestUntwinned(t *testing.T) {
	dropped := trial.Run{Dropped: []trial.Infeasible{{Factors: map[string]any{CalibratedFactor: true}}}}
	for _, c := range []struct {
		claim, twin string
		run         trial.Run
		told        bool
	}{
		{Holds, Holds, dropped, true}, {Holds, CannotBeTold, dropped, false}, {Holds, CannotBeTold, trial.Run{}, true},
		{CannotBeTold, CannotBeTold, trial.Run{}, false}, {CannotBeTold, Holds, trial.Run{}, true},
	} {
		got := Untwinned([]Verdict{{ID: "a", Verdict: c.claim}, {ID: "a" + twinSuffix, Verdict: c.twin}}, c.run)
		if len(got) < 1 || got[0].ID != "a" || (len(got) == 2) != c.told {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}
