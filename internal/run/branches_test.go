package run_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/steer"
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
	p, _, err := b.edit(t.Context(), run.UpOptions{Wait: true})
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

// TestPacketsThatEndAreToldApart from those that were sent to a node.
func TestPacketsThatEndAreToldApart(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress, feature.Bridge, feature.NFTables, feature.ToolNFT)
	b := newBed(t, parting)
	b.up(run.UpOptions{Wait: true})
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		t.Fatal(err)
	}
	h, err := netns.Open(p.Between())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, r := range p.Resources {
		s, is := r.Spec.(steer.Spec)
		if !is || s.Branch == nil || s.Branch.Node != "tell" {
			continue
		}
		port, err := steer.OpenPort(resource.At(h, p.Chain), s.Device)
		if err != nil {
			t.Fatal(err)
		}
		defer port.Close()
		one := slices.IndexFunc(s.Branch.Ways, func(w steer.BranchWay) bool { return w.Node == "one" })
		if err := port.SetNodes(map[uint32]steer.Node{s.Branch.Ways[one].Number: {Fails: steer.Ends}}); err != nil {
			t.Fatal(err)
		}
	}
	hop := func(to string) run.HopState {
		t.Helper()
		state, err := run.Inspect(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return state.Hops[slices.IndexFunc(state.Hops, func(h run.HopState) bool { return h.From == "tell" && h.To == to })]
	}
	// What goes the planned way is what is left of all, which is read later than what goes elsewhere: so nothing is sent meanwhile.
	goes := func(what string, many uint64) {
		t.Helper()
		defer b.trickle(p)()
		begun := hop("one").Ended
		b.until(what, func() bool { return hop("one").Ended > begun+many })
	}
	goes("packets end", 0)
	before, plain := hop("one"), hop("plain")
	goes("more packets end", 20)
	if now, other := hop("one"), hop("plain"); now.Packets != before.Packets || now.Bytes != before.Bytes || other.Ended != 0 || other.Packets > plain.Packets+10 {
		t.Errorf("%+v, then %+v; another way %+v, then %+v", before, now, plain, other)
	}
}

// TestPacketsThatEndWhereNoWaysPart are told apart as well, and those that go back are none of them.
func TestPacketsThatEndWhereNoWaysPart(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress)
	b := newBed(t, "wiring: ebpf\nfunctions: [{name: one, kind: forward}]\n")
	b.up(run.UpOptions{Wait: true})
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		t.Fatal(err)
	}
	h, err := netns.Open(p.Between())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	hop := func(from, to string) run.HopState {
		t.Helper()
		state, err := run.Inspect(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return state.Hops[slices.IndexFunc(state.Hops, func(h run.HopState) bool { return h.From == from && h.To == to && !h.Direct })]
	}
	defer b.trickle(p)()
	b.until("packets are sent", func() bool { return hop("client", "one").Packets > 0 })
	for _, r := range p.Resources {
		s, is := r.Spec.(steer.Spec)
		if ends, err := link.Behind(h, p.Chain); !is || err != nil || ends[s.Device].Node != "client" || ends[s.To].Node != "one" {
			continue
		}
		port, err := steer.OpenPort(resource.At(h, p.Chain), s.Device)
		if err != nil {
			t.Fatal(err)
		}
		defer port.Close()
		if err := port.SetInstead(steer.Nowhere); err != nil {
			t.Fatal(err)
		}
	}
	b.until("packets end", func() bool { return hop("client", "one").Ended > 0 })
	before := hop("client", "one")
	b.until("more packets end", func() bool { return hop("client", "one").Ended > before.Ended+20 })
	if now, back := hop("client", "one"), hop("one", "client"); now.Packets != before.Packets || now.Bytes != before.Bytes || back.Ended != 0 {
		t.Errorf("%+v, then %+v; back %+v", before, now, back)
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
	f, err := run.FlowOf(p, run.FlowWords{Protocol: protocol, From: from, To: to})
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

// TestBranchesAmongReplicas are proven and shown by the functions, and a flow is explained by the replicas that have it, and by the
// functions on other ways.
func TestBranchesAmongReplicas(t *testing.T) {
	nstest.Require(t, feature.BPFTrace, feature.BPFPeer, feature.BPFIngress, feature.Bridge, feature.NFTables, feature.ToolNFT)
	b := newBed(t, strings.NewReplacer("kind: command", "kind: command\n  replicas: 2", "name: one, kind: bridge", "name: one, kind: bridge, replicas: 3", "name: out, kind: forward", "name: out, kind: forward, replicas: 2").Replace(parting))
	b.up(run.UpOptions{Wait: true})
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		t.Fatal(err)
	}
	for _, protocol := range []string{trial.TCP, trial.UDP} {
		if err := run.Proven(t.Context(), p, protocol, nil); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct{ protocol, from, to, way, aside string }{
		{"udp", "client", "server:9", "client tell/2 one/3 two out/2 server", "plain"},
		{"tcp", "client", "server:9", "client tell/2 plain out/2 server", "one two"},
		{"icmp", "server", "client", "server out/2 plain tell/2 client", "two one"},
	} {
		e := b.explained(c.protocol, c.from, c.to)
		var way []string
		for i, h := range e.Hops {
			switch {
			case h.Kind == "wiring":
				continue
			case h.Of != "" && h.Name == h.Of:
				t.Errorf("%s: no replica of %s has the flow", c.protocol, h.Of)
			case h.Of != "":
				way = append(way, fmt.Sprintf("%s/%d", h.Of, h.Replicas))
			default:
				way = append(way, h.Name)
			}
			if i > 0 && h.In != e.Sent {
				t.Errorf("%s: %s got %d of %d", c.protocol, h.Name, h.In, e.Sent)
			}
		}
		if strings.Join(way, " ") != c.way || strings.Join(e.Aside, " ") != c.aside {
			t.Errorf("%s: way %v, aside %v; %s", c.protocol, way, e.Aside, e.Verdict)
		}
	}
	state, err := run.Inspect(t.Context(), p)
	if err != nil || state.State != run.StateUp || state.Branches == nil || state.Branches.New == 0 || len(state.Shared) != 3 {
		t.Fatalf("%+v, error %v", state, err)
	}
	came := map[string]uint64{}
	for _, h := range state.Hops {
		came[h.From+" "+h.To] += h.Packets
		if marks := map[bool]string{true: "mark 0x7"}[strings.HasPrefix(h.From, "tell-") && h.To == "one"]; h.Marks != marks || h.To == "" {
			t.Errorf("%+v", h)
		}
	}
	const least = 8 // packets of a proof, each way
	for _, hop := range []struct{ froms, to string }{{"client", "tell"}, {"tell-1 tell-2", "plain"}, {"tell-1 tell-2", "one"}, {"one-1 one-2 one-3", "two"}, {"two", "out"}, {"out-1 out-2", "server"}, {"out-1 out-2", "two"}, {"out-1 out-2", "plain"}, {"two", "one"}, {"server", "out"}} {
		n := uint64(0)
		for _, from := range strings.Fields(hop.froms) {
			n += came[from+" "+hop.to]
		}
		if n < least {
			t.Errorf("%d packets from %s to %s: %v", n, hop.froms, hop.to, came)
		}
	}
}
