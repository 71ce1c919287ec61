package trace_test

import (
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trace"
)

// TestExplainMarks: of all that rules ask for a flow may be given, and takes the path of that, for real: its code point, its VLAN, and the
// end where it comes in, whoever it is from.
func TestExplainMarks(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	b := newBed(t, `wiring: ebpf
functions: [{name: a, kind: forward}, {name: b, kind: forward}, {name: c, kind: forward}]
classifier:
  rules:
  - {name: video, match: {dscp: af41}, functions: [a]}
  - {name: lab, match: {vlan: 10}, functions: [b]}
  - {name: trunk, match: {vlan: 20-30}, functions: []}
  - {name: guests, match: {source: "203.0.113.0/24,2001:db8::/32", ingress: server}, functions: [c]}
`)
	const through, ends = "it goes through the chain, and server does not take it", "it does not arrive: b is where it was seen last"
	server4, server6 := b.addressOf("server", false), b.addressOf("server", true)
	for _, c := range []struct {
		words                      run.FlowWords
		verdict, flow, path, steps string
	}{
		{run.FlowWords{Protocol: "udp", From: "client", To: server4 + ":53", DSCP: "af41"}, through, ", dscp 34", "path: a, by rule video", "client 0 3, a 3 3, server 3 0"},
		{run.FlowWords{Protocol: "tcp", From: "client", To: "[" + server6 + "]:80", DSCP: "34"}, through, ", dscp 34", "path: a, by rule video", "client 0 3, a 3 3, server 3 0"},
		{run.FlowWords{Protocol: "udp", From: "client", To: server4 + ":54", DSCP: "ef"}, through, ", dscp 46", "path: direct, by no rule", "client 0 3, server 3 0"},
		{run.FlowWords{Protocol: "udp", From: "client", To: server4 + ":55", VLAN: "none"}, through, ":55", "path: direct, by no rule", "client 0 3, server 3 0"},
		{run.FlowWords{Protocol: "udp", From: "client", To: server4 + ":56", VLAN: "10"}, ends, ", vlan 10", "path: b, by rule lab", "client 0 3, b 3 0, server 0 0"},
		{run.FlowWords{Protocol: "icmp", From: "client", To: server6, VLAN: "25", DSCP: "ef"}, through, ", dscp 46, vlan 25", "path: direct, by rule trunk", "client 0 3, server 3 0"},
		{run.FlowWords{Protocol: "udp", From: "203.0.113.7:7", To: "client:57", Ingress: "server"}, "it goes through the chain", "203.0.113.7:7", "path: c, by rule guests", "server 0 3, c 3 3, client 3 0"},
		{run.FlowWords{Protocol: "udp", From: "203.0.113.7:7", To: "server:58", Ingress: "client"}, "it goes through the chain", "203.0.113.7:7", "path: direct, by no rule", "client 0 3, server 3 0"},
	} {
		e := b.explainedAs(c.verdict, c.words)
		b.steps(e, c.steps)
		if c.verdict == ends {
			b.because(e, "b: 3 dropped at eth0: it is of VLAN 10, of which there is no interface there (OTHERHOST)")
		}
		if !strings.HasPrefix(e.Path, c.path) || !strings.Contains(e.Flow, c.flow) {
			t.Errorf("%+v\n%s", c.words, why(e))
		}
	}
}

// TestTraceWithACodePoint: so do the datagrams that trace sends.
func TestTraceWithACodePoint(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	for _, family := range []string{"ipv6", "ipv4"} {
		b := newBed(t, "wiring: ebpf\naddresses: {"+family+": none}\nfunctions: [{name: a, kind: forward}]\nclassifier:\n  rules: [{name: video, match: {dscp: af41}, functions: [a]}]\n")
		for codePoint, want := range map[uint8]string{34: "a", 0: "direct"} {
			c, err := run.Sent(b.plan, codePoint)
			if err != nil || c.Path != "path of what is sent: "+want {
				t.Fatalf("%+v, %v", c, err)
			}
			r, err := trace.Run(t.Context(), c, trace.Options{Send: 20, Payload: 64, Patience: 30 * time.Second, CodePoint: codePoint})
			if err != nil || len(r.Hops) < len(c.Nodes) {
				t.Fatalf("%+v, %v", r, err)
			}
			for _, h := range r.Hops[1:len(c.Nodes)] {
				if n := h.OwnIn.Packets; n != 20 {
					t.Errorf("without %s, with code point %d: %d packets came to %s\n%s", family, codePoint, n, h.Name, text(r))
				}
			}
		}
	}
}

// addressOf a node, of one family.
func (b bed) addressOf(node string, six bool) string {
	b.Helper()
	for _, n := range b.plan.Nodes {
		for _, i := range []*plan.Interface{n.West, n.East} {
			if n.Name != node || i == nil {
				continue
			}
			for _, a := range i.Addresses {
				if a.Is6() == six {
					return a.String()
				}
			}
		}
	}
	b.Fatalf("%s has no such address", node)
	return ""
}
