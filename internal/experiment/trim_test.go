package experiment

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/model"
	"nfchain.dev/nfchain/internal/trial"
)

// trimmable is a random experiment, with claims of every kind that there is, and what a
// simulated machine measures of it.
func trimmable(r *rand.Rand) (api.ExperimentSpec, trial.Run) {
	spec := api.ExperimentSpec{
		Sweep: []api.Factor{
			{Field: "length", Values: []any{2, 3, 5, 10, 20}}, {Field: "flows", Values: []any{1, 2, 4, 6, 8}[:1+r.IntN(5)]},
			{Field: "zerocopy", Values: []any{false, true}},
		},
		Models:    randomModels(5 * r.IntN(2)),
		Reference: []api.Reference{{At: map[string]any{"length": 10, "flows": 1, "zerocopy": true}, Metric: metric, Value: 1}},
	}
	if r.IntN(2) == 0 {
		spec.Sweep[0].Values = append(spec.Sweep[0].Values, refusedLength)
	}
	for i, kind := range slices.Sorted(maps.Keys(checks)) {
		spec.Claims = append(spec.Claims, api.Claim{ID: fmt.Sprint(i, " ", kind), Check: randomCheck(r, spec, kind)})
	}
	return spec, simulated(r, spec)
}

// randomModels are two of the same trials.
func randomModels(longest int) []api.Model {
	where := map[string]any{"flows": 1, "zerocopy": true}
	return []api.Model{
		{Name: "hop", Kind: model.LossPerHop, Metric: metric, Where: where, MaxLength: longest},
		{Name: "adds", Kind: model.CostPerHop, Metric: metric, Where: where, MaxLength: longest},
	}
}

// refusedLength is one that the simulated machine cannot have.
const refusedLength = 40

func randomCheck(r *rand.Rand, spec api.ExperimentSpec, kind string) api.Check {
	value := func(field string) any {
		for _, f := range spec.Sweep {
			if f.Field == field {
				return f.Values[r.IntN(len(f.Values))]
			}
		}
		panic(field)
	}
	flows := value("flows")
	at := func(length int) map[string]any {
		return map[string]any{"length": length, "flows": flows, "zerocopy": true}
	}
	c := api.Check{Kind: kind, Metric: metric, A: at(2), B: at(3), C: at(10), D: at(20), AtLeast: bound(-1e9)}
	switch kind {
	case "ratio_each", "ratio_mean", "rank_changes":
		c.A, c.B, c.C, c.D, c.Over = map[string]any{"length": 2, "zerocopy": true}, map[string]any{"length": 3, "zerocopy": true}, nil, nil, "flows"
	case "flat", "rises", "peak":
		c.A, c.B, c.C, c.D, c.Over = map[string]any{"flows": flows, "zerocopy": true}, nil, nil, nil, "length"
		if r.IntN(2) == 0 {
			c.Values = []any{3, 5, 20}
		}
	case "possible":
		c.A, c.B, c.C, c.D, c.Over, c.Refusal = map[string]any{"flows": flows, "zerocopy": true}, nil, nil, nil, "length", "full"
	case "value", "between_share", "spread":
		c.B, c.C, c.D = nil, nil, nil
	case "best_ratio":
		c.A, c.B, c.C, c.D = map[string]any{"zerocopy": false}, map[string]any{"zerocopy": true}, nil, nil
	case "model_error":
		c = api.Check{Kind: kind, Model: "hop", AtLeast: bound(-1e9)}
	case "model_better":
		c = api.Check{Kind: kind, Model: "adds", Other: "hop", AtLeast: bound(-1e9)}
	}
	return c
}

// simulated measures every combination of a sweep, three times, now and then on two
// instances of its chain.
func simulated(r *rand.Rand, spec api.ExperimentSpec) trial.Run {
	run := trial.Run{Repeats: 3, State: trial.Done, Redeploy: 2 * r.IntN(2)}
	for _, settings := range combinations(spec) {
		c := trial.Condition{Path: trial.PathChain, Protocol: trial.TCP, DurationS: 1, Factors: map[string]any{}}
		for _, s := range settings {
			c.Factors[s.Field] = s.Value
		}
		c.Length, _ = c.Factors["length"].(int)
		if c.Length == refusedLength {
			run.Infeasible = append(run.Infeasible, trial.Infeasible{Factors: c.Factors, Reason: "the switch is full"})
			continue
		}
		c.Flows, _ = c.Factors["flows"].(int)
		y := fading(c.Length) * math.Sqrt(float64(c.Flows))
		if c.Factors["zerocopy"] == true {
			y *= 1.5
		}
		for k := range 3 {
			run.Trials = append(run.Trials, trial.Trial{Condition: len(run.Conditions), Repeat: k + 1, Instance: k/2 + 1,
				Metrics: map[string]float64{metric: y * (1 + 0.01*r.NormFloat64())}})
		}
		run.Conditions = append(run.Conditions, c)
	}
	return run
}

// only is a run as if no other conditions had been measured.
func only(run trial.Run, t Trimmed) trial.Run {
	at := map[int]int{}
	out := run
	out.Conditions, out.Trials, out.Dropped = nil, nil, t.Dropped
	for _, i := range t.Kept {
		at[i] = len(out.Conditions)
		out.Conditions = append(out.Conditions, run.Conditions[i])
	}
	for _, one := range run.Trials {
		if i, kept := at[one.Condition]; kept {
			one.Condition = i
			out.Trials = append(out.Trials, one)
		}
	}
	return out
}

func trimming(spec api.ExperimentSpec, run trial.Run) Trimming {
	t := Trimming{Spec: spec, Course: Course{Conditions: run.Conditions}, Repeats: run.Repeats, Cost: UsualCost}
	for _, c := range run.Conditions {
		t.Chain = append(t.Chain, c.Length)
	}
	return t
}

// TestTrimmingLeavesEveryClaimTold: whatever the budget, what could be told of the whole can
// be told of the rest.
func TestTrimmingLeavesEveryClaimTold(t *testing.T) {
	told := map[string]bool{}
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 7))
		spec, whole := trimmable(r)
		if seed%3 == 0 { // a machine that cannot have some of it
			lost := whole.Conditions[r.IntN(len(whole.Conditions))].Factors["length"]
			whole = only(whole, Trimmed{Kept: indices(whole, func(c trial.Condition) bool { return c.Factors["length"] != lost })})
		}
		one := trimming(spec, whole)
		budget := one.To(0).Span.Most * r.Float64()
		trimmed := one.To(budget)
		before, after := Judge(spec, whole, nil), Judge(spec, only(whole, trimmed), nil)
		for i, v := range before {
			if v.Verdict == CannotBeTold {
				continue
			}
			told[spec.Claims[i].Check.Kind] = true
			if after[i].Verdict == CannotBeTold {
				t.Errorf("seed %d: %s in %.0f s of %.0f: %s; before: %s", seed, v.ID, budget, one.To(0).Span.Most, after[i].Reason, v.Reason)
			}
		}
	}
	for kind := range checks {
		if !told[kind] {
			t.Errorf("no claim of kind %s was ever told: the test does not try it", kind)
		}
	}
}

func indices(run trial.Run, keep func(trial.Condition) bool) (all []int) {
	for i, c := range run.Conditions {
		if keep(c) {
			all = append(all, i)
		}
	}
	return all
}

// TestTrimmingKeepsItsTime: what it keeps takes no longer than it may, unless claims need it,
// and everything is either kept or dropped with a reason.
func TestTrimmingKeepsItsTime(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 8))
		spec, run := trimmable(r)
		one := trimming(spec, run)
		all := one.To(0)
		if len(all.Kept) != len(run.Conditions) || len(all.Dropped) != 0 || all.Over != 0 {
			t.Fatalf("without a budget %d of %d are kept", len(all.Kept), len(run.Conditions))
		}
		budget := all.Span.Most * (0.01 + r.Float64())
		got := one.To(budget)
		if len(got.Kept)+len(got.Dropped) != len(run.Conditions) {
			t.Fatalf("%d kept, %d dropped of %d", len(got.Kept), len(got.Dropped), len(run.Conditions))
		}
		if got.Seconds > budget+1e-9 && (math.Abs(got.Seconds-budget-got.Over) > 1e-9 || got.Seconds > got.Span.Least+1e-9) {
			t.Errorf("seed %d: %.1f s of a budget of %.1f, %.1f over it; the claims need %.1f", seed, got.Seconds, budget, got.Over, got.Span.Least)
		}
		value := worths(spec, run.Conditions)
		for i, v := range value {
			if v == needed && !slices.Contains(got.Kept, i) {
				t.Errorf("seed %d: %s is needed, and dropped", seed, Describe(run.Conditions[i].Factors))
			}
		}
		for _, d := range got.Dropped {
			if d.Reason == "" || len(d.Factors) == 0 {
				t.Errorf("dropped: %+v", d)
			}
		}
		again := one.To(budget)
		if !slices.Equal(again.Kept, got.Kept) {
			t.Errorf("the same budget keeps %v and %v", got.Kept, again.Kept)
		}
	}
}

// TestTrimmingDropsTheLeastWorthFirst: what is at the calibrated load goes before all, then
// what nobody asks for, then the source's values.
func TestTrimmingDropsTheLeastWorthFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	spec, run := trimmable(r)
	for i := range 10 {
		c := run.Conditions[3*i]
		c.Factors = maps.Clone(c.Factors)
		c.Factors["flows"], c.Factors[CalibratedFactor] = 5, true
		run.Conditions = append(run.Conditions, c)
	}
	one := trimming(WithTwins(spec, run.Conditions), run)
	value := worths(one.Spec, run.Conditions)
	rank := func(i int) int {
		if isCalibrated(run.Conditions[i].Factors) {
			return int(value[i]) - 10
		}
		return int(value[i])
	}
	for budget := one.To(0).Span.Most; budget > 1; budget -= 5 {
		kept := one.To(budget).Kept
		least, most := 10, -20
		for i := range run.Conditions {
			if slices.Contains(kept, i) {
				least = min(least, rank(i))
			} else {
				most = max(most, rank(i))
			}
		}
		if most > least {
			t.Fatalf("at %.0f s something of worth %d is dropped, and of worth %d kept", budget, most, least)
		}
	}
}

// TestDroppedCellsOfOthersHideNothing: a cell that was dropped takes no value from a claim
// about other cells, neither one that was measured nor one that cannot be had.
func TestDroppedCellsOfOthersHideNothing(t *testing.T) {
	spec := api.ExperimentSpec{Cells: []map[string]any{
		{"length": 2, "zerocopy": true}, {"length": 3, "zerocopy": true}, {"length": refusedLength, "zerocopy": true},
		{"length": 3, "mtu": 9000}, {"length": refusedLength, "mtu": 9000},
	}}
	c := api.Check{Kind: "flat", Metric: metric, Over: "length", A: map[string]any{"zerocopy": true}, AtMost: bound(1)}
	run := trial.Run{
		Conditions: []trial.Condition{{Factors: spec.Cells[0]}, {Factors: spec.Cells[1]}},
		Infeasible: []trial.Infeasible{{Factors: spec.Cells[2], Reason: "the switch is full"}},
		Dropped:    []trial.Infeasible{{Factors: spec.Cells[3]}, {Factors: spec.Cells[4]}},
	}
	if got, err := valuesOver(spec, run, c); err != nil || !slices.Equal(got, []any{2, 3, refusedLength}) {
		t.Errorf("goes over %v: %v", got, err)
	}
	run.Conditions = run.Conditions[:1]
	if got, err := valuesOver(spec, run, c); err != nil || !slices.Equal(got, []any{2, refusedLength}) {
		t.Errorf("with a length dropped, goes over %v: %v", got, err)
	}
}

func TestWithoutClaimsOneIsKept(t *testing.T) {
	run := simulated(rand.New(rand.NewPCG(1, 10)), api.ExperimentSpec{Sweep: []api.Factor{{Field: "length", Values: []any{2, 3}}}})
	if got := trimming(api.ExperimentSpec{}, run).To(0.1); len(got.Kept) != 1 || got.Over == 0 {
		t.Errorf("%+v", got)
	}
}

// TestExpect: what is foreseen of an order that nobody has drawn is what orders come to, whether chains are made anew or not.
func TestExpect(t *testing.T) {
	cost := Cost{Trial: 0.2, Chain: 1.5, Node: 0.1, Container: 0.5}
	for _, chain := range [][]int{{0}, {0, 0, 0}, {0, 1, 2}, {0, 0, 1}, {0, 0, 0, 0, 1, 1, 2}} {
		for _, each := range []int{0, 1, 2, 3} {
			on := Course{Conditions: make([]trial.Condition, len(chain)), Chain: chain, Each: each}
			for i, number := range chain {
				on.Conditions[i].DurationS, on.Conditions[i].Length = 1, number+2
				on.Containers = append(on.Containers, number)
			}
			const repeats, orders = 6, 400
			sum := 0.0
			for seed := range int64(orders) {
				sum += cost.Seconds(on, on.Order(repeats, seed), -1)
			}
			if got, want := cost.Expect(on, repeats), sum/orders; math.Abs(got-want) > 0.03*want {
				t.Errorf("chains %v, %d on each: %.2f s are expected, orders take %.2f", chain, each, got, want)
			}
		}
	}
}

// TestExpectOnInstances: and where conditions have some instances alone.
func TestExpectOnInstances(t *testing.T) {
	cost := Cost{Trial: 0.25, Chain: 1}
	on := Course{Conditions: []trial.Condition{{DurationS: 1, Instances: []int{1, 2, 5}}, {DurationS: 2, Instances: []int{3, 4}}, {DurationS: 4}}, Chain: []int{0, 0, 0}, Each: 2}
	order := on.Order(10, 1)
	of := map[Slot]bool{}
	for _, s := range order {
		of[s] = true
	}
	if len(order) != 6+4+10 || len(of) != len(order) || of[Slot{0, 5}] || !of[Slot{0, 9}] || !of[Slot{1, 5}] || of[Slot{1, 9}] {
		t.Errorf("order %v", order)
	}
	const want = 6*1 + 4*2 + 10*4 + 5*1 + 15*0.25 // the first of each instance makes it
	if got, taken := cost.Expect(on, 10), cost.Seconds(on, order, -1); got != want || taken != want {
		t.Errorf("%v s are expected and the order takes %v, want %v", got, taken, want)
	}
}

func TestShare(t *testing.T) {
	spans := []Span{{10, 30}, {20, 20}, {5, 105}}
	for _, c := range []struct {
		budget float64
		want   []float64
	}{
		{35, []float64{10, 20, 5}}, {10, []float64{10, 20, 5}}, {1000, []float64{30, 20, 105}}, {95, []float64{20, 20, 55}},
	} {
		if got := Share(c.budget, spans); !slices.Equal(got, c.want) {
			t.Errorf("%v of %g s, want %v", got, c.budget, c.want)
		}
	}
	if got := Share(10, nil); len(got) != 0 {
		t.Error(got)
	}
}
