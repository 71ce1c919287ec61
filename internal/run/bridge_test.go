package run_test

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/profile"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trace"
	"nfchain.dev/nfchain/internal/trial"
)

func newBridged(t *testing.T, options string) *bed {
	t.Helper()
	nstest.Require(t, feature.Bridge)
	return newBed(t, "wiring: bridge\nbridge: {"+options+"}\nfunctions: [{name: a, kind: forward}, {name: b, kind: forward}]\n")
}

// TestBridgedChainIsMeasured, proven and told as it is, the direct hop beside it.
func TestBridgedChainIsMeasured(t *testing.T) {
	for _, options := range []string{"", "per: chain", "per: ends", "per: chain, arms: 1", "per: chain, forwarding: learning"} {
		t.Run(options, func(t *testing.T) {
			b := newBridged(t, options)
			m, r := b.measurement(load(1, trial.TCP, trial.UDP), tool{sampled})
			if err := m.Run(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			s := r.Setups[0]
			if s.Wiring != "bridge" || s.WiringSettings["stp"] != "off" || s.WiringSettings["per"] == "" || len(s.Unread) > 0 {
				t.Errorf("%+v", s)
			}
			bridges := 0
			for _, i := range s.Interfaces {
				if i.Type == "bridge" {
					bridges += len(i.Interfaces)
					if !strings.HasPrefix(i.Interfaces[0], "wiring:") {
						t.Errorf("bridges are at %v", i.Interfaces)
					}
				}
			}
			if want := map[bool]int{true: 4, false: 1}[options == ""]; bridges != want {
				t.Errorf("%d bridges are told of, want %d: %+v", bridges, want, s.Interfaces)
			}
		})
	}
}

// TestTraceOfABridgeThatDrops: what ends between nodes has its cause and its place.
func TestTraceOfABridgeThatDrops(t *testing.T) {
	nstest.Require(t, feature.BPFTrace)
	b := newBridged(t, "per: chain")
	p, _, err := b.edit(t.Context(), run.UpOptions{Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := b.host.Down(context.Background(), b.name()); err != nil {
			t.Error(err)
		}
	})
	if c := *b.traced(100).Own; c.Received != 100 || c.Unexplained != 0 {
		t.Errorf("a whole bridge: %+v", c)
	}
	state, err := run.Inspect(t.Context(), p)
	if err != nil || state.State != run.StateUp {
		t.Errorf("%+v, error %v", state, err)
	}
	line := "set -e; bridge -n " + p.Between() + " fdb show | grep " + p.Functions()[1].West.MAC + " | while read mac dev port rest; do bridge -n " + p.Between() + " fdb delete $mac dev $port master; done"
	if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := b.traced(100)
	var text strings.Builder
	if err := r.Text(&text); err != nil {
		t.Fatal(err)
	}
	wiring := r.Hops[len(r.Hops)-1]
	if c := *r.Own; c.Sent != 100 || c.Received != 0 || c.Dropped != 100 || c.Unexplained != 0 || wiring.Kind != "wiring" ||
		!slices.ContainsFunc(wiring.Drops, func(d trace.Drop) bool { return d.Own.Packets == 100 }) {
		t.Errorf("%+v, %+v\n%s", c, wiring, text.String())
	}
	state, err = run.Inspect(t.Context(), p)
	if err != nil || state.State != run.StateChanged || len(state.Differs) != 1 || !strings.HasPrefix(state.Differs[0], "bridgeport:") {
		t.Errorf("%+v, error %v", state.Drift, err)
	}
}

// TestProfileHasAPlaceForTheWiring.
func TestProfileHasAPlaceForTheWiring(t *testing.T) {
	b := newBridged(t, "")
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		t.Fatal(err)
	}
	own := profile.Node{Name: "(wiring)", Kind: "wiring", Namespace: p.Between()}
	if nodes := run.Profiled(p).Nodes; own.Namespace == "" || !slices.Contains(nodes, own) || len(nodes) != 5 {
		t.Error(nodes)
	}
}
