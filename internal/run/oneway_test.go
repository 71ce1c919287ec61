package run_test

import (
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

const oneWay = `wiring: ebpf
symmetric: false
functions:
- {name: a, kind: forward}
- {name: quick, kind: passthrough}
- {name: both, kind: forward, symmetric: true}
- {name: count, kind: counter, runtime: inline}
`

// TestOneWayIsMeasured, proven, traced, explained and shown: what goes back goes past those that are one-way.
func TestOneWayIsMeasured(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress, feature.BPFTCX, feature.BPFTrace)
	b := newBed(t, oneWay)
	m, r := b.measurement(load(1, trial.TCP, trial.UDP), tool{sampled})
	if err := m.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	b.up(run.UpOptions{Wait: true})
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		t.Fatal(err)
	}
	wrong := *p
	wrong.Nodes = slices.Clone(p.Nodes)
	wrong.Nodes[1].OneWay = false
	if err := run.Proven(t.Context(), &wrong, trial.UDP, nil); err == nil || !strings.Contains(err.Error(), "does not pass a") {
		t.Errorf("answers are said to visit what they do not: %v", err)
	}
	wrong.Nodes[1].OneWay, wrong.Nodes[3].OneWay = true, true
	if err := run.Proven(t.Context(), &wrong, trial.UDP, nil); err == nil || !strings.Contains(err.Error(), "does not go past both") {
		t.Errorf("answers are said to go past what they visit: %v", err)
	}
	for range 6 {
		if err := run.Proven(t.Context(), p, trial.UDP, nil); err != nil {
			t.Fatal(err)
		}
	}
	state, err := run.Inspect(t.Context(), p)
	if err != nil || state.State != run.StateUp || !slices.Equal(state.Back, []string{"server", "both", "client"}) || !state.Nodes[1].OneWay || state.Nodes[3].OneWay || !state.Inline[0].OneWay || state.Inline[0].Reverse != nil {
		t.Fatalf("%+v, error %v", state, err)
	}
	hops := map[string]bool{}
	for _, h := range state.Hops {
		hops[h.From+" "+h.To] = h.Packets >= 6*8 // packets of the proofs; a node says little of its own
	}
	for hop, passed := range map[string]bool{"client a": true, "a quick": true, "quick both": true, "both server": true, "server both": true, "both client": true, "a client": false, "quick client": false} {
		if got, is := hops[hop]; !is || got != passed {
			t.Errorf("%s: %t, %t in %+v", hop, got, is, state.Hops)
		}
	}
	for _, c := range []struct{ from, to, way, past string }{
		{"client:5000", "server:9", "client a quick both server", ""},
		{"server:5000", "client:9", "server both client", "quick a"},
	} {
		e := b.explained("udp", c.from, c.to)
		var way []string
		for i, h := range e.Hops {
			if h.Kind == "wiring" {
				continue
			}
			way = append(way, h.Name)
			if i > 0 && h.In != e.Sent {
				t.Errorf("%s: %s got %d of %d", c.from, h.Name, h.In, e.Sent)
			}
		}
		var text strings.Builder
		if err := e.Text(&text); err != nil || strings.Join(way, " ") != c.way || strings.Join(e.Past, " ") != c.past || (c.past != "") != strings.Contains(text.String(), "go past quick, a, by which the chain is one-way\n") {
			t.Errorf("%s: way %v, past %v, error %v\n%s", c.from, way, e.Past, err, text.String())
		}
	}
	traced := b.traced(100)
	for again := 0; traced.Own.Received < 100 && again < 5; again++ { // another test may flood this machine
		traced = b.traced(100)
	}
	for _, h := range traced.Hops {
		if h.Kind != "endpoint" && h.Kind != "wiring" && (h.OwnIn.Packets != 100 || h.OwnOut.Packets != 100) {
			t.Errorf("%s: in %+v, out %+v", h.Name, h.OwnIn, h.OwnOut)
		}
	}
	c, err := run.Captured(p, "")
	if err != nil || !slices.Equal(c.Back, state.Back) {
		t.Errorf("a capture tells of %v, error %v", c.Back, err)
	}
}

// TestPathsInAnyOrderAreProven, and explained, by the order that each has.
func TestPathsInAnyOrderAreProven(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFTCX, feature.BPFTrace)
	b := newBed(t, `wiring: ebpf
functions: [{name: a, kind: forward}, {name: quick, kind: passthrough}, {name: b, kind: forward}]
classifier: {otherwise: chain, rules: [{name: out, match: {protocol: udp}, functions: [b, quick, a]}, {name: in, match: {protocol: icmp}, functions: [quick, b]}]}
`)
	b.up(run.UpOptions{Wait: true})
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		t.Fatal(err)
	}
	for protocol, path := range map[string]string{trial.UDP: "b quick a", trial.TCP: "a quick b"} {
		if err := run.Proven(t.Context(), p, protocol, p.Classifier.Path(path)); err != nil {
			t.Errorf("%s: %v", protocol, err)
		}
	}
	if err := run.Proven(t.Context(), p, trial.UDP, p.Classifier.Path("a quick b")); err == nil || !strings.Contains(err.Error(), "not visit the functions in order") {
		t.Errorf("packets are said to go in another order: %v", err)
	}
	for _, c := range []struct{ protocol, from, to, way string }{
		{"udp", "client:5000", "server:9", "client b quick a server"}, {"udp", "server:5001", "client:9", "server a quick b client"},
		{"tcp", "client:5000", "server:9", "client a quick b server"}, {"icmp", "server", "client", "server b quick client"},
	} {
		e := b.explained(c.protocol, c.from, c.to)
		var way []string
		for i, h := range e.Hops {
			if h.Kind == "wiring" {
				continue
			}
			way = append(way, h.Name)
			if i > 0 && h.In != e.Sent {
				t.Errorf("%s from %s: %s got %d of %d", c.protocol, c.from, h.Name, h.In, e.Sent)
			}
		}
		if strings.Join(way, " ") != c.way {
			t.Errorf("%s from %s: %v; %s", c.protocol, c.from, way, e.Path)
		}
	}
}

// TestOneWayPathIsProven, and explained, where another path by the same functions is not one-way.
func TestOneWayPathIsProven(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact, feature.BPFTrace)
	b := newBed(t, `wiring: ebpf
functions: [{name: a, kind: forward}, {name: b, kind: forward}]
classifier: {otherwise: chain, rules: [{name: out, match: {protocol: udp}, functions: [a, b], symmetric: false}]}
`)
	b.up(run.UpOptions{Wait: true})
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		t.Fatal(err)
	}
	for protocol, path := range map[string]string{trial.UDP: "a b, one way", trial.TCP: "a b"} {
		if err := run.Proven(t.Context(), p, protocol, p.Classifier.Path(path)); err != nil {
			t.Errorf("%s: %v", protocol, err)
		}
	}
	if err := run.Proven(t.Context(), p, trial.UDP, p.Classifier.Path("a b")); err == nil {
		t.Error("answers are said to visit what they do not")
	}
	for protocol, want := range map[string]string{"udp": "server client", "tcp": "server b a client"} {
		e := b.explained(protocol, "server:5000", "client:9")
		var way []string
		for _, h := range e.Hops {
			if h.Kind != "wiring" {
				way = append(way, h.Name)
			}
		}
		if strings.Join(way, " ") != want {
			t.Errorf("%s: %v; %s", protocol, way, e.Path)
		}
	}
	state, err := run.Inspect(t.Context(), p)
	if err != nil || state.Back != nil {
		t.Fatal(state.Back, err)
	}
	for _, r := range state.Classifier.Rules {
		if r.Rule == "out" && (r.Packets == 0 || !slices.Equal(r.Back, []string{"client", "server"})) || r.Rule == "otherwise" && r.Back != nil {
			t.Errorf("%+v", r)
		}
	}
}
