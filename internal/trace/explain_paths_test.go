package trace_test

import (
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/run"
)

// TestExplainPaths: the hops are those of the flow's path, and it is told by which rule it has it, or that it ends where
// it comes in.
func TestExplainPaths(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	b := newBed(t, `wiring: ebpf
addresses: {ipv6: none}
functions: [{name: a, kind: forward}, {name: b, kind: forward}, {name: c, kind: forward}]
classifier:
  otherwise: drop
  rules:
  - {name: web, match: {protocol: tcp, destination_port: 80}, functions: [b, c]}
  - {name: trace, match: {protocol: udp, destination_port: 1024-65535}, functions: [a, b]}
  - {name: names, match: {protocol: udp, destination_port: 53, ingress: client}, functions: []}
`)
	for _, want := range []struct{ protocol, from, to, verdict, path, steps string }{
		{"tcp", "client:5000", "server:80", "it goes through the chain, and server does not take it", "path: b → c, by rule web", "client 0 3, b 3 3, c 3 3, server 3 0"},
		{"tcp", "server:80", "client:5000", "it goes through the chain, and client does not take it", "path: b → c, which the flow is on by rule web", "server 0 3, c 3 3, b 3 3, client 3 0"},
		{"udp", "client", "server:53", "it goes through the chain, and server does not take it", "path: direct, by rule names", "client 0 3, server 3 0"},
		{"udp", "server:2000", "client:53", "it goes through the chain, and client does not take it", "path: a → b, by rule trace", "server 0 3, b 3 3, a 3 3, client 3 0"}, // as it would answer
		{"udp", "server:900", "client:53", "it does not arrive: server is where it was seen last", "path: none; no rule", "server 0 3, client 0 0"},
	} {
		e := b.explained(want.verdict, want.protocol, want.from, want.to)
		b.steps(e, want.steps)
		if !strings.HasPrefix(e.Path, want.path) || !strings.Contains(why(e), want.path) {
			t.Errorf("%s", why(e))
		}
		if strings.HasPrefix(want.path, "path: none") {
			b.because(e, "(wiring): 3 dropped", "a program or filter at the interface", "classifier dropped ")
			unmet := []string{
				"not by rule web, which asks for tcp and not udp, port 80 and not 53", "not by rule trace, which asks for port 1024-65535 and not 53",
				"not by rule names, which asks for beginning at the first end and not the second",
			}
			if !slices.Equal(e.Unmet, unmet) || !strings.Contains(why(e), "\n- "+strings.Join(unmet, "\n- ")+"\n") {
				t.Errorf("%q, in\n%s", e.Unmet, why(e))
			}
		} else if len(e.Unmet) > 0 {
			t.Errorf("%q, though a rule gave it its path", e.Unmet)
		}
	}
	c, err := run.Sent(b.plan, 0)
	if err != nil || len(c.Nodes) != 4 || c.Path != "path of what is sent: a → b" {
		t.Errorf("%+v, %v", c, err)
	}
}
