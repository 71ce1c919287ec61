package deploy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
)

// TestStops: functions without a namespace of which some paths go by and others do not, in any order: packets take the steps of those on their
// path, either way, and of no others.
func TestStops(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	drops := func(name string) string {
		return "{name: " + name + ", kind: firewall, runtime: inline, firewall: {rules: {list: [{protocol: tcp, destination_port: 81, action: drop}]}}}"
	}
	const gate = "{name: gate, kind: firewall, runtime: inline, firewall: {policy: drop, rules: {list: [{state: [established, related], action: accept}, {protocol: tcp, destination_port: 82, action: accept}]}}}"
	for hook, wiring := range map[string]string{"tcx": "wiring: ebpf\n", "clsact": "wiring: ebpf\nebpf: {hook: clsact}\n"} {
		t.Run(hook, func(t *testing.T) {
			t.Parallel()
			owner := nstest.Owner(t)
			downAfter(t, owner)
			p := planned(t, owner, wiring+spec(drops("wall"), inline("meter"), forward("a"), gate, inline("tail"))+classifier("direct",
				pathRule("web", "protocol: tcp, destination_port: 80-81", "wall", "meter"),
				pathRule("more", "protocol: tcp, destination_port: 82-83", "gate", "a", "tail"),
				pathRule("rest", "protocol: udp", "tail")))
			up(t, p)
			unchanged(t, p)
			if crosses(t, p); len(p.Nodes) != 6 { // meter is where wall is
				t.Errorf("%d nodes", len(p.Nodes))
			}
			client, server := p.Client().Namespace, p.Server().Namespace
			to := addresses(p, p.Client().Name, p.Server().Name)[0]
			for port, want := range map[uint16]bool{80: true, 81: false, 82: true, 83: false, 84: true} {
				patience := time.Second
				if want {
					patience = 5 * time.Second
				}
				if got := reaches(t, "tcp", client, server, to, port, patience); got != want {
					t.Errorf("a connection to port %d: %t, want %t", port, got, want)
				}
			}
			for _, to := range addresses(p, p.Server().Name, p.Client().Name) {
				if reaches(t, "tcp", server, client, to, 83, time.Second) {
					t.Error("a connection from the second end passes the gate")
				}
			}
			for range 3 {
				if !reaches(t, "udp", client, server, to, 53, 5*time.Second) {
					t.Error("a datagram does not arrive")
				}
			}
			for _, f := range p.Inline {
				there, back := taken(t, p, f.Forward).Packets, taken(t, p, f.Reverse).Packets
				ok := map[string]bool{
					"wall":  there >= 1 && back == 0, // what it dropped
					"meter": there > 0 && back > 0,
					"gate":  there >= 1 && back >= 2,   // what it dropped, of both families from the second end
					"tail":  there >= 3+2 && back >= 1, // datagrams, and a connection
				}
				if !ok[f.Name] {
					t.Errorf("%s counted %d packets there and %d back", f.Name, there, back)
				}
			}
			down(t, owner)
		})
	}
}

// TestFlowsStayWhereStopsComeAndGo, while a thousand packets a second pass each way: none is lost, and each meets what the first one of its flow met, in
// that order.
func TestFlowsStayWhereStopsComeAndGo(t *testing.T) {
	t.Parallel()
	needsBranches(t)
	a, x := forward("a"), forward("x")
	tells := func(to string) string { return "{name: tell, kind: forward, branches: [{mark: 9, to: " + to + "}]}" }
	for name, c := range map[string]edit{
		"put in":                   {spec(a) + datagrams("a"), spec(a, lettered) + datagrams("a", "one"), "a", "b|ba"},
		"taken out":                {spec(a, lettered) + datagrams("a", "one"), spec(a) + datagrams("a"), "b|ba", "a"},
		"other order":              {spec(a, lettered) + datagrams("a", "one"), spec(a, lettered) + datagrams("one", "a"), "b|ba", "ba|b"},
		"with another":             {spec(a, lettered) + datagrams("one", "a"), spec(a, lettered, x) + datagrams("x", "one", "a"), "ba|b", "ba|bx"},
		"two at one":               {spec(a) + datagrams("a"), spec(inline("two"), lettered, a) + datagrams("two", "one", "a"), "a", "ba|b"},
		"on a way":                 {spec(tells("x"), a, x), spec(tells("one"), a, lettered, x), "x", "bx|b"},
		"off a way":                {spec(tells("one"), a, lettered, x), spec(tells("x"), a, x), "bx|b", "x"},
		"where ways come together": {spec(tells("x"), "{name: a, kind: forward, next: server}", x), spec(tells("x"), "{name: a, kind: forward, next: one}", x, lettered), "x", "b|bx"},
		"between ways":             {spec(tells("x"), "{name: a, kind: forward, next: one}", x, lettered), spec(tells("one"), "{name: a, kind: forward, next: server}", lettered), "b|bx", "b"},
		"two taken out":            {spec(a, inline("two"), lettered, x) + datagrams("a", "two", "one"), spec(a, x) + datagrams("x", "a"), "b|ba", "xa"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.keeps(t, slowly)
		})
	}
}

// TestFlowsMoveWhereStopsCome in the place of functions that are between others, have a namespace, or are at another stop, or the other way round: at once, and no
// packet is lost.
func TestFlowsMoveWhereStopsCome(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	between := spec(forward("a"), inline("one"), forward("b")) + datagrams("a", "one", "b")
	stop := spec(forward("a"), inline("one"), forward("b")) + classifier("direct", pathRule("datagrams", "protocol: udp", "a", "one", "b"), pathRule("echoes", "protocol: icmp", "a", "b"))
	namespace := strings.Replace(stop, inline("one"), "{name: one, kind: counter}", 1)
	for name, c := range map[string]edit{
		"to a stop": {before: between, after: stop}, "from a stop": {before: stop, after: between},
		"a namespace to a stop": {before: namespace, after: stop}, "a stop to a namespace": {before: stop, after: namespace},
		"the first of a stop goes": {before: spec(inline("two"), inline("one")) + datagrams("two", "one"), after: spec(inline("one")) + datagrams("one")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.atOnce(t, false)
		})
	}
}

// TestStopsBesideBranches: a function without a namespace to which marks lead, on a way on which it is one of several, and on a path past what branches say.
func TestStopsBesideBranches(t *testing.T) {
	t.Parallel()
	needsBranches(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	p := planned(t, owner, "wiring: ebpf\n"+spec("{name: tell, kind: forward, branches: [{mark: 9, to: one}]}", forward("a"), inline("one"), forward("b"))+
		classifier("chain", pathRule("some", "protocol: tcp", "one", "a"), pathRule("straight", "protocol: udp, destination_port: 9")))
	up(t, p)
	unchanged(t, p)
	crosses(t, p)
	welcome(t, p, nil)
	client, server := p.Client().Namespace, p.Server().Namespace
	to := addresses(p, p.Client().Name, p.Server().Name)[0]
	one := p.Inline[slices.IndexFunc(p.Inline, func(f plan.Inline) bool { return f.Name == "one" })]
	for name, c := range map[string]struct {
		network string
		port    uint16
		met     string // besides one
		counts  bool
	}{
		"as branches lead": {"udp", 53, "tell a b", true}, "by its mark": {"udp", 7016, "tell b", true},
		"on a path of its own": {"tcp", 80, "a", true}, "straight": {"udp", 9, "", false},
	} {
		took, counted := tookIn(t, p), taken(t, p, one.Forward).Packets
		for range 20 {
			if !reaches(t, c.network, client, server, to, c.port, long) {
				t.Errorf("%s: nothing arrives", name)
			}
		}
		now := tookIn(t, p)
		for _, n := range []string{"tell", "a", "b"} {
			if came := now[n] - took[n]; (came >= 20) != strings.Contains(c.met, n) {
				t.Errorf("%s: %d packets came to %s", name, came, n)
			}
		}
		if came := taken(t, p, one.Forward).Packets - counted; (came >= 20) != c.counts {
			t.Errorf("%s: %d packets were counted", name, came)
		}
	}
}

// TestTranslatesAtAStop, before and behind a function with replicas, and where packets of other paths go by neither: each replica has both ways of its flows, and lets nothing else be.
func TestTranslatesAtAStop(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	const nat = `{name: nat, kind: nat, runtime: inline, nat: {source: {addresses: [203.0.113.9, "2001:db8::9"]}}}`
	walls := strings.Replace(strings.Replace(beside("a"), "runtime: inline", "replicas: 3", 1), "{state: [established]", "{protocol: icmp, action: accept}, {protocol: icmpv6, action: accept}, {state: [established]", 1)
	for name, chain := range map[string]string{
		"before replicas":          spec(nat, walls),
		"behind replicas":          spec(walls, inline("count"), nat),
		"with a classifier":        spec(walls, nat, inline("count")) + datagrams("a", "nat", "count"),
		"with one, before the end": spec(walls, forward("b"), nat) + classifier("direct", pathRule("datagrams", "protocol: udp", "a", "nat"), pathRule("more", "protocol: tcp", "b")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := nstest.Owner(t)
			downAfter(t, owner)
			p := planned(t, owner, "wiring: ebpf\n"+chain)
			up(t, p)
			unchanged(t, p)
			crosses(t, p)
			const flows = 48
			for _, to := range addresses(p, p.Client().Name, p.Server().Name) {
				if sent, answered := answeredBy(t, p, to, flows); answered < flows {
					t.Errorf("of %d packets to %s %d were answered", sent, to, answered)
				}
			}
			if n := used(t, p, "a", flows/4); n < 2 {
				t.Errorf("packets went by %d replicas", n)
			}
			for _, f := range p.Inline {
				if there, back := taken(t, p, f.Forward), taken(t, p, f.Reverse); there.Packets < 2*flows || back.Packets < 2*flows {
					t.Errorf("%s counted %+v there and %+v back", f.Name, there, back)
				}
			}
		})
	}
}
