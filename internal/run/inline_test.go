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
	p, _, err := b.host.Up(t.Context(), b.chain, run.UpOptions{Wait: true})
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
