package run_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trace"
	"nfchain.dev/nfchain/internal/trial"
)

func newForwarded(t *testing.T) *bed {
	t.Helper()
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	return newBed(t, "wiring: ebpf\nfunctions: [{name: a, kind: forward}, {name: b, kind: forward}]\n")
}

// TestForwardedChainIsMeasured, proven and told as it is, the direct hop beside it.
func TestForwardedChainIsMeasured(t *testing.T) {
	b := newForwarded(t)
	m, r := b.measurement(load(1, trial.TCP, trial.UDP), tool{sampled})
	if err := m.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if s := r.Setups[0]; s.Wiring != "ebpf" || s.WiringSettings["hook"] == "" || len(s.Unread) > 0 {
		t.Errorf("%+v", s)
	}
}

// TestTraceOverAForwarder: the kernel tells of what comes to a node at a port of the forwarder,
// and that is counted at the node.
func TestTraceOverAForwarder(t *testing.T) {
	nstest.Require(t, feature.BPFTrace)
	b := newForwarded(t)
	p, _, err := b.edit(t.Context(), run.UpOptions{Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := b.host.Down(context.Background(), b.name()); err != nil {
			t.Error(err)
		}
	})
	r := b.traced(100)
	for again := 0; r.Own.Received < 100 && again < 5; again++ { // another test may flood this machine
		r = b.traced(100)
	}
	if c := *r.Own; c.Received != 100 || c.Unexplained != 0 {
		t.Errorf("%+v", c)
	}
	state, err := run.Inspect(t.Context(), p)
	if err != nil || state.State != run.StateUp || len(state.Hops) != 2*(len(p.Nodes)-1) {
		t.Fatalf("%+v, error %v", state, err)
	}
	for i := range p.Nodes[1:] {
		h := state.Hops[2*i]
		if h.From != p.Nodes[i].Name || h.To != p.Nodes[i+1].Name || h.Direct || h.Packets < 100 || h.Bytes < 100*(64+8+20+14) {
			t.Errorf("hop %d counted %+v", i, h)
		}
	}
	for i, h := range r.Hops {
		in, out := h.OwnIn.Packets, h.OwnOut.Packets
		switch {
		case h.Kind == "wiring":
		case i > 0 && (in != 100 || h.TimeIn == nil), i < len(p.Nodes)-1 && out != 100:
			t.Errorf("%s: %d in, %d out", h.Name, in, out)
		}
	}
}

// TestProfileTellsPortsFromNodes: what comes in at a port is the next node's.
func TestProfileTellsPortsFromNodes(t *testing.T) {
	b := newForwarded(t)
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		t.Fatal(err)
	}
	c := run.Profiled(p)
	var nodes []string
	for at, node := range c.Arrivals {
		if at.Namespace != p.Between() || !strings.HasPrefix(at.Device, "port") {
			t.Errorf("packets of %s come in at %+v", node, at)
		}
		if !slices.Contains(nodes, node) {
			nodes = append(nodes, node)
		}
	}
	if len(c.Arrivals) != 2*(len(p.Nodes)-1) || len(nodes) != len(p.Nodes) {
		t.Errorf("arrivals %v", c.Arrivals)
	}
}

// TestReplicasAreMeasured, proven and shown: packets of one flow pass one of them.
func TestReplicasAreMeasured(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	b := newBed(t, "wiring: ebpf\nfunctions: [{name: a, kind: forward, replicas: 2}, {name: b, kind: bridge, replicas: 2}]\n")
	m, r := b.measurement(load(1, trial.TCP, trial.UDP), tool{sampled})
	if err := m.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if s := r.Setups[0]; s.Length != 4 || len(s.Unread) > 0 {
		t.Errorf("%+v", s)
	}
	p, _, err := b.edit(t.Context(), run.UpOptions{Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := b.host.Down(context.Background(), b.name()); err != nil {
			t.Error(err)
		}
	})
	state, err := run.Inspect(t.Context(), p)
	if err != nil || state.State != run.StateUp || len(state.Nodes) != 6 || len(state.Shared) != 2 {
		t.Fatalf("%+v, error %v", state, err)
	}
	for i, function := range []string{"a", "b"} {
		if s := state.Shared[i]; s.Function != function || len(s.Replicas) != 2 || s.Replicas[0].Node != function+"-1" || s.Replicas[1].Node != function+"-2" || s.Moved+s.Unkept > 0 {
			t.Errorf("%+v", s)
		}
	}
}

// TestReplicasAreTraced: which of them has a flow is told by what comes to it, and goes on from there.
func TestReplicasAreTraced(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFTCX, feature.BPFTrace)
	b := newBed(t, "wiring: ebpf\nfunctions: [{name: a, kind: forward, replicas: 3, onFailure: replica}, {name: b, kind: bridge, onFailure: bypass}]\n")
	p, _, err := b.edit(t.Context(), run.UpOptions{Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := b.host.Down(context.Background(), b.name()); err != nil {
			t.Error(err)
		}
	})
	r := b.traced(100)
	for again := 0; r.Own.Received < 100 && again < 5; again++ { // another test may flood this machine
		r = b.traced(100)
	}
	if c := *r.Own; c.Received != 100 || c.Unexplained != 0 {
		t.Errorf("%+v", c)
	}
	has := 0
	for i, h := range r.Hops {
		in, out := h.OwnIn.Packets, h.OwnOut.Packets
		switch {
		case h.Of == "a" && in == 0 && out == 0:
		case h.Of == "a" && in == 100 && out == 100 && h.TimeIn != nil:
			has++
		case h.Kind == "wiring":
		case i > 0 && (in != 100 || h.TimeIn == nil), i < len(p.Nodes)-1 && out != 100:
			t.Errorf("%s: %d in, %d out", h.Name, in, out)
		}
	}
	if has != 1 {
		t.Errorf("%d replicas had the flow", has)
	}
	for _, ends := range [][2]string{{"client:5000", "server:53"}, {"server:5000", "client:53"}} {
		flow, err := run.FlowOf(p, run.FlowWords{Protocol: "udp", From: ends[0], To: ends[1]})
		if err != nil {
			t.Fatal(err)
		}
		e, err := trace.Explain(t.Context(), run.Traced(p), flow, trace.Options{Send: 3, Patience: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := e.Text(&text); err != nil || len(e.Hops) != 5 || !strings.Contains(text.String(), "has this flow, of 3 replicas of a\n") {
			t.Errorf("%s, error %v", text.String(), err)
		}
	}
}
