package deploy_test

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// walled is a firewall without a namespace.
func walled(direction, options string) string {
	return "{name: fw, kind: firewall, runtime: inline, direction: " + direction + ", firewall: {" + options + "}}"
}

// dropping are the options of a firewall that drops what is sent to a TCP port.
func dropping(port int) string {
	return fmt.Sprintf("rules: {list: [{protocol: tcp, destination_port: %d, action: drop}]}", port)
}

// TestInlineFirewallFilters what the one of a namespace does (TestFirewallFilters).
func TestInlineFirewallFilters(t *testing.T) {
	needsForwarder(t)
	const rules = "rules: {generate: 20, stateful: true, list: [" +
		"{protocol: tcp, destination_port: 80, action: drop, comment: web}, {protocol: udp, destination_port: 5000-6000, action: drop, comment: voice}]}"
	for _, direction := range []string{"both", "forward", "reverse"} {
		t.Run(direction, func(t *testing.T) {
			p := planned(t, nstest.Owner(t), "wiring: ebpf\n"+spec(walled(direction, rules)))
			downAfter(t, p.Chain)
			up(t, p)
			unchanged(t, p)
			crosses(t, p)
			filters(t, p, p.Client(), p.Server(), direction != "reverse")
			filters(t, p, p.Server(), p.Client(), direction != "forward")
			for i, c := range decided(t, p).Rules {
				if named := i >= 20; named != (c.Packets > 0) || named != (c.Comment != "") {
					t.Errorf("rule %+v", c)
				}
			}
		})
	}
}

// TestInlineFirewallsShareConnections: one that asks for states knows of both ways, beside one that is on one
// way alone.
func TestInlineFirewallsShareConnections(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	const stateful = "policy: drop, rules: {list: [{state: [established], action: accept}, {protocol: tcp, destination_port: 7014, action: accept}]}"
	p := planned(t, owner, "wiring: ebpf\n"+spec(
		"{name: once, kind: firewall, runtime: inline, direction: forward, firewall: {rules: {list: [{protocol: tcp, destination_port: 7016, action: drop}]}}}",
		walled("both", stateful)))
	up(t, p)
	unchanged(t, p)
	client, server := p.Client(), p.Server()
	for _, to := range addresses(p, client.Name, server.Name) {
		if !reaches(t, "tcp", client.Namespace, server.Namespace, to, 7014, long) {
			t.Errorf("no connection to %s was opened that the rules let be", to)
		}
	}
}

// decided by the rules of the first function, which is an inline firewall.
func decided(t *testing.T, p *plan.Plan) ruleset.Counters {
	t.Helper()
	return decidedBy(t, p, p.Inline[0].Name)
}

// decidedBy the rules of an inline firewall.
func decidedBy(t *testing.T, p *plan.Plan, name string) ruleset.Counters {
	t.Helper()
	i := slices.IndexFunc(p.Inline, func(f plan.Inline) bool { return f.Name == name })
	s, rules := p.Inline[i].Firewall(p)
	if rules == nil {
		t.Fatalf("%+v is no firewall", p.Inline)
	}
	c, found, err := pass.RulesAt(resource.At(nstest.Open(t, p.Between()), p.Chain), s.Device, *rules)
	if err != nil || !found {
		t.Fatalf("its rules are there: %t; %v", found, err)
	}
	return c
}

// TestInlineFirewallKeepsConnections: one that is open goes on while rules, the nodes around and the
// other functions change; none is opened that the rules do not let be.
func TestInlineFirewallKeepsConnections(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	const (
		state = "{state: [established, related], action: accept}"
		open  = "policy: drop, rules: {list: [" + state + ", {protocol: tcp, destination_port: 7014, action: accept}]}"
		shut  = "policy: drop, rules: {list: [" + state + ", {protocol: tcp, destination_port: 7015, action: accept}]}"
	)
	chain := func(functions ...string) *plan.Plan { return planned(t, owner, "wiring: ebpf\n"+spec(functions...)) }
	for i, direction := range []string{"both", "forward"} {
		p := chain(walled(direction, open))
		up(t, p)
		client, server := p.Client(), p.Server()
		to := addresses(p, client.Name, server.Name)[i] // of another family each
		c := echoed(t, p, to)
		for _, functions := range [][]string{
			{walled(direction, shut)}, {inline("before"), walled(direction, shut), inline("behind")},
			{walled(direction, shut), forward("a"), inline("behind")}, {forward("b"), walled(direction, shut)},
			{forward("b"), walled(direction, open)}, {walled(direction, shut)},
		} {
			p = chain(functions...)
			up(t, p)
			unchanged(t, p)
			c.goesOn(t)
		}
		if reaches(t, "tcp", client.Namespace, server.Namespace, to, 7016, short) {
			t.Errorf("a connection to %s was opened that no rule lets be", to)
		}
		if !reaches(t, "tcp", client.Namespace, server.Namespace, to, 7015, long) || decided(t, p).Rules[1].Packets == 0 {
			t.Errorf("no connection to %s was opened that a rule lets be", to)
		}
		patience := map[bool]time.Duration{true: short, false: long}[direction == "both"]
		back := addresses(p, server.Name, client.Name)[i]
		if got := reaches(t, "tcp", server.Namespace, client.Namespace, back, 7016, patience); got != (direction == "forward") {
			t.Errorf("%s: from the server a connection to %s is opened: %t", direction, back, got)
		}
	}
}

// TestInlineRulesChangeLosingNothing: a firewall is put in, given other rules and taken out while packets
// pass, a thousand a second, and each of them comes once.
func TestInlineRulesChangeLosingNothing(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	chain := func(functions ...string) *plan.Plan {
		return planned(t, owner, "wiring: ebpf\n"+spec(append(functions, forward("a"))...))
	}
	first := chain()
	up(t, first)
	crosses(t, first)
	s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
	for _, options := range []string{
		"rules: {list: [{protocol: udp, destination_port: 7013, action: accept}]}",
		"policy: drop, rules: {list: [{protocol: udp, state: [new, established], action: accept}]}",
		"policy: drop, rules: {list: [{protocol: udp, action: accept}, {state: [invalid], action: drop}]}",
	} {
		for _, direction := range []string{"both", "forward"} {
			s.more(t, 50)
			p := chain(walled(direction, options))
			up(t, p)
			unchanged(t, p)
			for until := time.Now().Add(time.Minute); decided(t, p).Rules[0].Packets == 0; s.more(t, 1) {
				if time.Now().After(until) {
					t.Fatalf("no packet meets the rules of %s", options)
				}
			}
		}
	}
	up(t, chain())
	s.more(t, 50)
	s.ends(t)
}

// conversation over a connection whose other end says all again.
type conversation struct {
	net.Conn
	from string // as the other end has it
}

func echoed(t *testing.T, p *plan.Plan, to netip.Addr) conversation {
	t.Helper()
	return echoedAt(t, p, netip.AddrPortFrom(to, 7014), netip.AddrPortFrom(to, 7014))
}

// echoedAt is echoed where the server has another address, or port, than the client knows.
func echoedAt(t *testing.T, p *plan.Plan, to, at netip.AddrPort) conversation {
	t.Helper()
	var l net.Listener
	var c conversation
	inside(t, p.Server().Namespace, func() (err error) { l, err = net.Listen("tcp", at.String()); return })
	t.Cleanup(func() { _ = l.Close() })
	inside(t, p.Client().Namespace, func() (err error) { c.Conn, err = net.DialTimeout("tcp", to.String(), time.Minute); return })
	t.Cleanup(func() { _ = c.Close() })
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	c.from = far.RemoteAddr().String()
	t.Cleanup(func() { _ = far.Close() })
	go func() { _, _ = io.Copy(far, far) }()
	c.goesOn(t)
	return c
}

// goesOn both ways.
func (c conversation) goesOn(t *testing.T) {
	t.Helper()
	if err := c.again(); err != nil {
		t.Fatal(err)
	}
}

// again says something and hears it.
func (c conversation) again() error {
	said := strings.Repeat("again ", 1000)
	heard := make([]byte, len(said))
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, said); err != nil {
		return err
	}
	if n, err := io.ReadFull(c, heard); err != nil || string(heard) != said {
		return fmt.Errorf("heard %d bytes of %d: %w", n, len(said), err)
	}
	return nil
}
