package deploy_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// translating is a nat without a namespace.
func translating(options string) string {
	return "{name: nat, kind: nat, runtime: inline, " + options + "}"
}

// TestInlineNATTranslates what the one of a namespace does (TestNATTranslates).
func TestInlineNATTranslates(t *testing.T) {
	needsForwarder(t)
	for name, nat := range map[string]string{
		"own":        "nat: {source: {}, destination: {}}",
		"masquerade": "nat: {source: {masquerade: true}, destination: {protocol: udp, port: 80, to_port: 8080}}",
		"public":     `nat: {source: {addresses: [203.0.113.1, "2001:db8::1"]}, destination: {addresses: [203.0.113.2, "2001:db8::2"]}}`,
	} {
		for place, functions := range map[string][]string{
			"between": {forward("a"), translating(nat), forward("b")}, "first": {translating(nat), forward("b")},
			"last": {forward("a"), translating(nat)}, "alone": {translating(nat)},
		} {
			t.Run(name+" "+place, func(t *testing.T) {
				p := planned(t, nstest.Owner(t), "wiring: ebpf\n"+spec(functions...))
				downAfter(t, p.Chain)
				up(t, p)
				unchanged(t, p)
				if name != "masquerade" { // there certain datagrams alone reach the server
					crosses(t, p)
				}
				s := p.Reached()
				for i, to := range s.Addresses {
					if slices.Contains(p.Server().West.Addresses, to) || !slices.Contains(addresses(p, "client", "server"), to) {
						t.Errorf("the client reaches the server at %s, and knows it as %v", to, addresses(p, "client", "server"))
					}
					at := netip.AddrPortFrom(s.Served[i], max(s.ToPort, 80))
					if from := arrives(t, p.Client(), p.Server(), netip.AddrPortFrom(to, 80), at); from != s.Source[i] || from == p.Client().East.Addresses[i] {
						t.Errorf("to %s it arrives from %s, want %s", to, from, s.Source[i])
					}
					client := addresses(p, "server", "client")[i]
					if from := arrives(t, p.Server(), p.Client(), netip.AddrPortFrom(client, 80), netip.AddrPortFrom(client, 80)); from != p.Server().West.Addresses[i] {
						t.Errorf("to the client it arrives from %s", from)
					}
				}
				known := became(t, p)
				for i, n := range known.Taken {
					if n == 0 {
						t.Errorf("target %d of %d got no connection", i, len(known.Taken))
					}
				}
				if known.Held < 4 || known.Evicted > 0 {
					t.Errorf("%+v", known)
				}
			})
		}
	}
}

// became is what the first function that translates without a namespace knows.
func became(t *testing.T, p *plan.Plan) pass.Translated {
	t.Helper()
	for _, f := range p.Inline {
		s, n := f.NAT(p)
		if n == nil {
			continue
		}
		known, found, err := pass.TranslatedAt(resource.At(nstest.Open(t, p.Between()), p.Chain), s, n.Slot)
		if err != nil || !found {
			t.Fatalf("it is there: %t; %v", found, err)
		}
		return known
	}
	t.Fatalf("%+v: none translates", p.Inline)
	return pass.Translated{}
}

// TestInlineLoadBalancerSharesOut as the one of a namespace does (TestLoadBalancerSharesOut).
func TestInlineLoadBalancerSharesOut(t *testing.T) {
	needsForwarder(t)
	const connections = 60
	for _, by := range []string{"round-robin", "hash"} {
		t.Run(by, func(t *testing.T) {
			p := planned(t, nstest.Owner(t), "wiring: ebpf\n"+backends+spec(forward("a"), "{name: lb, kind: loadbalancer, runtime: inline, loadbalancer: {by: "+by+"}}"))
			downAfter(t, p.Chain)
			up(t, p)
			unchanged(t, p)
			crosses(t, p)
			for _, to := range p.Reached().Addresses {
				before := became(t, p).Taken
				arrived := map[netip.Addr]int{}
				for i := range connections {
					arrived[connect(t, p, netip.AddrPortFrom(to, 80), 20000+i)]++
				}
				least, most := connections/len(arrived), connections/len(arrived)
				if by == "hash" {
					least, most = 1, connections-len(arrived)+1
				}
				_, n := p.Inline[0].NAT(p)
				after, at := became(t, p).Taken, 0
				for _, r := range n.Rules {
					for _, target := range r.Targets {
						if got := arrived[target.Address]; r.Address == to && (got < least || got > most || after[at]-before[at] != uint64(got)) {
							t.Errorf("%s: %d of %d connections arrived at %s, and %d were counted", by, got, connections, target.Address, after[at]-before[at])
						}
						at++
					}
				}
				if of := map[bool]int{true: 3, false: 2}[to.Is4()]; len(arrived) != of { // its own address and what it has besides
					t.Errorf("%s: connections arrived at %v", to, arrived)
				}
				if first, again := connect(t, p, netip.AddrPortFrom(to, 81), 30000), connect(t, p, netip.AddrPortFrom(to, 82), 30000); by == "hash" && first != again {
					t.Errorf("one source goes to %s and to %s", first, again)
				}
			}
		})
	}
}

// TestInlineNATBesideFirewalls: in one program, each firewall sees what its place in the chain says, on both
// ways, be it the addresses before the translation or those behind it.
func TestInlineNATBesideFirewalls(t *testing.T) {
	needsForwarder(t)
	const public = `nat: {source: {addresses: [203.0.113.1, "2001:db8::1"]}, destination: {addresses: [203.0.113.2, "2001:db8::2"], protocol: tcp, port: 7000, to_port: 7014}}`
	guard := func(name, one, other string) string {
		return "{name: " + name + ", kind: firewall, runtime: inline, firewall: {policy: drop, rules: {list: [{state: [established, related], action: accept}, " +
			one + "protocol: tcp, action: accept}, " + other + "protocol: tcp, action: accept}]}}}"
	}
	p := planned(t, nstest.Owner(t), "wiring: ebpf\n"+spec(
		guard("before", "{destination: 203.0.113.2, destination_port: 7000, ", `{destination: "2001:db8::2", destination_port: 7000, `), translating(public),
		guard("behind", "{source: 203.0.113.1, destination_port: 7014, ", `{source: "2001:db8::1", destination_port: 7014, `)))
	downAfter(t, p.Chain)
	up(t, p)
	unchanged(t, p)
	if len(p.Nodes) != 2 || len(p.Inline) != 3 {
		t.Fatalf("%+v %+v", p.Nodes, p.Inline)
	}
	s := p.Reached()
	for i, to := range s.Addresses {
		c := echoedAt(t, p, netip.AddrPortFrom(to, 7000), netip.AddrPortFrom(s.Served[i], 7014))
		c.goesOn(t)
		if host, _ := netip.ParseAddrPort(c.from); host.Addr() != s.Source[i] {
			t.Errorf("it arrives from %s", c.from)
		}
		if reaches(t, "tcp", p.Client().Namespace, p.Server().Namespace, s.Served[i], 7016, short) {
			t.Errorf("a connection to %s is opened that the first firewall does not let be", s.Served[i])
		}
	}
	for _, f := range []string{"before", "behind"} {
		for i, r := range decidedBy(t, p, f).Rules {
			if r.Packets == 0 {
				t.Errorf("rule %d of %s decided about no packet", i, f)
			}
		}
	}
}

// TestInlineNATKeepsConnections: those that are open go on, and no packet of theirs is lost or comes from elsewhere,
// while the translation is at other places, with others in its program, and has other rules; what is opened
// then is translated as these say.
func TestInlineNATKeepsConnections(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	natted := func(more string) string {
		return translating(`nat: {source: {}, destination: {addresses: [203.0.113.2, "2001:db8::2"]` + more + `}}`)
	}
	one, other := natted(""), natted(", protocol: tcp, port: 7014")
	const fw = "policy: drop, rules: {list: [{state: [new, established, related], action: accept}]}"
	chain := func(functions ...string) *plan.Plan { return planned(t, owner, "wiring: ebpf\n"+spec(functions...)) }
	p := chain(one)
	up(t, p)
	reached := p.Reached()
	s := streamsTo(t, p, reached.Addresses, reached.Served)
	var all []*talking
	for i, to := range reached.Addresses {
		all = append(all, keepsTalking(echoedAt(t, p, netip.AddrPortFrom(to, 7014), netip.AddrPortFrom(reached.Served[i], 7014))))
	}
	for i, functions := range [][]string{
		{inline("before"), one, inline("behind")}, {forward("a"), one}, {one, forward("a")}, {forward("b"), one, forward("a")},
		{forward("b"), walled("both", fw), one, forward("a")}, {walled("both", fw), one, inline("behind")}, {other, walled("both", fw)},
		{forward("c"), other}, {one, forward("c")}, {one},
	} {
		s.more(t, 50)
		p = chain(functions...)
		up(t, p)
		unchanged(t, p)
		for _, c := range all {
			c.goesOn(t)
			if t.Failed() {
				t.Fatalf("after change %d, %v", i, functions)
			}
		}
		for k, to := range p.Reached().Addresses {
			c := echoedAt(t, p, netip.AddrPortFrom(to, 7014), netip.AddrPortFrom(reached.Served[k], 7014))
			if want := p.Reached().Source[k]; !strings.Contains(c.from, want.String()) {
				t.Errorf("%v: a new connection comes from %s, want %s", functions, c.from, want)
			}
			_ = c.Close()
		}
		if t.Failed() {
			t.Fatalf("after change %d, %v", i, functions)
		}
	}
	s.more(t, 50)
	for _, c := range all {
		c.ends(t)
	}
	s.ends(t)
	for i, from := range s.from {
		if len(from) != 1 {
			t.Errorf("what goes to %s comes from %v", reached.Addresses[i], from)
		}
	}
}

// talking is a conversation that never rests.
type talking struct {
	conversation
	stop, ended chan struct{}
	turn        chan struct{}
	wrong       error
}

func keepsTalking(c conversation) *talking {
	t := &talking{conversation: c, stop: make(chan struct{}), ended: make(chan struct{}), turn: make(chan struct{})}
	go func() {
		defer close(t.ended)
		for {
			if t.wrong = t.again(); t.wrong != nil {
				return
			}
			select {
			case <-t.stop:
				return
			case t.turn <- struct{}{}:
			default:
			}
		}
	}()
	return t
}

// goesOn tells whether the other end still answers.
func (c *talking) goesOn(t *testing.T) {
	t.Helper()
	for range 3 {
		select {
		case <-c.turn:
		case <-c.ended:
			t.Errorf("from %s: %v", c.from, c.wrong)
			return
		}
	}
}

func (c *talking) ends(t *testing.T) {
	t.Helper()
	close(c.stop)
	if <-c.ended; c.wrong != nil {
		t.Errorf("from %s: %v", c.from, c.wrong)
	}
}

// TestInlineNATIsPutIn where connections are, which stay as they are; those that are opened then are translated.
func TestInlineNATIsPutIn(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	chain := func(functions ...string) *plan.Plan { return planned(t, owner, "wiring: ebpf\n"+spec(functions...)) }
	p := chain(forward("a"))
	up(t, p)
	servers, clients := p.Server().West.Addresses, p.Client().East.Addresses
	s := streams(t, p, servers)
	var all []*talking
	for _, to := range servers {
		all = append(all, keepsTalking(echoed(t, p, to)))
	}
	p = chain(translating("nat: {source: {}}"), forward("a"))
	up(t, p)
	unchanged(t, p)
	for i, to := range servers {
		all[i].goesOn(t)
		if c := echoed(t, p, to); !strings.HasPrefix(strings.Trim(c.from, "["), p.Reached().Source[i].String()) || p.Reached().Source[i] == clients[i] {
			t.Errorf("a new connection comes from %s, want %s", c.from, p.Reached().Source[i])
		}
		all[i].ends(t)
	}
	s.more(t, 50)
	s.ends(t)
}

// TestAddressesOfWhoLeaves are nobody else's while packets may still go by who leaves, to whom those from its own address are nothing that a neighbour
// sends; and a function without a namespace keeps those that it has, whoever else leaves.
func TestAddressesOfWhoLeaves(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	own := func(p *plan.Plan) []netip.Addr { return p.Inline[0].Addresses }
	leaves := quick + spec(forward("b"), forward("c"))
	facts := factsNow(t, owner, leaves) // once, or another chain might have the block of those that are compared
	first := plannedWith(t, owner, leaves, facts)
	var nat string
	for n := 0; nat == "" && n < 10000; n++ { // one that alone would have what the other has; translators choose before nodes do, so that some name is such
		named := fmt.Sprintf("{name: n%d, kind: nat, runtime: inline, nat: {source: {masquerade: true}}}", n)
		if slices.Contains(own(plannedWith(t, owner, quick+spec(named), facts)), first.Functions()[0].West.Addresses[0]) {
			nat = named
		}
	}
	if nat == "" {
		t.Fatalf("no nat would have %s", first.Functions()[0].West.Addresses[0])
	}
	edit := quick + spec(nat, forward("c"))
	up(t, first)
	crosses(t, first)
	s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
	s.more(t, 100)
	second := planned(t, owner, edit)
	if slices.ContainsFunc(own(second), func(a netip.Addr) bool { return slices.Contains(first.Functions()[0].West.Addresses, a) }) {
		t.Errorf("both have %v", own(second))
	}
	for i := range 5 { // at once, since else none that stays meets both
		if _, err := (&deploy.Deployer{Move: true}).Up(t.Context(), map[bool]*plan.Plan{true: second, false: first}[i%2 == 0]); err != nil {
			t.Fatal(err)
		}
		s.more(t, 10)
	}
	drains(t, second)
	s.ends(t)
	for name, again := range map[string]*plan.Plan{"": planned(t, owner, edit), "before who left": planned(t, owner, quick+spec(nat, forward("b"), forward("c")))} {
		if !slices.Equal(own(again), own(second)) {
			t.Errorf("it has %v, and would have %v %s", own(second), own(again), name)
		}
	}
}
