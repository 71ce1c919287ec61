package run_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trace"
	"nfchain.dev/nfchain/internal/trial"
)

func newInlined(t *testing.T) *bed {
	t.Helper()
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress)
	return newBed(t, `wiring: ebpf
functions:
- {name: count, kind: counter, runtime: inline}
- {name: a, kind: forward}
- {name: lose, kind: drop, direction: forward, runtime: inline, drop: {every: 4}}
- {name: mark, kind: dscp, direction: reverse, runtime: inline, dscp: {code: ef}}
`)
}

// TestInlineFunctionsAreMeasured, proven and told, the direct hop beside them.
func TestInlineFunctionsAreMeasured(t *testing.T) {
	b := newInlined(t)
	m, r := b.measurement(load(1, trial.TCP, trial.UDP), tool{sampled})
	if err := m.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	s := r.Setups[0]
	if s.Length != 6 || s.Nodes["inline counter"] != 1 || s.Nodes["inline drop"] != 1 || s.Nodes["endpoint"] != 2 || len(s.Unread) > 0 {
		t.Errorf("%+v", s)
	}
}

// TestInlineFunctionsAreTold of by show and trace: what each did, and that what one dropped did
// not come to the node behind.
func TestInlineFunctionsAreTold(t *testing.T) {
	nstest.Require(t, feature.BPFTrace)
	b := newInlined(t)
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
	if c := *r.Own; c.Dropped == 0 || c.Received+c.Dropped != 100 || c.Unexplained != 0 {
		t.Errorf("%+v", c)
	}
	server := r.Hops[slices.IndexFunc(r.Hops, func(h trace.Hop) bool { return h.Name == "server" })]
	if server.OwnIn.Packets != r.Own.Received {
		t.Errorf("%d came to the server, which received %d", server.OwnIn.Packets, r.Own.Received)
	}
	between := r.Hops[slices.IndexFunc(r.Hops, func(h trace.Hop) bool { return h.Name == trace.WiringHop })]
	did := map[string]uint64{}
	for _, s := range between.Steps {
		did[s.Function+" "+s.Did+" "+s.Direction] = s.Packets
	}
	if did["count counted forward"] < 100 || did["lose dropped forward"] < r.Own.Dropped {
		t.Errorf("%+v", between.Steps)
	}
	var text strings.Builder
	if err := r.Text(&text); err != nil || !strings.Contains(text.String(), "lose dropped ") {
		t.Errorf("%s, error %v", text.String(), err)
	}
	state, err := run.Inspect(t.Context(), p)
	if err != nil || state.State != run.StateUp || len(state.Inline) != 3 {
		t.Fatalf("%+v, error %v", state, err)
	}
	count, lose, mark := state.Inline[0], state.Inline[1], state.Inline[2]
	if count.Forward.Packets < 100 || count.Reverse == nil || count.State != run.StateUp || count.West != "client" || count.East != "a" {
		t.Errorf("%+v", count)
	}
	if lose.Forward.Packets < r.Own.Dropped || lose.Reverse != nil || mark.Forward != nil || mark.Reverse == nil || lose.West != "a" || mark.East != "server" {
		t.Errorf("%+v, %+v", lose, mark)
	}
	i := slices.IndexFunc(state.Hops, func(h run.HopState) bool { return h.From == "a" && h.To == "server" })
	if h := state.Hops[i]; h.Pass == nil || h.Pass.Came.Packets < 100 {
		t.Errorf("from a to the server: %+v", h)
	}
}

// TestInlineBesideReplicasIsTold once, with what came by all replicas; and proven, and captured at each of these.
func TestInlineBesideReplicasIsTold(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress, feature.BPFTrace)
	b := newBed(t, `wiring: ebpf
functions:
- {name: count, kind: counter, runtime: inline}
- {name: r, kind: forward, replicas: 3}
- {name: behind, kind: firewall, runtime: inline, firewall: {rules: {list: [{state: [invalid], action: drop}]}}}
`)
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
	if c := *r.Own; c.Received != 100 || c.Unexplained != 0 {
		t.Errorf("%+v", c)
	}
	state, err := run.Inspect(t.Context(), p)
	if err != nil || state.State != run.StateUp || len(state.Inline) != 2 {
		t.Fatalf("%+v, error %v", state, err)
	}
	count, behind := state.Inline[0], state.Inline[1]
	if count.Forward.Packets < 100 || count.Reverse == nil || count.West != "client" || count.East != "r" || behind.West != "r" || behind.Connections == nil || len(behind.Rules) != 1 {
		t.Errorf("%+v, %+v", count, behind)
	}
	var order []string
	for i, n := range state.Nodes {
		order = append(order, n.Name)
		for _, f := range state.InlineAfter(i) {
			order = append(order, f.Name)
		}
	}
	if want := []string{"client", "count", "r-1", "r-2", "r-3", "behind", "server"}; !slices.Equal(order, want) {
		t.Errorf("in the order %v", order)
	}
	came, beside := map[uint64]int{}, 0
	for _, h := range state.Hops {
		if strings.HasPrefix(h.From, "r-") && h.To == "server" {
			came[h.Pass.Came.Packets], beside = came[h.Pass.Came.Packets]+1, beside+len(h.Pass.Beside)
		}
	}
	if len(came) != 1 || beside != 3*2 {
		t.Errorf("from the replicas came %v, beside %d", came, beside)
	}
	c, err := run.Captured(p, "behind")
	if err != nil || len(c.Points) != 2*4 || !slices.Equal(c.Path, []string{"client", "count", "r", "behind", "server"}) {
		t.Errorf("%+v, error %v", c, err)
	}
}
