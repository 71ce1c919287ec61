package run_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trace"
	"nfchain.dev/nfchain/internal/trial"
)

const parting = `wiring: ebpf
functions:
- name: tell
  kind: command
  command:
    args: [sh, -c, "nft add table inet tell '{ chain c { type filter hook forward priority mangle; meta l4proto udp meta mark set 7; }; }' && exec sleep infinity"]
    ready: {command: [nft, list, table, inet, tell]}
  branches: [{mark: 7, to: one}]
- {name: plain, kind: forward, next: out}
- {name: one, kind: bridge}
- {name: two, kind: forward}
- {name: out, kind: forward}
`

// TestBranchesAreMeasured, proven and shown, whichever way the load goes.
func TestBranchesAreMeasured(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress, feature.Bridge, feature.NFTables, feature.ToolNFT)
	b := newBed(t, parting)
	m, r := b.measurement(load(1, trial.TCP, trial.UDP), tool{sampled})
	if err := m.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	p, _, err := b.host.Up(t.Context(), b.chain, run.UpOptions{Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := b.host.Down(context.Background(), b.name()); err != nil {
			t.Error(err)
		}
	})
	for _, protocol := range []string{trial.TCP, trial.UDP} {
		if err := run.Proven(t.Context(), p, protocol, nil); err != nil {
			t.Error(err)
		}
	}
	state, err := run.Inspect(t.Context(), p)
	if err != nil || state.State != run.StateUp || state.Branches == nil || state.Branches.New == 0 || state.Branches.Flows == 0 {
		t.Fatalf("%+v, error %v", state, err)
	}
	const least = 8 // packets of a proof, each way
	wanted := map[string]string{"tell plain": "", "tell one": "mark 0x7", "plain out": "", "two out": "", "out plain": "", "out two": ""}
	for _, h := range state.Hops {
		hop := h.From + " " + h.To
		marks, is := wanted[hop]
		if !is {
			continue
		}
		delete(wanted, hop)
		if h.Packets < least || h.Marks != marks || h.From == "out" != (h.Flows > 0) {
			t.Errorf("%+v", h)
		}
	}
	if len(wanted) > 0 {
		t.Errorf("no hops %v in %+v", wanted, state.Hops)
	}
}

// TestBranchesAreTraced: packets are seen at the functions of the way that they go, both ways, and at no others.
func TestBranchesAreTraced(t *testing.T) {
	nstest.Require(t, feature.BPFTrace, feature.BPFPeer, feature.BPFIngress, feature.Bridge, feature.NFTables, feature.ToolNFT)
	b := newBed(t, parting)
	b.up(run.UpOptions{Wait: true})
	r := b.traced(100)
	for again := 0; r.Own.Received < 100 && again < 5; again++ { // another test may flood this machine
		r = b.traced(100)
	}
	if c := *r.Own; c.Received != 100 || c.Unexplained != 0 {
		t.Errorf("%+v", c)
	}
	marked := map[string]uint64{"tell": 100, "plain": 0, "one": 100, "two": 100, "out": 100}
	for _, h := range r.Hops {
		if want, is := marked[h.Name]; is && (h.OwnIn.Packets != want || h.OwnOut.Packets != want) || h.Aside != (want == 0 && is || h.Name == "one" || h.Name == "two") {
			t.Errorf("%s: in %+v, out %+v, aside %t", h.Name, h.OwnIn, h.OwnOut, h.Aside)
		}
	}
	for _, c := range []struct{ protocol, from, to, way, aside string }{
		{"udp", "client", "server:9", "client tell one two out server", "plain"},
		{"tcp", "client", "server:9", "client tell plain out server", "one two"},
		{"icmp", "server", "client", "server out plain tell client", "two one"}, // the answer to nothing goes by plan
	} {
		e := b.explained(c.protocol, c.from, c.to)
		var way []string
		for i, h := range e.Hops {
			if h.Kind != "wiring" {
				way = append(way, h.Name)
			}
			if i > 0 && h.Kind != "wiring" && h.In != e.Sent {
				t.Errorf("%s: %s got %d of %d", c.protocol, h.Name, h.In, e.Sent)
			}
		}
		if strings.Join(way, " ") != c.way || strings.Join(e.Aside, " ") != c.aside {
			t.Errorf("%s: way %v, aside %v; %s", c.protocol, way, e.Aside, e.Verdict)
		}
	}
}

// explained is a flow of the chain that is up, of which all packets are seen; another test may flood this machine.
func (b *bed) explained(protocol, from, to string) (e trace.Explanation) {
	b.Helper()
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		b.Fatal(err)
	}
	f, err := run.FlowOf(p, protocol, from, to)
	if err != nil {
		b.Fatal(err)
	}
	c, err := run.Explained(p, f)
	if err != nil {
		b.Fatal(err)
	}
	for range 5 {
		if e, err = trace.Explain(b.Context(), c, f, trace.Options{Send: 3, Patience: 5 * time.Second}); err != nil {
			b.Fatal(err)
		}
		if seen := e.Hops[len(e.Hops)-1]; seen.In == e.Sent || seen.Kind == "wiring" && e.Hops[len(e.Hops)-2].In == e.Sent {
			break
		}
	}
	return e
}
