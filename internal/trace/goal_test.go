package trace_test

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan/plantest"
)

// TestExplainFlowsToAFunction: such a flow arrives where it ends, and whoever is behind is no hop of it; a name means what it resolves
// to at the end where the flow begins.
func TestExplainFlowsToAFunction(t *testing.T) {
	for wiring, needs := range map[string][]string{"veth": nil, "ebpf": {feature.BPFPeer, feature.BPFClsact}} {
		t.Run(wiring, func(t *testing.T) {
			nstest.Require(t, needs...)
			b := newBed(t, "wiring: "+wiring+"\n"+plantest.Forwards(3))
			b.listening("f1", 4433)
			for _, c := range []struct{ protocol, from, to, verdict, steps string }{
				{"icmp", "client", "f1", "it arrives at f1, whose own address that is", "client 0 3, f0 3 3, f1 3 0"},
				{"icmp", "server", "f1", "it arrives at f1, whose own address that is", "server 0 3, f2 3 3, f1 3 0"},
				{"udp", "server", "f1:4433", "it arrives at f1, whose own address that is", "server 0 3, f2 3 3, f1 3 0"},
				{"tcp", "client", "f0:22", "it arrives at f0, and f0 refuses it: nobody listens at port 22 there", "client 0 3, f0 3 0"},
				{"udp", "server", "f0:22", "it arrives at f0, and f0 refuses it: nobody listens at port 22 there", "server 0 3, f2 3 3, f1 3 3, f0 3 0"},
			} {
				e := b.explained(c.verdict, c.protocol, c.from, c.to)
				b.steps(e, c.steps)
				if got := len(e.Reasons) == 0; got != strings.HasSuffix(c.verdict, "own address that is") {
					t.Errorf("the reasons are not those of what became of it:\n%s", why(e))
				}
			}
			b.do("f0", "ip", "route", "flush", "proto", "78")
			e := b.explained("it does not arrive: f0 is where it was seen last", "icmp", "client", "f2")
			b.steps(e, "client 0 3, f0 3 0, f1 0 0, f2 0 0")
		})
	}
}

// TestExplainFlowsToAFunctionOnPaths: no rule of the file's leads there, and none is told; of replicas that is told to which it came.
func TestExplainFlowsToAFunctionOnPaths(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	b := newBed(t, `wiring: ebpf
functions: [{name: a, kind: forward}, {name: b, kind: forward}, {name: web, kind: forward, replicas: 2}]
classifier:
  otherwise: drop
  rules:
  - {name: names, match: {protocol: udp}, functions: [a, b]}
  - {name: web, match: {protocol: tcp}, functions: [a, web]}
`)
	for _, c := range []struct{ protocol, from, to, at, steps string }{
		{"icmp", "client", "a", "a", "client 0 3, a 3 0"},
		{"tcp", "client:5000", "b:22", "b", "client 0 3, a 3 3, b 3 0"},
		{"tcp", "client:5000", "b:22", "b", "client 0 3, a 3 3, b 3 0"}, // known by now
		{"udp", "server", "b:22", "b", "server 0 3, b 3 0"},
	} {
		e := b.explained("it arrives at "+c.at, c.protocol, c.from, c.to)
		b.steps(e, c.steps)
		if want := "path: as far as " + c.at + ", whose own addresses packets reach whatever the rules say"; e.Path != want || len(e.Unmet) > 0 {
			t.Errorf("%q, want %q\n%s", e.Path, want, why(e))
		}
	}
	e := b.explained("it arrives at web-", "icmp", "server", "web-2")
	if n := len(e.Hops); n < 2 || e.Hops[1].Of != "web" || e.Hops[1].In != 3 || e.Hops[1].Replicas != 2 {
		t.Errorf("it is not told which replica has it:\n%s", why(e))
	}
}

// TestExplainFlowsPastTheirFunction: one that is one-way is not reached from the last end.
func TestExplainFlowsPastTheirFunction(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	b := newBed(t, "wiring: ebpf\naddresses: {ipv6: none}\nfunctions: [{name: f, kind: forward, symmetric: false}, {name: g, kind: forward}]\n")
	e := b.explained("it does not arrive: packets of this direction go past f", "icmp", "server", "f")
	b.steps(e, "server 0 3, g 3 3, client 3 0")
	b.explained("it arrives at f", "icmp", "client", "f")
}

// TestExplainFlowsToAFunctionsPorts: what the function translates goes on, and what it does not ends there.
func TestExplainFlowsToAFunctionsPorts(t *testing.T) {
	nstest.Require(t, feature.NFTNAT)
	b := newBed(t, "addresses: {ipv6: none}\nfunctions:\n- {name: f, kind: forward}\n- {name: nat, kind: nat, nat: {destination: {protocol: tcp, port: 80, to_port: 4433}}}\n")
	b.listening("server", 4433)
	e := b.explained("it goes through the chain: server got it", "tcp", "client", "nat:80")
	b.steps(e, "client 0 3, f 3 3, nat 3 3, server 3 0")
	e = b.explained("it arrives at nat, and nat refuses it", "tcp", "client", "nat:81")
	b.steps(e, "client 0 3, f 3 3, nat 3 0")
	e = b.explained("it does not arrive: nat is where it was seen last", "tcp", "client", "server:81")
	b.steps(e, "client 0 3, f 3 3, nat 3 0, server 0 0")
}
