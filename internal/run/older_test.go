package run_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/capture"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trace"
)

// older is the wiring of chains that flows stay on an older path of.
const older = "wiring: ebpf\nebpf: {idle: 8s, census: 3s}\n" // a busy machine may keep a flow silent for longer than usual

// edited is the chain with other functions.
func (b *bed) edited(spec string) *plan.Plan {
	b.Helper()
	b.chain = plantest.Chain(b, b.name(), spec)
	p, _, err := b.edit(b.Context(), run.UpOptions{})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// wayOf a flow are the names of what it passed, replicas by their function's; what did not get all of its packets is marked so.
func wayOf(e trace.Explanation) string {
	var way []string
	for i, h := range e.Hops {
		name := h.Name
		switch {
		case h.Kind == "wiring":
			continue
		case h.Of != "":
			name = h.Of
		}
		if i > 0 && h.In != e.Sent {
			name += fmt.Sprintf("(%d of %d)", h.In, e.Sent)
		}
		way = append(way, name)
	}
	return strings.Join(way, " ")
}

// newFlows are explained until one goes a way: while flows from before are being found, each is taken for one of them.
func (b *bed) newFlows(way string) {
	b.Helper()
	port, e := 6000, trace.Explanation{}
	b.until("a new flow goes "+way, func() bool {
		port++
		e = b.explained("udp", fmt.Sprintf("client:%d", port), "server:5000")
		return wayOf(e) == way
	})
	if strings.Contains(e.Path, "from before") {
		b.Errorf("a new flow is on an older path: %s", e.Path)
	}
}

// TestFlowOnAnOlderPathIsExplained by the functions that it meets, in their order, both ways; a new one by those of the newest.
func TestFlowOnAnOlderPathIsExplained(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact, feature.BPFTrace)
	functions := func(names string) string {
		var all []string
		for _, name := range strings.Fields(names) {
			all = append(all, "{name: "+name+", kind: forward}")
		}
		return older + "functions: [" + strings.Join(all, ", ") + "]\n"
	}
	rule := func(path string) string {
		return functions("a b c") + "classifier: {otherwise: chain, rules: [{name: r, match: {protocol: udp}, functions: [" + path + "]}]}\n"
	}
	handed := strings.ReplaceAll(functions("a b c"), "{name: b, kind: forward}", "{name: b, kind: passthrough}")
	const gone, there = "from before the chain was changed", "which the flow is on by rules before"
	for _, c := range []struct{ name, from, to, stays, why, goes, leaving string }{
		{"taken out", functions("a b c"), functions("a c"), "a b c", gone, "a c", "b"},
		{"a pass-through taken out", handed, functions("a c"), "a b c", gone, "a c", "b"},
		{"put in", functions("a c"), functions("a b c"), "a c", gone, "a b c", ""},
		{"another order", functions("a b"), functions("b a"), "a b", gone, "b a", ""},
		{"another rule", rule("a, b"), rule("c, a"), "a b", gone, "c a", ""},
		{"another rule, and its path is there", rule("a, b, c"), rule("c, a"), "a b c", there, "c a", ""},
		{"taken out of rules", rule("a, b"), functions("a c") + "classifier: {otherwise: chain, rules: [{name: r, match: {protocol: udp}, functions: [c]}]}\n", "a b", gone, "c", "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t, c.from)
			b.up(run.UpOptions{Wait: true})
			p := b.planned()
			for i, to := range p.Server().West.Addresses {
				defer echoes(t, p, netip.AddrPortFrom(p.Client().East.Addresses[i], 4000).String(), netip.AddrPortFrom(to, 5000))()
			}
			if e := b.explained("udp", "client:4000", "server:5000"); wayOf(e) != "client "+c.stays+" server" || strings.Contains(e.Path, "from before") {
				t.Errorf("first it goes %s; %s", wayOf(e), e.Path)
			}
			p = b.edited(c.to)
			back := strings.Fields(c.stays)
			slices.Reverse(back)
			client, server := netip.AddrPortFrom(p.Client().East.Addresses[1], 4000).String(), netip.AddrPortFrom(p.Server().West.Addresses[1], 5000).String()
			for _, way := range [][]string{
				{"client:4000", "server:5000", "client " + c.stays + " server"}, {"server:5000", "client:4000", "server " + strings.Join(back, " ") + " client"},
				{client, server, "client " + c.stays + " server"}, {server, client, "server " + strings.Join(back, " ") + " client"},
			} {
				e := b.explained("udp", way[0], way[1])
				if wayOf(e) != way[2] || !strings.HasPrefix(e.Path, "path: "+strings.ReplaceAll(c.stays, " ", " → ")+", "+c.why) {
					t.Errorf("it goes %s, want %s; %s: %s %v", wayOf(e), way[2], e.Path, e.Verdict, e.Reasons)
				}
				if len(e.Aside) > 0 {
					t.Errorf("%v are said to be on other ways", e.Aside)
				}
				for i, h := range e.Hops {
					if h.Kind != "wiring" && i > 0 && i < len(strings.Fields(way[2]))-1 && h.Out != e.Sent {
						t.Errorf("%s gave on %d of %d", h.Name, h.Out, e.Sent)
					}
					if is := h.Kind == "leaving"; is != (h.Name == c.leaving) {
						t.Errorf("%s is a %s", h.Name, h.Kind)
					}
				}
			}
			b.newFlows("client " + c.goes + " server")
		})
	}
}

// TestFlowOnAnOlderWayIsExplained where functions have branches, and rules have other flows go elsewhere.
func TestFlowOnAnOlderWayIsExplained(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact, feature.BPFIngress, feature.BPFTrace, feature.Bridge, feature.NFTables, feature.ToolNFT)
	const rules = "classifier: {otherwise: chain, rules: [{name: r, match: {protocol: tcp}, functions: [out]}]}\n"
	before := strings.Replace(parting, "wiring: ebpf\n", older, 1) + rules
	b := newBed(t, strings.Replace(before, "- {name: two, kind: forward}\n", "", 1))
	b.up(run.UpOptions{Wait: true})
	p := b.planned()
	defer echoes(t, p, ":4000", netip.AddrPortFrom(p.Server().West.Addresses[0], 5000))()
	if e := b.explained("udp", "client:4000", "server:5000"); wayOf(e) != "client tell one out server" {
		t.Errorf("first it goes %s", wayOf(e))
	}
	b.edited(before)
	for _, way := range [][]string{{"client:4000", "server:5000", "client tell one out server"}, {"server:5000", "client:4000", "server out one tell client"}} {
		e := b.explained("udp", way[0], way[1])
		if wayOf(e) != way[2] || !slices.Equal(e.Aside, []string{"plain"}) || !strings.Contains(e.Path, "from before") {
			t.Errorf("it goes %s, aside %v; %s: %s %v", wayOf(e), e.Aside, e.Path, e.Verdict, e.Reasons)
		}
	}
	b.newFlows("client tell one two out server")
}

// TestWaysAsideOfAnOlderPath are told as such though what is taken out is behind another function on one of them.
func TestWaysAsideOfAnOlderPath(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact, feature.BPFIngress, feature.BPFTrace, feature.Bridge, feature.NFTables, feature.ToolNFT)
	before := strings.NewReplacer("wiring: ebpf\n", older, "meta l4proto udp", "udp dport 7777").Replace(parting)
	b := newBed(t, before)
	b.up(run.UpOptions{Wait: true})
	p := b.planned()
	defer echoes(t, p, ":4000", netip.AddrPortFrom(p.Server().West.Addresses[0], 5000))()
	b.edited(strings.Replace(before, "- {name: two, kind: forward}\n", "", 1))
	for _, way := range [][]string{{"client:4000", "server:5000", "client tell plain out server"}, {"server:5000", "client:4000", "server out plain tell client"}} {
		e := b.explained("udp", way[0], way[1])
		aside := slices.Sorted(slices.Values(e.Aside))
		if wayOf(e) != way[2] || !slices.Equal(aside, []string{"one", "two"}) {
			t.Errorf("it goes %s, aside %v; %s: %s %v", wayOf(e), e.Aside, e.Path, e.Verdict, e.Reasons)
		}
	}
}

// TestFlowOnAnOlderPathBehindANATIsExplained by what it meets, in the order in which it does, though at its entrance nobody knows on which path it is.
func TestFlowOnAnOlderPathBehindANATIsExplained(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact, feature.BPFXDP, feature.BPFTrace, feature.NFTables, feature.NFTNAT)
	const first = older + "functions: [{name: nat, kind: nat, nat: {source: {masquerade: true}}}, "
	b := newBed(t, first+"{name: quick, kind: passthrough}, {name: gone, kind: forward}, {name: many, kind: forward, replicas: 2}]\n")
	b.up(run.UpOptions{Wait: true})
	p := b.planned()
	defer echoes(t, p, ":4000", netip.AddrPortFrom(p.Server().West.Addresses[0], 5000))()
	before := b.explained("udp", "client:4000", "server:5000")
	if wayOf(before) != "client nat quick gone many server" {
		t.Errorf("first it goes %s", wayOf(before))
	}
	b.edited(first + "{name: many, kind: forward, replicas: 2}, {name: quick, kind: passthrough}]\n")
	e := b.explained("udp", "client:4000", "server:5000")
	if wayOf(e) != wayOf(before) || !strings.HasPrefix(e.Verdict, "it goes through the chain") {
		t.Errorf("it goes %s: %s, %s %v", wayOf(e), e.Path, e.Verdict, e.Reasons)
	}
	for i, h := range e.Hops {
		if h.Kind != "wiring" && i < len(e.Hops)-2 && h.Out != e.Sent || h.Name != before.Hops[min(i, len(before.Hops)-1)].Name {
			t.Errorf("%+v, before the edit %+v", h, before.Hops)
		}
	}
	b.newFlows("client nat many quick server")
	defer echoes(t, p, ":4001", netip.AddrPortFrom(p.Server().West.Addresses[0], 5001))()
	if e = b.explained("udp", "client:4001", "server:5001"); wayOf(e) != "client nat many quick server" {
		t.Errorf("another goes %s", wayOf(e))
	}
	b.edited(first + "{name: many, kind: forward, replicas: 2}, {name: new, kind: forward}, {name: quick, kind: passthrough}]\n")
	if e = b.explained("udp", "client:4001", "server:5001"); wayOf(e) != "client nat many quick server" {
		t.Errorf("where a function was put in it goes %s", wayOf(e))
	}
}

// TestFlowOfAReplicaThatLeavesIsExplained by that replica, both ways, beside a classifier and without one.
func TestFlowOfAReplicaThatLeavesIsExplained(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact, feature.BPFTrace)
	const classifier = "classifier: {otherwise: chain, rules: [{name: r, match: {protocol: udp}, functions: [r, a]}]}\n"
	for name, c := range map[string]struct{ classifier, way, back string }{"one path": {"", "client a r server", "server r a client"}, "rules": {classifier, "client r a server", "server a r client"}} {
		t.Run(name, func(t *testing.T) {
			functions := func(replicas int) string {
				return fmt.Sprintf("%sfunctions: [{name: a, kind: forward}, {name: r, kind: forward, replicas: %d}]\n%s", older, replicas, c.classifier)
			}
			b := newBed(t, functions(3))
			b.up(run.UpOptions{Wait: true})
			p := b.planned()
			hasIt := func(e trace.Explanation) (name, kind string) {
				for _, h := range e.Hops {
					if h.Of == "r" {
						return h.Name, h.Kind
					}
				}
				return "", ""
			}
			port := 4000
			for ; ; port++ { // chance gives one of some flows to the last replica
				if has, _ := hasIt(b.explained("udp", fmt.Sprintf("client:%d", port), "server:5000")); has == "r-3" {
					break
				}
			}
			from := netip.AddrPortFrom(p.Client().East.Addresses[0], uint16(port)).String()
			defer echoes(t, p, from, netip.AddrPortFrom(p.Server().West.Addresses[0], 5000))()
			b.edited(functions(2))
			for _, way := range [][]string{{from, "server:5000", c.way}, {"server:5000", from, c.back}} {
				e := b.explained("udp", way[0], way[1])
				if has, kind := hasIt(e); has != "r-3" || kind != "leaving" || wayOf(e) != way[2] {
					t.Errorf("%s, a %s, has it on the way %s; %s %v", has, kind, wayOf(e), e.Verdict, e.Reasons)
				}
			}
		})
	}
}

// TestNodesThatLeaveAreTraced and captured while flows go by them.
func TestNodesThatLeaveAreTraced(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	b := newBed(t, older+"functions: [{name: a, kind: forward}, {name: b, kind: forward}]\n")
	b.up(run.UpOptions{Wait: true})
	p := b.planned()
	chain, warnings, err := run.Whole(p)
	if err != nil || len(chain.Nodes) != 4 || len(warnings) > 0 {
		t.Errorf("as planned: %+v, %v, %v", chain.Nodes, warnings, err)
	}
	defer echoes(t, p, ":4000", netip.AddrPortFrom(p.Server().West.Addresses[0], 5000))()
	gone := p.Functions()[1].Namespace
	p = b.edited(older + "functions: [{name: a, kind: forward}]\n")
	chain, warnings, err = run.Whole(p)
	if err != nil || len(chain.Nodes) != 4 || chain.Nodes[2].Namespace != gone || chain.Nodes[3].Name != "server" || len(warnings) != 1 || !strings.HasPrefix(warnings[0], "b: the chain no longer has that") {
		t.Errorf("%+v, %v, %v", chain.Nodes, warnings, err)
	}
	r, err := trace.Run(t.Context(), chain, trace.Options{For: time.Second})
	if err != nil || r.Hops[2].Name != "b" || r.Hops[2].Kind != "leaving" || r.Hops[2].In.Packets == 0 {
		t.Errorf("%+v, %v", r.Hops, err)
	}
	for _, packet := range b.capturedAt("b", "udp and port 5000", 8, func() {}) {
		if !strings.Contains(packet.Comment, "hop that is taken out: leaving b, ") {
			t.Errorf("a packet tells %q", packet.Comment)
		}
	}
	if c, err := run.Captured(p, ""); err != nil || !slices.ContainsFunc(c.Points, func(at capture.Point) bool { return at.Hop == "b" && at.Place == capture.NoPlace }) {
		t.Errorf("%+v, %v", c.Points, err)
	}
}
