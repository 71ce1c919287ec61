package experiment

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

var (
	flowLevels = []any{1, 2, 4, 8}
	veth       = map[string]any{"wiring": "veth"}
	ovs        = map[string]any{"wiring": "ovs"}
)

// machine is a simulated one: what it measures over wirings and flows, with noise of
// each trial and of each block, both as a share.
type machine struct {
	truth        func(wiring string, flows int) float64
	noise, block float64
	repeats      int
}

func (m machine) measure(seed uint64) (run trial.Run) {
	r := rand.New(rand.NewPCG(seed, 3))
	blocks := make([]float64, m.repeats)
	for k := range blocks {
		blocks[k] = m.block * r.NormFloat64()
	}
	for _, wiring := range []string{"veth", "ovs"} {
		for _, flows := range flowLevels {
			i := len(run.Conditions)
			run.Conditions = append(run.Conditions, trial.Condition{Path: trial.PathChain, Protocol: trial.TCP, Flows: flows.(int), Length: 3,
				Factors: map[string]any{"wiring": wiring, "flows": float64(flows.(int))}})
			for k := range m.repeats {
				x := m.truth(wiring, flows.(int)) * math.Exp(blocks[k]+m.noise*r.NormFloat64())
				run.Trials = append(run.Trials, trial.Trial{Condition: i, Repeat: k + 1, Metrics: map[string]float64{metric: x}})
			}
		}
	}
	return run
}

// levelled is the experiment of such a machine with one claim.
func levelled(c api.Check) api.ExperimentSpec {
	if c.Metric == "" {
		c.Metric = metric
	}
	return api.ExperimentSpec{
		Sweep:  []api.Factor{{Field: "wiring", Values: []any{"veth", "ovs"}}, {Field: "flows", Values: flowLevels}},
		Claims: []api.Claim{{ID: "c", Check: c}},
	}
}

func judged(c api.Check, run trial.Run) Verdict { return Judge(levelled(c), run, nil)[0] }

// growing carries more with more flows: with the power p, and over ovs the share.
func growing(p, share float64) func(string, int) float64 {
	return func(wiring string, flows int) float64 {
		x := 10e9 * math.Pow(float64(flows), p)
		if wiring == "ovs" {
			x *= share
		}
		return x
	}
}

// bend carries most at 4 flows.
func bend(_ string, flows int) float64 {
	return map[int]float64{1: 10e9, 2: 15e9, 4: 20e9, 8: 17e9}[flows]
}

func TestKindsOfCheckOnKnownSystems(t *testing.T) {
	each := api.Check{Kind: "ratio_each", A: veth, B: ovs, Over: "flows"}
	flat := api.Check{Kind: "flat", A: veth, Over: "flows"}
	rises := api.Check{Kind: "rises", A: veth, Over: "flows"}
	peak := api.Check{Kind: "peak", A: veth, Over: "flows"}
	one, eight := map[string]any{"flows": 1}, map[string]any{"flows": 8}
	change := api.Check{Kind: "ratio_change", A: with(one, "wiring", "veth"), B: with(eight, "wiring", "veth"),
		C: with(one, "wiring", "ovs"), D: with(eight, "wiring", "ovs")}
	value := api.Check{Kind: "value", A: with(eight, "wiring", "veth")}
	steeper := func(wiring string, flows int) float64 {
		if wiring == "ovs" {
			return growing(.8, 1)(wiring, flows)
		}
		return growing(.5, 1)(wiring, flows)
	}
	atLeast := func(c api.Check, x float64) api.Check { c.AtLeast = &x; return c }
	atMost := func(c api.Check, x float64) api.Check { c.AtMost = &x; return c }
	cases := []struct {
		name   string
		check  api.Check
		truth  func(string, int) float64
		want   string
		reason string
	}{
		{"below everywhere", atMost(each, .95), growing(.5, .9), Holds, "greatest"},
		{"not below", atMost(each, .8), growing(.5, .9), DoesNotHold, "times as much at flows="},
		{"above one", atLeast(each, 1), growing(.5, .9), DoesNotHold, "where it is least"},
		{"between", atMost(atLeast(each, .8), 1), growing(.5, .9), Holds, ""},
		{"above the range", atMost(atLeast(each, .5), .8), growing(.5, .9), DoesNotHold, "greatest"},
		{"below the range", atMost(atLeast(each, .95), 1.2), growing(.5, .9), DoesNotHold, "least"},
		{"flat", atMost(flat, .1), growing(0, 1), Holds, "differs by up to"},
		{"not flat", atMost(flat, .1), growing(.5, 1), DoesNotHold, "greatest at flows=8 and least at flows=1"},
		{"sure not to be flat", atLeast(flat, .1), growing(.5, 1), Holds, ""},
		{"as the root", atMost(atLeast(rises, .4), .6), growing(.5, 1), Holds, "power 0."},
		{"not in proportion", atLeast(rises, .9), growing(.5, 1), DoesNotHold, ""},
		{"falls", atMost(rises, 0), growing(-.5, 1), Holds, ""},
		{"peak", atMost(atLeast(peak, 4), 4), bend, Holds, "highest at flows=4, and surely so"},
		{"peak elsewhere", atMost(peak, 2), bend, DoesNotHold, ""},
		{"no peak", atMost(peak, 2), growing(0, 1), Undecided, "cannot be told apart"},
		{"grows more", atLeast(change, 1.5), steeper, Holds, "change by the factor 1."},
		{"does not shrink", atMost(change, 1), steeper, DoesNotHold, ""},
		{"value", atMost(atLeast(value, 25e9), 30e9), growing(.5, 1), Holds, "Gb/s"},
	}
	for _, c := range cases {
		for _, repeats := range []int{5, 10} {
			v := judged(c.check, machine{c.truth, .01, .02, repeats}.measure(11))
			if v.Verdict != c.want || !strings.Contains(v.Reason, c.reason) {
				t.Errorf("%s of %d: %s, want %s with %q: %s", c.name, repeats, v.Verdict, c.want, c.reason, v.Reason)
			}
		}
	}
}

// On the edge of its range a claim is decided in one of twenty cases, never mind how
// many values it goes over.
func TestKindsOfCheckRarelyErr(t *testing.T) {
	on := func(x float64) *float64 { return &x }
	cases := map[string]struct {
		check api.Check
		truth func(string, int) float64
	}{
		"every ratio at the edge":  {api.Check{Kind: "ratio_each", A: veth, B: ovs, Over: "flows", AtMost: on(.9)}, growing(.5, .9)},
		"every ratio at its lower": {api.Check{Kind: "ratio_each", A: veth, B: ovs, Over: "flows", AtLeast: on(.9)}, growing(.5, .9)},
		"flat at the edge": {api.Check{Kind: "flat", A: veth, Over: "flows", AtMost: on(.1)}, func(_ string, flows int) float64 {
			return map[bool]float64{true: 11e9, false: 10e9}[flows == 4]
		}},
		"slope at the edge":  {api.Check{Kind: "rises", A: veth, Over: "flows", AtLeast: on(.5)}, growing(.5, 1)},
		"linear at the edge": {api.Check{Kind: "rises", Scale: "linear", A: veth, Over: "flows", AtLeast: on(0)}, growing(0, 1)},
		"change at the edge": {api.Check{Kind: "ratio_change", A: with(veth, "flows", 1), B: with(veth, "flows", 8),
			C: with(ovs, "flows", 1), D: with(ovs, "flows", 8), AtLeast: on(1)}, growing(.5, .9)},
		"value at the edge": {api.Check{Kind: "value", A: with(veth, "flows", 1), AtLeast: on(10e9)}, growing(.5, 1)},
	}
	const runs = 250
	for name, c := range cases {
		for _, repeats := range []int{3, 8} {
			decided := 0
			for seed := range uint64(runs) {
				if judged(c.check, machine{c.truth, .03, .03, repeats}.measure(seed)).Verdict != Undecided {
					decided++
				}
			}
			// The simulated distribution is lognormal, whose mean is above e^0 by 0.1%.
			if ci := stats.ProportionInterval(decided, runs); ci[0] > .05 {
				t.Errorf("%s, %d repeats: decided in %d of %d", name, repeats, decided, runs)
			}
		}
	}
}

// The best of a factor's values is among those that cannot be told apart from it.
func TestPeakIsAmongTheBest(t *testing.T) {
	nearly := func(_ string, flows int) float64 {
		return map[int]float64{1: 10e9, 2: 10.3e9, 4: 10.5e9, 8: 10.4e9}[flows]
	}
	const runs = 250
	missed := 0
	for seed := range uint64(runs) {
		v := judged(api.Check{Kind: "peak", A: veth, Over: "flows", AtMost: bound(3)}, machine{nearly, .03, .05, 5}.measure(seed))
		if v.CI95 == nil || v.CI95[0] > 4 || v.CI95[1] < 4 {
			missed++
		}
		if v.Verdict == Holds && v.CI95[1] > 3 {
			t.Errorf("%+v", v)
		}
	}
	if ci := stats.ProportionInterval(missed, runs); ci[0] > .05 {
		t.Errorf("the best was not among them in %d of %d", missed, runs)
	}
}

// everyKind is a claim of each kind that any number of trials without noise fulfils.
func everyKind() map[string]api.Check {
	return map[string]api.Check{
		"value":        {Kind: "value", A: with(veth, "flows", 1), AtLeast: bound(1)},
		"loss":         {Kind: "loss", A: with(veth, "flows", 1), B: with(ovs, "flows", 1), AtLeast: bound(.05)},
		"ratio":        {Kind: "ratio", A: with(veth, "flows", 1), B: with(ovs, "flows", 1), AtMost: bound(.95)},
		"best_ratio":   {Kind: "best_ratio", A: veth, B: ovs, AtMost: bound(.95)},
		"ratio_each":   {Kind: "ratio_each", A: veth, B: ovs, Over: "flows", AtMost: bound(.95)},
		"ratio_mean":   {Kind: "ratio_mean", A: veth, B: ovs, Over: "flows", AtMost: bound(.95)},
		"ratio_change": {Kind: "ratio_change", A: with(veth, "flows", 1), B: with(veth, "flows", 2), C: with(ovs, "flows", 1), D: with(ovs, "flows", 2), AtMost: bound(2)},
		"flat":         {Kind: "flat", A: veth, Over: "flows", AtMost: bound(5)},
		"rises":        {Kind: "rises", A: veth, Over: "flows", AtLeast: bound(.1)},
		"linear":       {Kind: "rises", Scale: "linear", A: veth, Over: "flows", AtLeast: bound(.01)},
		"spread":       {Kind: "spread", A: with(veth, "flows", 1), AtMost: bound(.5)},
		"peak":         {Kind: "peak", A: veth, Over: "flows", AtLeast: bound(2)},
	}
}

// No claim holds because of what is not there.
func TestNothingHoldsForWantOfData(t *testing.T) {
	whole := func() trial.Run { return machine{growing(.5, .9), .005, 0, 6}.measure(5) }
	concerns := func(condition int) bool { return condition == 0 || condition == 4 } // one flow
	spoil := func(f func(*trial.Trial)) func(trial.Run) trial.Run {
		return func(run trial.Run) trial.Run {
			for i := range run.Trials {
				if concerns(run.Trials[i].Condition) {
					f(&run.Trials[i])
				}
			}
			return run
		}
	}
	to := func(x float64) func(*trial.Trial) {
		return func(tr *trial.Trial) { tr.Metrics = map[string]float64{metric: x} }
	}
	every := func(k int, f func(*trial.Trial)) func(*trial.Trial) {
		return func(tr *trial.Trial) {
			if tr.Repeat%k == 0 {
				f(tr)
			}
		}
	}
	none := func(tr *trial.Trial) { tr.Metrics = nil }
	keep := func(which func(trial.Trial) bool) func(trial.Run) trial.Run {
		return func(run trial.Run) trial.Run {
			run.Trials = slices.DeleteFunc(run.Trials, func(tr trial.Trial) bool { return !which(tr) })
			return run
		}
	}
	spoilt := map[string]func(trial.Run) trial.Run{
		"empty cells":          keep(func(tr trial.Trial) bool { return !concerns(tr.Condition) }),
		"no trials":            keep(func(trial.Trial) bool { return false }),
		"one repeat":           keep(func(tr trial.Trial) bool { return tr.Repeat == 1 }),
		"one repeat somewhere": keep(func(tr trial.Trial) bool { return tr.Repeat == 1 || !concerns(tr.Condition) }),
		"the tool failed":      spoil(none),
		"it failed once":       spoil(every(6, none)),
		"it failed often":      spoil(every(2, none)),
		"NaN":                  spoil(to(math.NaN())),
		"NaN once":             spoil(every(6, to(math.NaN()))),
		"infinite":             spoil(to(math.Inf(1))),
		"infinite once":        spoil(every(6, to(math.Inf(-1)))),
		"wide": spoil(func(tr *trial.Trial) {
			tr.Metrics[metric] *= []float64{100, .001, 1, 30, .2, 7}[(tr.Repeat-1+tr.Condition)%6]
		}),
		"no such condition": func(run trial.Run) trial.Run {
			for i := range run.Conditions {
				if concerns(i) {
					run.Conditions[i].Factors = map[string]any{"wiring": "veth", "flows": 16}
				}
			}
			return run
		},
		"the run failed": func(run trial.Run) trial.Run {
			run.State, run.Repeats = trial.Failed, 10
			return run
		},
	}
	for kind, check := range everyKind() {
		if v := judged(check, whole()); v.Verdict != Holds {
			t.Errorf("%s, whole: %s: %s", kind, v.Verdict, v.Reason)
		}
		for what, f := range spoilt {
			if kind == "best_ratio" && what == "no such condition" {
				continue // the best of what there is
			}
			if v := judged(check, f(whole())); v.Verdict == Holds {
				t.Errorf("%s, %s: %s: %s", kind, what, v.Verdict, v.Reason)
			} else if v.Reason == "" {
				t.Errorf("%s, %s: no reason", kind, what)
			}
		}
	}
}

// What is zero or below it makes nothing hold that is about shares of it.
func TestZerosAndNegativesDefineNoShare(t *testing.T) {
	for _, x := range []float64{0, -1} {
		run := machine{growing(.5, .9), .005, 0, 6}.measure(5)
		for i := range run.Trials {
			if c := run.Trials[i].Condition; c == 0 || c == 4 {
				run.Trials[i].Metrics = map[string]float64{metric: x * float64(run.Trials[i].Repeat)}
			}
		}
		for _, kind := range []string{"value", "loss", "ratio", "ratio_each", "ratio_change", "flat", "rises"} {
			if v := judged(everyKind()[kind], run); v.Verdict == Holds {
				t.Errorf("%s of %v: %s", kind, x, v.Reason)
			}
		}
	}
}

// A value that is infeasible, or has no trials, keeps no claim from being refuted.
func TestMissingValuesMayRefute(t *testing.T) {
	run := machine{growing(.5, .9), .005, 0, 6}.measure(5)
	run.Conditions[3].Factors, run.Conditions[7].Factors = nil, nil // eight flows
	run.Infeasible = []trial.Infeasible{
		{Factors: map[string]any{"wiring": "veth", "flows": 8}, Reason: "there is one core"},
		{Factors: map[string]any{"wiring": "ovs", "flows": 8}, Reason: "there is one core"},
	}
	for _, kind := range []string{"ratio_each", "flat", "rises", "peak"} {
		if v := judged(everyKind()[kind], run); v.Verdict != CannotBeTold || !strings.Contains(v.Reason, "there is one core") {
			t.Errorf("%s: %s: %s", kind, v.Verdict, v.Reason)
		}
	}
	refuted := api.Check{Kind: "ratio_each", A: veth, B: ovs, Over: "flows", AtLeast: bound(1)}
	if v := judged(refuted, run); v.Verdict != DoesNotHold {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	some := everyKind()["ratio_each"]
	some.Values = []any{1, 4}
	if v := judged(some, run); v.Verdict != Holds || !strings.Contains(v.Quantity, "over flows=1, 4") {
		t.Errorf("%s: %s: %s", v.Verdict, v.Quantity, v.Reason)
	}
}

func TestLevelsSayWhatIsWrong(t *testing.T) {
	run := machine{growing(.5, .9), .005, 0, 3}.measure(5)
	cases := map[string]api.Check{
		`does not vary "mtu"`:   {Kind: "flat", A: veth, Over: "mtu", AtMost: bound(1)},
		`does not vary ""`:      {Kind: "rises", A: veth, AtLeast: bound(1)},
		"wiring=veth is no num": {Kind: "rises", A: map[string]any{"flows": 1}, Over: "wiring", AtLeast: bound(1)},
		"wiring=veth is no n":   {Kind: "peak", A: map[string]any{"flows": 1}, Over: "wiring", AtLeast: bound(1)},
		"true of 2 conditions":  {Kind: "flat", Over: "flows", AtMost: bound(1)},
		"one value only":        {Kind: "flat", A: veth, Over: "flows", Values: []any{4}, AtMost: bound(1)},
		"same condition":        {Kind: "ratio_each", A: veth, B: veth, Over: "flows", AtMost: bound(1)},
		"or c and d, are the":   {Kind: "ratio_change", A: with(veth, "flows", 1), B: with(veth, "flows", 2), C: with(ovs, "flows", 1), D: with(ovs, "flows", 1), AtMost: bound(1)},
		"not to be averaged":    {Kind: "flat", Metric: "latency_p99_ns", A: veth, Over: "flows", AtMost: bound(1)},
	}
	for want, check := range cases {
		if v := judged(check, run); v.Verdict != CannotBeTold || !strings.Contains(v.Reason, want) {
			t.Errorf("%s: %q, want %q in it", v.Verdict, v.Reason, want)
		}
	}
}

// Sizes and rates count by what they amount to, and cells give their values too.
func TestLevelsOfCells(t *testing.T) {
	spec := api.ExperimentSpec{
		Cells:  []map[string]any{{"rate": "10kpps", "wiring": "veth"}, {"rate": "1kpps", "wiring": "veth"}, {"rate": "2kpps", "wiring": "ovs"}},
		Claims: []api.Claim{{Check: api.Check{Kind: "rises", Metric: metric, A: veth, Over: "rate", AtLeast: bound(.9), AtMost: bound(1.1)}}},
	}
	run := trial.Run{}
	for i, cell := range spec.Cells {
		run.Conditions = append(run.Conditions, trial.Condition{Path: trial.PathChain, Factors: cell})
		for k := range 4 {
			run.Trials = append(run.Trials, trial.Trial{Condition: i, Repeat: k + 1,
				Metrics: map[string]float64{metric: []float64{1e4, 1e3, 7}[i] * (1 + .001*float64(k%2))}})
		}
	}
	if v := Judge(spec, run, nil)[0]; v.Verdict != Holds || !strings.Contains(v.Quantity, "rate=10kpps, 1kpps") {
		t.Errorf("%s: %s: %s", v.Verdict, v.Quantity, v.Reason)
	}
}

// A metric may be below zero, as the way of one packet less that of the one before: its interval is not cut there.
func TestValueBelowZero(t *testing.T) {
	for most, want := range map[float64]string{-10_000: Holds, -50_000: DoesNotHold} {
		run := machine{growing(.5, 1), .005, 0, 6}.measure(5)
		for i := range run.Trials {
			run.Trials[i].Metrics["ipdv_min_ns"] = -30_000 - float64(run.Trials[i].Repeat)
		}
		claim := api.Check{Kind: "value", Metric: "ipdv_min_ns", A: with(veth, "flows", 1), AtMost: bound(most)}
		if v := judged(claim, run); v.Verdict != want || v.CI95 == nil || v.CI95[1] > -25_000 {
			t.Errorf("at most %v: %s: %s, %+v", most, v.Verdict, v.Reason, v.CI95)
		}
	}
}

// Of percentiles the value is the median of the trials', from six of them on.
func TestValueOfAPercentile(t *testing.T) {
	claim := api.Check{Kind: "value", Metric: "latency_p99_ns", A: with(veth, "flows", 1), AtMost: bound(2000)}
	for repeats, want := range map[int]string{3: Undecided, 6: Holds} {
		run := machine{growing(.5, 1), .005, 0, repeats}.measure(5)
		for i := range run.Trials {
			run.Trials[i].Metrics["latency_p99_ns"] = 1000 + float64(run.Trials[i].Repeat)
		}
		if v := judged(claim, run); v.Verdict != want {
			t.Errorf("of %d: %s: %s", repeats, v.Verdict, v.Reason)
		}
	}
}
