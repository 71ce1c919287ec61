package experiment

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

var bestHere = map[string]any{"flows": 4, "payload_size": 65536, "mtu": 9000}

func TestAtCalibrated(t *testing.T) {
	spec := api.ExperimentSpec{
		Load:  api.Load{Protocols: []string{trial.TCP}},
		Sweep: []api.Factor{{Field: "length", Values: []any{2, 3}}, {Field: "flows", Values: []any{8, 1}}},
	}
	points, err := Points(spec, api.Catalogue{})
	if err != nil {
		t.Fatal(err)
	}
	all := AtCalibrated(points, bestHere)
	if len(points) != 4 || len(all) != 6 {
		t.Fatalf("%d points, and %d with those at the calibrated load, not 4 and 6", len(points), len(all))
	}
	for _, p := range all[4:] {
		if p.Load.Flows != 4 || p.Load.PayloadSize != 65536 || p.Factors["flows"] != 4 || !isCalibrated(p.Factors) {
			t.Errorf("%+v", p)
		}
	}
	for _, p := range points {
		if p.Load.Flows == 4 || isCalibrated(p.Factors) {
			t.Errorf("a point of the source was changed: %+v", p)
		}
	}
	for name, load := range map[string]api.Load{
		"latency": {Protocols: []string{trial.Latency}}, "a rate": {Protocols: []string{trial.TCP}, Rate: api.LoadRate{Bits: 1}},
		"frames": {Protocols: []string{trial.UDP}, Frames: api.Frames{FrameSize: 64}}, "two": {Protocols: []string{trial.TCP, trial.UDP}},
		"the calibrated load itself": {Protocols: []string{trial.TCP}, Flows: 4, PayloadSize: 65536},
	} {
		if got := AtCalibrated([]Point{{Factors: map[string]any{}, Load: load}}, bestHere); len(got) != 1 {
			t.Errorf("%s has a point at the calibrated load: %+v", name, got[1:])
		}
	}
	udp := AtCalibrated([]Point{{Factors: map[string]any{}, Load: api.Load{Protocols: []string{trial.UDP}, PayloadSize: 100}}}, bestHere)
	if len(udp) != 2 || udp[1].Load.Flows != 4 || udp[1].Load.PayloadSize != 100 {
		t.Errorf("UDP: %+v", udp)
	}
	if got := AtCalibrated(points, nil); len(got) != 4 {
		t.Errorf("without a calibration: %d points", len(got))
	}
}

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

func TestTwinOf(t *testing.T) {
	at := func(flows int) map[string]any { return map[string]any{"length": 2, "flows": flows} }
	for name, c := range map[string]api.Check{
		"one that compares flows":     {Kind: "ratio", Metric: metric, A: at(1), B: at(8)},
		"one that goes over flows":    {Kind: "rises", Metric: metric, Over: "flows"},
		"one that looks for the best": {Kind: "best_ratio", Metric: metric, A: at(1), B: map[string]any{"length": 3}},
		"one of a model":              {Kind: "model_error", Model: "hop"},
		"one that nothing tells":      {Kind: unavailable},
	} {
		if twin, can := twinOf(c); can {
			t.Errorf("%s has a twin: %+v", name, twin)
		}
	}
	c := api.Check{Kind: "ratio", Metric: metric, A: at(8), B: map[string]any{"length": 3, "flows": 8}}
	twin, can := twinOf(c)
	want := map[string]any{"length": 3, CalibratedFactor: true}
	if !can || !reflect.DeepEqual(twin.B, want) || c.B["flows"] != 8 {
		t.Errorf("%v, %+v of %+v", can, twin, c)
	}
}

// TestUntwinned: a twin that cannot be told for want of time is not told of.
func TestUntwinned(t *testing.T) {
	verdicts := func() []Verdict {
		return []Verdict{{ID: "a", Verdict: CannotBeTold}, {ID: "a" + twinSuffix, Verdict: CannotBeTold}, {ID: "b" + twinSuffix, Verdict: Holds}}
	}
	run := trial.Run{Dropped: []trial.Infeasible{{Factors: map[string]any{CalibratedFactor: true}}}}
	if got := Untwinned(verdicts(), run); len(got) != 2 || got[1].ID != "b"+twinSuffix {
		t.Errorf("%+v", got)
	}
	if got := Untwinned(verdicts(), trial.Run{}); len(got) != 3 {
		t.Errorf("nothing was dropped, and %+v", got)
	}
}
