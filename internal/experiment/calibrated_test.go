package experiment

import (
	"slices"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// bestHere is what a calibration found, as it comes back from where it is stored.
var bestHere = map[string]any{
	"flows": 4.0, "payload_size": 65536.0, "zerocopy": true, "mtu": 9000.0,
	"chain.tuning.gso_ipv4_max_size": "256KiB", "chain.tuning.gro_ipv4_max_size": "64KiB",
}

func TestAtCalibrated(t *testing.T) {
	spec := api.ExperimentSpec{
		Chain: api.ChainSpec{MTU: 1500},
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
		l, c := p.Load, p.Chain
		if l.Flows != 4 || l.PayloadSize != 65536 || !l.Zerocopy || p.Factors["flows"] != 4 || !isCalibrated(p.Factors) {
			t.Errorf("%+v", p)
		}
		if c.MTU != 9000 || c.Tuning.GSOIPv4MaxSize != 256<<10 || c.Tuning.GROIPv4MaxSize != 0 {
			t.Errorf("the kernel's own is set, or another is not: %d, %+v", c.MTU, c.Tuning)
		}
	}
	for _, p := range points {
		if p.Load.Flows == 4 || p.Chain.MTU != 1500 || p.Chain.Tuning.GSOIPv4MaxSize != 0 || isCalibrated(p.Factors) {
			t.Errorf("a point of the source was changed: %+v", p)
		}
	}
	if got := AtCalibrated(points, nil); len(got) != 4 {
		t.Errorf("without a calibration: %d points", len(got))
	}
}

// TestWhatACalibrationSets follows from what a point measures.
func TestWhatACalibrationSets(t *testing.T) {
	for name, c := range map[string]struct {
		load                  api.Load
		flows                 int
		size                  api.Size
		zerocopy, unlikeChain bool
	}{
		"TCP":              {api.Load{Protocols: []string{trial.TCP}, Flows: 1, PayloadSize: 100}, 4, 65536, true, true},
		"a rate":           {api.Load{Protocols: []string{trial.TCP}, Flows: 1, Rate: api.LoadRate{Bits: 1}}, 4, 65536, true, true},
		"datagrams":        {api.Load{Protocols: []string{trial.UDP}, Flows: 1, PayloadSize: 100}, 4, 100, false, true},
		"both":             {api.Load{Protocols: []string{trial.TCP, trial.UDP}, Flows: 1, PayloadSize: 100}, 4, 100, false, true},
		"a search":         {api.Load{Protocols: []string{trial.UDP}, Flows: 1, Frames: api.Frames{FrameSize: 64}, Search: &api.Search{}}, 4, 0, false, true},
		"transactions":     {api.Load{Protocols: []string{trial.TCPRR}, Flows: 1}, 4, 0, false, true},
		"latency":          {api.Load{Protocols: []string{trial.Latency}, Flows: 1, PayloadSize: 56}, 1, 56, false, true},
		"latency and more": {api.Load{Protocols: []string{trial.TCP, trial.Latency}, Flows: 1}, 4, 65536, true, true},
	} {
		got := AtCalibrated([]Point{{Factors: map[string]any{}, Load: c.load}}, bestHere)
		if len(got) != 2 {
			t.Errorf("%s: %d points", name, len(got))
			continue
		}
		l := got[1].Load
		if l.Flows != c.flows || l.PayloadSize != c.size || l.Zerocopy != c.zerocopy || (got[1].Chain.MTU == 9000) != c.unlikeChain {
			t.Errorf("%s: %+v", name, got[1])
		}
	}
}

// TestWhatAnExperimentVariesItselfStays at each of its points, for what they measure.
func TestWhatAnExperimentVariesItselfStays(t *testing.T) {
	at := func(protocol string, mtu int, zerocopy bool, factors map[string]any) Point {
		return Point{Factors: factors, Chain: api.ChainSpec{MTU: mtu}, Load: api.Load{Protocols: []string{protocol}, Zerocopy: zerocopy, Flows: 1}}
	}
	points := []Point{
		at(trial.TCP, 1500, false, map[string]any{}), at(trial.TCP, 1500, true, map[string]any{"load.zerocopy": true}),
		at(trial.UDP, 1500, false, map[string]any{"mtu": 1500}), at(trial.UDP, 65535, false, map[string]any{"mtu": 65535}),
	}
	var got []string
	for _, p := range AtCalibrated(points, bestHere)[4:] {
		got = append(got, Describe(map[string]any{"mtu": p.Chain.MTU, "zerocopy": p.Load.Zerocopy}))
	}
	want := []string{"mtu=9000 zerocopy=false", "mtu=9000 zerocopy=true", "mtu=1500 zerocopy=false", "mtu=65535 zerocopy=false"}
	if len(got) != 4 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] || got[3] != want[3] {
		t.Errorf("%q, not %q", got, want)
	}
}

// TestCalibratedPointsAreNone where they come to what there is, or nothing can be measured.
func TestCalibratedPointsAreNone(t *testing.T) {
	load := api.Load{Protocols: []string{trial.TCP}, Flows: 4, PayloadSize: 65536}
	best := map[string]any{"flows": 4, "payload_size": "64KiB", "zerocopy": false, "mtu": 1500, "chain.tuning.gso_ipv4_max_size": "64KiB"}
	for name, p := range map[string]Point{
		"the calibrated load itself":          {Factors: map[string]any{}, Load: load, Chain: api.ChainSpec{MTU: 1500}},
		"what cannot be measured":             {Factors: map[string]any{}, Infeasible: "for a reason"},
		"other settings of the host's own":    {Factors: map[string]any{}, Load: load, Chain: api.ChainSpec{Wiring: "host"}},
		"other settings of a pod's":           {Factors: map[string]any{}, Load: load, Chain: api.ChainSpec{Wiring: "pod"}},
		"other settings that are varied here": {Factors: map[string]any{"mtu": 9000}, Load: load, Chain: api.ChainSpec{MTU: 9000}},
	} {
		if got := AtCalibrated([]Point{p}, best); len(got) != 1 {
			t.Errorf("%s has a point at the calibrated load: %+v", name, got[1:])
		}
	}
}

// TestTuningIsNotShared: points share what their settings point at, and one at the
// calibrated load changes none of it.
func TestTuningIsNotShared(t *testing.T) {
	gro := false
	p := Point{Factors: map[string]any{}, Chain: api.ChainSpec{Tuning: api.Tuning{GRO: &gro}}, Load: api.Load{Protocols: []string{trial.TCP}}}
	twin := AtCalibrated([]Point{p}, map[string]any{"flows": 1, "chain.tuning.gro": true})[1]
	if gro || !*twin.Chain.Tuning.GRO {
		t.Errorf("%t, and %+v", gro, twin.Chain.Tuning)
	}
}

// TestCalibratedLost: what the source's own cannot have either says nothing of settings.
func TestCalibratedLost(t *testing.T) {
	at := func(reason string, calibrated bool) trial.Infeasible {
		return trial.Infeasible{Factors: map[string]any{CalibratedFactor: calibrated}, Reason: reason}
	}
	all, lost := CalibratedLost([]trial.Infeasible{at("no memory node", false), at("no memory node", true), at("too long", true)})
	if len(all) != 2 || len(lost) != 1 || all[0].Reason != "no memory node" || lost[0].Reason != "too long" {
		t.Errorf("%v, of which lost %v", all, lost)
	}
}

func TestFewerSettings(t *testing.T) {
	var got []string
	for _, fewer := range FewerSettings(map[string]any{"flows": 4, "mtu": 9000, "chain.tuning.gso_ipv4_max_size": "128KiB"}) {
		got = append(got, Describe(fewer))
	}
	want := []string{"flows=4 mtu=9000", "chain.tuning.gso_ipv4_max_size=128KiB flows=4", "flows=4"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
	if got := FewerSettings(map[string]any{"flows": 4}); len(got) != 0 {
		t.Errorf("of a load alone: %v", got)
	}
}

// TestCalibratedPointsAreWhole: one that is at the calibrated load already is measured with
// the others of its kind, so that they can be compared with it.
func TestCalibratedPointsAreWhole(t *testing.T) {
	at := func(protocol, wiring string) Point {
		return Point{Factors: map[string]any{"wiring": wiring, "protocol": protocol}, Chain: api.ChainSpec{Wiring: wiring, MTU: 1500}, Load: api.Load{Protocols: []string{protocol}, Flows: 1}}
	}
	points := []Point{at(trial.TCPRR, "host"), at(trial.TCPRR, "veth"), at(trial.UDPRR, "host")}
	got := AtCalibrated(points, map[string]any{"flows": 1, "mtu": 9000})[len(points):]
	if len(got) != 2 || got[0].Chain.MTU != 1500 || got[1].Chain.MTU != 9000 || got[1].Factors["protocol"] != trial.TCPRR {
		t.Errorf("%+v", got)
	}
}
