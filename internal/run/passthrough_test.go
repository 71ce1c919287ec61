package run_test

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	passes "nfchain.dev/nfchain/internal/resource/through"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trace"
	"nfchain.dev/nfchain/internal/traffic/proof"
	"nfchain.dev/nfchain/internal/trial"
)

// passing are wirings over which packets pass through p, q and r, beside a; xdp is the one over
// which they do in the driver.
var passing = map[string]string{"veth": "wiring: veth\n", "ebpf": "wiring: ebpf\n", "xdp": "wiring: veth\n"}

func newPassing(t *testing.T, wiring string) *bed {
	t.Helper()
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress, feature.BPFXDP)
	kind := "kind: passthrough"
	if wiring == "xdp" {
		kind += ", passthrough: {mode: xdp}"
	}
	return newBed(t, passing[wiring]+strings.ReplaceAll("functions: [{name: p, KIND}, {name: a, kind: forward}, {name: q, KIND}, {name: r, KIND}]\n", "KIND", kind))
}

// TestPassthroughIsMeasured and proven, the direct hop beside it.
func TestPassthroughIsMeasured(t *testing.T) {
	for wiring := range passing {
		t.Run(wiring, func(t *testing.T) {
			b := newPassing(t, wiring)
			m, r := b.measurement(load(1, trial.TCP, trial.UDP), tool{sampled})
			if err := m.Run(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			if s := r.Setups[0]; s.Nodes["passthrough"] != 3 || len(s.Unread) > 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestPassthroughIsToldOf by show, trace and explain: what came through each.
func TestPassthroughIsToldOf(t *testing.T) {
	nstest.Require(t, feature.BPFTrace)
	for wiring := range passing {
		t.Run(wiring, func(t *testing.T) {
			b := newPassing(t, wiring)
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
			for i, h := range r.Hops {
				switch {
				case h.Kind == "wiring":
				case i > 0 && h.OwnIn.Packets != 100, i < len(p.Nodes)-1 && h.OwnOut.Packets != 100:
					t.Errorf("%s: %d in, %d out", h.Name, h.OwnIn.Packets, h.OwnOut.Packets)
				case h.Kind == "passthrough" && !slices.ContainsFunc(h.Steps, func(s trace.StepCount) bool {
					return s.Function == h.Name && s.Direction == "forward" && s.Did == "passed on" && s.Packets >= 100
				}):
					t.Errorf("%s: %+v", h.Name, h.Steps)
				}
			}
			state, err := run.Inspect(t.Context(), p)
			if err != nil || state.State != run.StateUp {
				t.Fatalf("%+v, error %v", state, err)
			}
			for _, n := range state.Nodes {
				if n.Kind != "passthrough" {
					continue
				}
				if len(n.Through) != 2 || n.Through[0].Direction != "forward" || n.Through[0].Packets < 100 || n.Through[1].Direction != "reverse" {
					t.Errorf("%s: %+v", n.Name, n.Through)
				}
			}
			f, err := run.FlowOf(p, run.FlowWords{Protocol: "udp", From: "client", To: "server:7"})
			if err != nil {
				t.Fatal(err)
			}
			e, err := trace.Explain(t.Context(), run.Traced(p), f, trace.Options{Send: 3, Patience: 20 * time.Second})
			if err != nil || !strings.Contains(e.Verdict, "goes through the chain") && !strings.Contains(e.Verdict, "server does not take it") {
				t.Errorf("%+v, error %v", e, err)
			}
		})
	}
}

// TestPassthroughMissed: where one no longer passes packets on, the proof of path says which.
func TestPassthroughMissed(t *testing.T) {
	for _, wiring := range []string{"veth", "ebpf"} {
		t.Run(wiring, func(t *testing.T) {
			b := newPassing(t, wiring)
			b.up(run.UpOptions{Wait: true})
			p, err := b.host.Plan(b.chain, nil, planOptions)
			if err != nil {
				t.Fatal(err)
			}
			to := netip.AddrPortFrom(p.Reached().Addresses[0], 7009)
			path := proof.Path{ClientNetns: p.Client().Namespace, ServerNetns: p.Server().Namespace, To: to, At: to, Protocol: trial.UDP}
			for _, n := range p.Functions() {
				path.Functions = append(path.Functions, proof.Function{Name: n.Name, Netns: n.Namespace, West: n.West.Device, East: n.East.Device, Transparent: n.Transparent, Hands: n.Hook != ""})
			}
			if seen, err := proof.Check(t.Context(), path); err != nil || len(seen) != 4 {
				t.Fatalf("%+v, error %v", seen, err)
			}
			takeAway(t, p, p.Functions()[2])
			_, err = proof.Check(t.Context(), path)
			if err == nil || !strings.Contains(err.Error(), "packets to the server leave q and do not reach r") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestFramesAreCapturedBeside: no socket sees what passes in the driver, so that is not asked for.
func TestFramesAreCapturedBeside(t *testing.T) {
	for _, wiring := range []string{"veth", "xdp"} {
		p, err := newPassing(t, wiring).host.Plan(newPassing(t, wiring).chain, nil, planOptions)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range p.Functions() {
			c, err := run.Captured(p, n.Name)
			want := map[string]int{"": 4, "tc": 2}[n.Hook]
			if len(c.Points) != want || (err != nil) != (want == 0) {
				t.Errorf("%s: %d points, error %v", n.Name, len(c.Points), err)
			}
		}
		if _, err := run.Captured(p, ""); err != nil {
			t.Error(err)
		}
	}
}

// takeAway what passes packets through a node.
func takeAway(t *testing.T, p *plan.Plan, n plan.Node) {
	t.Helper()
	h, err := netns.Open(n.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := (passes.Kind{}).Apply(resource.At(h, p.Chain), []resource.Change{{Op: resource.Delete, Key: n.West.Device}}); err != nil {
		t.Fatal(err)
	}
}
