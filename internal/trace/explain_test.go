package trace_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trace"
)

// explained is a flow's explanation, which has to have a verdict; a machine that others flood
// may lose packets, so it is asked for again.
func (b bed) explained(verdict, protocol, from, to string) trace.Explanation {
	b.Helper()
	return b.explainedAs(verdict, run.FlowWords{Protocol: protocol, From: from, To: to})
}

func (b bed) explainedAs(verdict string, w run.FlowWords) trace.Explanation {
	b.Helper()
	f, err := run.FlowOf(b.plan, w)
	if err != nil {
		b.Fatal(err)
	}
	var e trace.Explanation
	for range 5 {
		chain, err := run.Explained(b.plan, f)
		if err != nil {
			b.Fatal(err)
		}
		e, err = trace.Explain(b.Context(), chain, f, trace.Options{Send: 3, Patience: 3 * time.Second})
		if err != nil {
			b.Fatal(err)
		}
		if e.Sent == 3 && strings.HasPrefix(e.Verdict, verdict) {
			return e
		}
	}
	b.Errorf("%s: %q, want %q\n%s", f, e.Verdict, verdict, why(e))
	return e
}

func why(e trace.Explanation) string {
	var s strings.Builder
	_ = e.Text(&s)
	return s.String()
}

// because checks that the first reason has some words.
func (b bed) because(e trace.Explanation, words ...string) {
	b.Helper()
	for _, w := range words {
		if len(e.Reasons) == 0 || !strings.Contains(strings.Join(e.Reasons, "\n"), w) {
			b.Errorf("no reason has %q:\n%s", w, why(e))
		}
	}
}

// steps checks how many packets of the flow came to and left each hop.
func (b bed) steps(e trace.Explanation, want string) {
	b.Helper()
	var got []string
	for _, s := range e.Hops {
		if s.Kind != "wiring" {
			got = append(got, strings.Join([]string{s.Name, number(s.In), number(s.Out)}, " "))
		}
	}
	if s := strings.Join(got, ", "); s != want {
		b.Errorf("it passed %s, want %s\n%s", s, want, why(e))
	}
}

func number(n uint64) string { return string(rune('0' + min(n, 9))) }

// listening has the last end listen at a port, by both protocols.
func (b bed) listening(node string, port uint16) {
	b.Helper()
	for _, n := range b.plan.Nodes {
		if n.Name != node {
			continue
		}
		err := netns.Do(n.Namespace, func() error {
			t, err := net.ListenTCP("tcp", &net.TCPAddr{Port: int(port)})
			if err != nil {
				return err
			}
			b.Cleanup(func() { _ = t.Close() })
			u, err := net.ListenUDP("udp", &net.UDPAddr{Port: int(port)})
			if err == nil {
				b.Cleanup(func() { _ = u.Close() })
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// TestExplainFlowsThatArrive: every protocol, family and way; the receiving kernel checks the
// sums.
func TestExplainFlowsThatArrive(t *testing.T) {
	for wiring, needs := range map[string][]string{"veth": nil, "ebpf": {feature.BPFPeer, feature.BPFClsact}} {
		t.Run(wiring, func(t *testing.T) {
			nstest.Require(t, needs...)
			b := newBed(t, "wiring: "+wiring+"\n"+plantest.Forwards(2))
			b.listening("server", 4433)
			b.listening("client", 4433)
			for _, a := range b.plan.Server().West.Addresses {
				for _, protocol := range []string{"tcp", "udp"} {
					e := b.explained("it goes through the chain: server got it", protocol, "client:40000", netip.AddrPortFrom(a, 4433).String())
					b.steps(e, "client 0 3, f0 3 3, f1 3 3, server 3 0")
				}
				e := b.explained("it goes through the chain: server got it", "icmp", "client", a.String())
				b.steps(e, "client 0 3, f0 3 3, f1 3 3, server 3 0")
			}
			e := b.explained("it goes through the chain: client got it", "udp", "server", "client:4433")
			b.steps(e, "server 0 3, f1 3 3, f0 3 3, client 3 0")
		})
	}
}

func TestExplainThatNobodyListens(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	for _, protocol := range []string{"tcp", "udp"} {
		e := b.explained("it goes through the chain, and server does not take it", protocol, "client", "server:9")
		b.because(e, "server: 3 dropped", "nobody listens at that address and port (NO_SOCKET")
		b.steps(e, "client 0 3, f0 3 3, server 3 0")
	}
}

// TestExplainAFirewall: it drops one flow and not the other, and the rule is named.
func TestExplainAFirewall(t *testing.T) {
	b := newBed(t, "functions:\n- {name: f, kind: forward}\n"+
		"- {name: fw, kind: firewall, firewall: {rules: {list: [{action: drop, protocol: tcp, destination_port: 443, comment: no web}]}}}\n")
	b.listening("server", 4433)
	e := b.explained("it does not arrive: fw is where it was seen last", "tcp", "client", "server:443")
	b.because(e, "fw: 3 dropped at eth0: a rule or policy of nftables or iptables refused it (NETFILTER_DROP", "fw: rule 1 matched 3 (no web)")
	b.steps(e, "client 0 3, f 3 3, fw 3 0, server 0 0")
	b.explained("it goes through the chain: server got it", "tcp", "client", "server:4433")
}

// TestExplainAFunctionWithoutANamespace: its packets end at a port of the forwarder, and it is
// told which function that was.
func TestExplainAFunctionWithoutANamespace(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	b := newBed(t, "wiring: ebpf\naddresses: {ipv6: none}\nfunctions:\n- {name: f, kind: forward}\n- {name: d, kind: drop, runtime: inline, direction: forward, drop: {every: 1}}\n")
	e := b.explained("it does not arrive: f is where it was seen last", "udp", "client", "server:9")
	// What the kernel says of its own d drops too.
	b.because(e, "(wiring): 3 dropped", "the port of f:eth1: a program or filter at the interface", "d dropped ")
	if first := e.Reasons[0]; !strings.HasPrefix(first, "d dropped ") {
		t.Errorf("the first reason is %q, and not which function it was", first)
	}
	b.steps(e, "client 0 3, f 3 3, server 0 0")
}

// TestExplainAFirewallWithoutANamespace: it is told which rule of it dropped the packets, or that its policy did.
func TestExplainAFirewallWithoutANamespace(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	b := newBed(t, "wiring: ebpf\naddresses: {ipv6: none}\nfunctions:\n- {name: f, kind: forward}\n- {name: count, kind: counter, runtime: inline}\n"+
		"- {name: fw, kind: firewall, runtime: inline, firewall: {policy: drop, rules: {list: [{action: drop, protocol: tcp, comment: no web}]}}}\n")
	for protocol, want := range map[string]string{"tcp": "fw: rule 1 matched 3 (no web)", "udp": "the policy of fw dropped "} {
		e := b.explained("it does not arrive: server is where it was seen last", protocol, "server", "client:80")
		b.because(e, "fw dropped ", want, "(wiring): 3 dropped")
		if first := e.Reasons[0]; !strings.HasPrefix(first, "fw dropped ") || !strings.HasSuffix(first, " (reverse)") {
			t.Errorf("the first reason is %q, and not what met it on its way", first)
		}
	}
}

func TestExplainAMissingRoute(t *testing.T) {
	b := newBed(t, plantest.Forwards(2))
	b.do("f0", "ip", "route", "flush", "proto", "78")
	e := b.explained("it does not arrive: f0 is where it was seen last", "udp", "client", b.plan.Server().West.Addresses[0].String()+":9")
	b.because(e, "f0: 3 dropped at eth0", "route")
}

// TestExplainWhatIsNotSent: the end itself has no way there.
func TestExplainWhatIsNotSent(t *testing.T) {
	b := newBed(t, plantest.Forwards(1)+"addresses: {ipv6: none}\n")
	b.do("client", "ip", "route", "flush", "proto", "78")
	f, err := run.FlowOf(b.plan, run.FlowWords{Protocol: "udp", From: "client", To: "server:9"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := trace.Explain(t.Context(), run.Traced(b.plan), f, trace.Options{Send: 1, Patience: time.Second})
	if err != nil || e.Sent != 0 || !strings.HasPrefix(e.Verdict, "client cannot send it: network is unreachable") {
		t.Errorf("%v\n%s", err, why(e))
	}
	b.because(e, "it has no route to there")
}

// TestExplainATranslatedFlow: it is followed though it gets other addresses.
func TestExplainATranslatedFlow(t *testing.T) {
	nstest.Require(t, feature.NFTNAT)
	b := newBed(t, "functions:\n- {name: nat, kind: nat, nat: {source: {}, destination: {}}}\n- {name: f, kind: forward}\n")
	b.listening("server", 4433)
	e := b.explained("it goes through the chain: server got it", "tcp", "client", "server:4433")
	b.steps(e, "client 0 3, nat 3 3, f 3 3, server 3 0")
}

// TestAFlowToReplicas: the function's own name means them, which have the same addresses.
func TestAFlowToReplicas(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	b := newBed(t, "wiring: ebpf\naddresses: {ipv6: none}\nfunctions:\n- {name: web, kind: forward, replicas: 2}\n")
	f, err := run.FlowOf(b.plan, run.FlowWords{Protocol: "tcp", From: "client", To: "web:8080"})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range b.plan.Nodes {
		if n.Function() == "web" && n.West.Addresses[0].String() != f.To.Addr().String() {
			t.Errorf("the flow is to %s, and %s has %s", f.To, n.Name, n.West.Addresses)
		}
	}
}

// TestAFlowGoesWhereItsNameResolvesTo at the end where it begins: to the side that faces that end, by whatever name.
func TestAFlowGoesWhereItsNameResolvesTo(t *testing.T) {
	b := newBed(t, "addresses: {ipv6: none}\nfunctions:\n- {name: f, kind: forward}\n- {name: nat, kind: nat, nat: {source: {}, destination: {}}}\n- {name: g, kind: forward}\n")
	for _, from := range []string{"client", "server"} {
		for _, h := range b.plan.Hosts(from) {
			f, err := run.FlowOf(b.plan, run.FlowWords{Protocol: "tcp", From: from, To: h.Name + ":80"})
			if err != nil || f.To.Addr() != h.Address {
				t.Errorf("from %s, %s is %s, and the flow is to %s (%v)", from, h.Name, h.Address, f.To, err)
			}
		}
	}
}

// TestWrongFlows are refused with what is right.
func TestWrongFlows(t *testing.T) {
	b := newBed(t, plantest.Forwards(1)+"addresses: {ipv6: none}\n")
	for want, w := range map[string]run.FlowWords{
		`"ipip" is not a protocol; use tcp, udp, sctp`:               {Protocol: "ipip", From: "client", To: "server"},
		"or a number from 1 to 255":                                  {Protocol: "256", From: "client", To: "server"},
		"60 is an extension header of IPv6":                          {Protocol: "60", From: "client", To: "server"},
		"protocol 89 has no ports; write client and server without":  {Protocol: "89", From: "client", To: "server:1"},
		"flows of icmpv6 are of that alone":                          {Protocol: "58", From: "client", To: "server"},
		"as in server:80: ":                                          {Protocol: "132", From: "client", To: "server"},
		"say which port it goes to, as in server:80":                 {Protocol: "tcp", From: "client", To: "server"},
		"say which port it goes to, as in [2001:2::1]:443:":          {Protocol: "tcp", From: "client", To: "2001:2::1:443"},
		"say which port it goes to, as in [2001:2::a]:80:":           {Protocol: "udp", From: "client", To: "2001:2::a"},
		"are written with brackets, [2001:2:0:1:2:3:4:5]:443:":       {Protocol: "tcp", From: "client", To: "2001:2:0:1:2:3:4:5:443"},
		"are written with brackets, [2001:2::1]:44300:":              {Protocol: "tcp", From: "client", To: "2001:2::1:44300"},
		"an address and a port of IPv6 are written [2001:2::1]:5000": {Protocol: "tcp", From: "2001:2::1:5000", To: "server:80"},
		"icmp has no ports":                                          {Protocol: "icmp", From: "client:1", To: "server"},
		"neither of the chain's ends, client and server":             {Protocol: "tcp", From: "f0", To: "server:1"},
		"say --ingress where it comes from behind one":               {Protocol: "tcp", From: "203.0.113.1", To: "server:1"},
		`"nobody" is neither an address nor a node`:                  {Protocol: "tcp", From: "client", To: "nobody:1"},
		"have no addresses of one family":                            {Protocol: "tcp", From: "client", To: "[2001:db8::1]:1"},
		`"x" is not a port`:                                          {Protocol: "tcp", From: "client:x", To: "server:1"},
		`"0" is not a port`:                                          {Protocol: "udp", From: "client", To: "server:0"},
		`--ingress: "f0" is neither of`:                              {Protocol: "udp", From: "client", To: "server:1", Ingress: "f0"},
		`"elsewhere" is neither an address nor a node`:               {Protocol: "udp", From: "elsewhere", To: "server:1", Ingress: "client"},
		`--dscp: "af51" is no code point`:                            {Protocol: "udp", From: "client", To: "server:1", DSCP: "af51"},
		`--vlan: "4095" is not a VLAN`:                               {Protocol: "udp", From: "client", To: "server:1", VLAN: "4095"},
		"--vlan: a packet is of one VLAN, not of 10-20":              {Protocol: "udp", From: "client", To: "server:1", VLAN: "10-20"},
	} {
		if _, err := run.FlowOf(b.plan, w); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", w, err)
		}
	}
}
