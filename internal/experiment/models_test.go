package experiment

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/model"
	"nfchain.dev/nfchain/internal/trial"
)

// swept runs a simulated system over the values of a factor under some noise.
func swept(metric, field string, f func(x float64) float64, noise float64, repeats int, xs ...float64) trial.Run {
	r := rand.New(rand.NewPCG(11, 1))
	run := trial.Run{Environment: trial.Environment{CPUs: 2}}
	for i, x := range xs {
		run.Conditions = append(run.Conditions, trial.Condition{
			Path: trial.PathChain, Protocol: trial.TCP, Length: 3, Flows: 1, Factors: map[string]any{field: x},
		})
		for k := range repeats {
			run.Trials = append(run.Trials, trial.Trial{Condition: i, Repeat: k + 1, Metrics: map[string]float64{metric: f(x) * math.Exp(noise*r.NormFloat64())}})
		}
	}
	return run
}

func oneFit(t *testing.T, m api.Model, run trial.Run) Fit {
	t.Helper()
	fits := Fits(api.ExperimentSpec{Models: []api.Model{m}}, run)
	if len(fits) != 1 {
		t.Fatalf("%+v", fits)
	}
	return fits[0]
}

func paramOf(f Fit, name string) Param {
	for _, p := range f.Params {
		if p.Name == name {
			return p
		}
	}
	return Param{}
}

// Parameters come in units that say what they are of.
func TestParametersHaveUnits(t *testing.T) {
	const rules = "chain.functions[0].firewall.rules.generate"
	for _, c := range []struct {
		m     api.Model
		run   trial.Run
		param string
		value float64
		unit  string
	}{
		{api.Model{Name: "m", Kind: model.PerRule, Metric: "throughput_pps", Over: rules},
			swept("throughput_pps", rules, func(x float64) float64 { return 1 / (1e-6 + 3e-9*x) }, 0, 2, 0, 100, 1000, 5000), "per_rule", 3, "ns/packet"},
		{api.Model{Name: "m", Kind: model.PerRule, Metric: "goodput_bps", Over: rules},
			swept("goodput_bps", rules, func(x float64) float64 { return 1 / (1e-10 + 3e-12*x) }, 0, 2, 0, 100, 1000, 5000), "per_rule", 3, "ns/kbit"},
		{api.Model{Name: "m", Kind: model.USL, Metric: "transactions_per_second"},
			swept("transactions_per_second", "flows", func(x float64) float64 { return 1e5 * x / (1 + .1*(x-1)) }, 0, 2, 1, 2, 4, 8), "lambda", 1e5, "/s"},
		{api.Model{Name: "m", Kind: model.USL, Metric: "transactions_per_second"},
			swept("transactions_per_second", "flows", func(x float64) float64 { return 1e5 * x / (1 + .1*(x-1)) }, 0, 2, 1, 2, 4, 8), "sigma", .1, ""},
		{api.Model{Name: "m", Kind: model.PerContainer, Metric: "latency_mean_ns"},
			swept("latency_mean_ns", "idle_containers", func(x float64) float64 { return 145e3 + 12e3*x }, 0, 2, 0, 10, 100, 1000), "per_container", 12e3, "ns"},
		{api.Model{Name: "m", Kind: model.DelayPerHop, Metric: "one_way_latency_mean_ns"},
			swept("one_way_latency_mean_ns", "length", func(x float64) float64 { return 40e3 + 6e3*(x-2) }, 0, 2, 2, 3, 5, 10), "per_hop", 6e3, "ns"},
	} {
		f := oneFit(t, c.m, c.run)
		p := paramOf(f, c.param)
		if math.Abs(p.Value/c.value-1) > 1e-3 || p.Unit != c.unit || len(f.Notes) == 0 || f.Range == nil {
			t.Errorf("%s of %s: %+v, want %v %s: %v", c.param, c.m.Metric, p, c.value, c.unit, f.Notes)
		}
		if f.HeldOut == nil || f.HeldOut.ErrorRatio > 1e-3 || len(f.Curve) < 10 {
			t.Errorf("%s: %+v, %d of a curve", c.m.Kind, f.HeldOut, len(f.Curve))
		}
	}
}

// Two factors: l_ovs from a chain of switches, l_ns from the rest.
func TestTwoFactorBorrows(t *testing.T) {
	run := swept(metric, "length", func(x float64) float64 { return 60e9 * math.Pow(.95, x) }, 0.01, 3, 2, 3, 5)
	for i := range run.Conditions {
		run.Conditions[i].Factors["wiring"] = "switches"
	}
	chain := swept(metric, "length", func(x float64) float64 { return 40e9 * math.Pow(.95*.89, x-2) }, 0.01, 3, 2, 3, 5)
	for i, c := range chain.Conditions {
		c.Factors["wiring"] = "both"
		run.Conditions = append(run.Conditions, c)
		for _, tr := range chain.Trials[3*i : 3*i+3] {
			tr.Condition += 3
			run.Trials = append(run.Trials, tr)
		}
	}
	spec := api.ExperimentSpec{Models: []api.Model{
		{Name: "two", Kind: model.TwoFactor, Metric: metric, Where: map[string]any{"wiring": "both"}, From: "one"},
		{Name: "one", Kind: model.LossPerHop, Metric: metric, Where: map[string]any{"wiring": "switches"}},
	}}
	ns := paramOf(Fits(spec, run)[0], "l_ns")
	if ns.CI95 == nil || ns.CI95[0] > .11 || ns.CI95[1] < .11 || math.Abs(ns.Value-.11) > .02 {
		t.Errorf("%+v", ns)
	}
	spec.Models[0].From = "nix"
	if f := Fits(spec, run)[0]; !strings.Contains(f.Notes[0], `no model "nix"`) {
		t.Errorf("%v", f.Notes)
	}
}

// What cannot be fitted says why, and nothing of it is no JSON.
func TestOddDataHasNoFit(t *testing.T) {
	usl := api.Model{Name: "m", Kind: model.USL, Metric: metric}
	law := func(x float64) float64 { return x }
	zero := swept(metric, "flows", law, 0, 2, 1, 2, 4, 8)
	zero.Trials[3].Metrics[metric] = 0
	below := swept(metric, "flows", law, 0, 2, 1, 2, 4, 8)
	below.Trials[3].Metrics[metric] = -5
	nan := swept(metric, "flows", law, 0, 2, 1, 2, 4, 8)
	nan.Trials[3].Metrics[metric] = math.NaN()
	failed := swept(metric, "flows", law, 0, 2, 1, 2, 4, 8)
	for i := range failed.Trials {
		failed.Trials[i].Metrics = nil
	}
	for name, c := range map[string]struct {
		run  trial.Run
		want string
	}{
		"nothing":    {trial.Run{}, "there are 0"},
		"one value":  {swept(metric, "flows", law, 0, 3, 4), "there are 1"},
		"two values": {swept(metric, "flows", law, 0, 3, 4, 8), "there are 2"},
		"zero":       {zero, "no logarithm"}, "below zero": {below, "no logarithm"},
		"all failed": {failed, "there are 0"},
	} {
		f := oneFit(t, usl, c.run)
		if len(f.Params) != 0 || len(f.Notes) != 1 || !strings.Contains(f.Notes[0], c.want) {
			t.Errorf("%s: %+v, want %q", name, f, c.want)
		}
		if _, err := json.Marshal(f); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if f := oneFit(t, usl, nan); !strings.Contains(f.Notes[0], "7 trials") {
		t.Errorf("not a number is no measurement: %v", f.Notes)
	}
	word := swept(metric, "flows", law, 0, 3, 1, 2, 4)
	word.Conditions[1].Factors["flows"] = "many"
	if f := oneFit(t, usl, word); !strings.Contains(f.Notes[0], "no number") {
		t.Errorf("%v", f.Notes)
	}
	missing := swept(metric, "flows", law, 0, 2, 1, 2, 4, 8)
	missing.Trials = missing.Trials[:6]
	if notes := strings.Join(oneFit(t, usl, missing).Notes, "\n"); !strings.Contains(notes, "no trials yet of flows 8") {
		t.Errorf("%s", notes)
	}
}

// better sets a cost that adds up against a loss that stays the same.
func better(cells ...any) api.ExperimentSpec {
	return api.ExperimentSpec{
		Models: []api.Model{
			{Name: "adds", Kind: model.CostPerHop, Metric: metric, Holdout: cells},
			{Name: "same", Kind: model.LossPerHop, Metric: metric, Holdout: cells},
		},
		Claims: []api.Claim{{ID: "better", Check: api.Check{Kind: "model_better", Model: "adds", Other: "same", AtMost: bound(1)}}},
	}
}

func TestModelBetter(t *testing.T) {
	adds := func(x float64) float64 { return 10e9 / (1 + .2*(x-2)) }
	same := func(x float64) float64 { return 10e9 * math.Pow(.9, x-2) }
	between := func(x float64) float64 { return math.Sqrt(adds(x) * same(x)) }
	xs := []float64{2, 3, 5, 10, 20}
	for name, c := range map[string]struct {
		spec api.ExperimentSpec
		run  trial.Run
		want string
	}{
		"it is":            {better(), swept(metric, "length", adds, .01, 5, xs...), Holds},
		"the other is":     {better(), swept(metric, "length", same, .01, 5, xs...), DoesNotHold},
		"noise":            {better(), swept(metric, "length", between, .4, 3, xs...), Undecided},
		"held out":         {better(20), swept(metric, "length", adds, .01, 5, xs...), Holds},
		"once":             {better(), swept(metric, "length", adds, .01, 1, xs...), Undecided},
		"never":            {better(), swept(metric, "length", adds, .01, 0, xs...), CannotBeTold},
		"two lengths":      {better(), swept(metric, "length", adds, .01, 5, 2, 3), CannotBeTold},
		"nothing held out": {better(30), swept(metric, "length", adds, .01, 5, xs...), Holds},
	} {
		if v := verdicts(c.spec, c.run)["better"]; v.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", name, v.Verdict, c.want, v.Reason)
		}
	}
	apart := better(20)
	apart.Models[1].Holdout = nil
	if v := verdicts(apart, swept(metric, "length", adds, .01, 5, xs...))["better"]; v.Verdict != CannotBeTold || !strings.Contains(v.Reason, "tried on the same") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	missing := swept(metric, "length", adds, .01, 5, xs...)
	missing.Trials = missing.Trials[:20] // none of length 20, which is held out
	if v := verdicts(better(20), missing)["better"]; v.Verdict != CannotBeTold || !strings.Contains(v.Reason, "no trial of length 20") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}

func TestRankings(t *testing.T) {
	xs := []float64{2, 3, 5, 10, 20}
	adds := func(x float64) float64 { return 10e9 / (1 + .2*(x-2)) }
	run := swept(metric, "length", adds, .01, 5, xs...)
	models, why := Propose(run)
	spec := api.ExperimentSpec{Models: models}
	if len(models) != 3 || len(why) != 0 {
		t.Fatalf("%+v %v", models, why)
	}
	ranks := Rankings(spec, run)
	if len(ranks) != 1 || len(ranks[0].Models) != 3 || ranks[0].Models[2].Kind != model.LossPerHop || ranks[0].Models[2].OverBest.CI95[0] <= 1 {
		t.Fatalf("%+v", ranks)
	}
	two := api.ExperimentSpec{Models: []api.Model{models[0], models[1]}}
	if r := Rankings(two, run)[0]; r.Best != model.CostPerHop || !strings.Contains(r.Reason, "foretells better") {
		t.Errorf("%+v", r)
	}
	noise := swept(metric, "length", adds, .5, 3, xs...)
	if r := Rankings(two, noise)[0]; r.Best != "" || !strings.Contains(r.Reason, "cannot be told") {
		t.Errorf("%+v", r)
	}
	once := swept(metric, "length", adds, .01, 1, xs...)
	if r := Rankings(two, once)[0]; r.Best != "" {
		t.Errorf("without repeats: %+v", r)
	}
}

// What was varied decides which models are tried.
func TestPropose(t *testing.T) {
	kinds := func(run trial.Run) string {
		models, _ := Propose(run)
		var words []string
		for _, m := range models {
			words = append(words, m.Kind)
		}
		return strings.Join(words, " ")
	}
	flat := func(float64) float64 { return 1e6 }
	for _, c := range []struct {
		run  trial.Run
		want string
	}{
		{swept(metric, "flows", flat, 0, 2, 1, 2, 4, 8), model.USL},
		{swept(metric, "copies.fw", flat, 0, 2, 0, 1, 2, 4), "loss_per_hop cost_per_hop fading"},
		{swept("latency_mean_ns", "length", flat, 0, 2, 2, 3, 4), model.DelayPerHop},
		{swept("throughput_pps", "chain.functions[0].firewall.rules.total", flat, 0, 2, 0, 1, 2), model.PerRule},
		{swept("latency_mean_ns", "idle_containers", flat, 0, 2, 0, 1, 2, 3, 4), model.PerContainer + " " + model.ContainerStep},
		{swept("latency_p50_ns", "length", flat, 0, 2, 2, 3, 4), ""},
		{swept(metric, "mtu", flat, 0, 2, 1000, 1500, 9000), ""},
		{swept(metric, "flows", flat, 0, 2, 1, 2), ""},
		{trial.Run{}, ""},
	} {
		if got := kinds(c.run); got != c.want {
			t.Errorf("%v: %q, want %q", c.run.Conditions, got, c.want)
		}
	}
	if _, why := Propose(swept(metric, "flows", flat, 0, 2, 1, 2)); len(why) != 1 || !strings.Contains(why[0], "over flows: too few values") {
		t.Errorf("%v", why)
	}
	if _, why := Propose(swept(metric, "mtu", flat, 0, 2, 1, 2)); len(why) != 1 || !strings.Contains(why[0], "nothing was varied") {
		t.Errorf("%v", why)
	}
}

// Length and flows together make the model of shared cores, which knows how many there are.
func TestProposeCores(t *testing.T) {
	run := trial.Run{Environment: trial.Environment{CPUs: 2}}
	for _, flows := range []int{1, 4} {
		for _, n := range []int{2, 3, 5} {
			run.Conditions = append(run.Conditions, trial.Condition{Path: trial.PathChain, Protocol: trial.TCP, Length: n, Flows: flows, Factors: map[string]any{"length": n, "flows": flows}})
			for k := range 3 {
				work := 1 + .3*float64(n-2)
				cost := math.Max(work/float64(flows), (work+1)/2) * (1 + .001*float64(k))
				run.Trials = append(run.Trials, trial.Trial{Condition: len(run.Conditions) - 1, Repeat: k + 1, Metrics: map[string]float64{metric: 1e10 / cost}})
			}
		}
	}
	models, _ := Propose(run)
	last := models[len(models)-1]
	if last.Kind != model.SharedCores || len(last.Where) != 0 {
		t.Fatalf("%+v", models)
	}
	f := oneFit(t, last, run)
	if len(f.Points) != 6 || f.Points[0].Flows != 1 || f.Curve != nil || !strings.Contains(strings.Join(f.Notes, " "), "C = 2 cores") {
		t.Errorf("%+v", f)
	}
}
