package deploy_test

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// TestNATTranslates sends to where the client reaches the server, and looks where it
// arrives from; connections of the server's are left alone.
func TestNATTranslates(t *testing.T) {
	needs(t)
	nstest.Require(t, feature.NFTNAT)
	for name, nat := range map[string]string{
		"own":        "nat: {source: {}, destination: {}}",
		"masquerade": "nat: {source: {masquerade: true}, destination: {protocol: udp, port: 80, to_port: 8080}}",
		"public":     `nat: {source: {addresses: [203.0.113.1, "2001:db8::1"]}, destination: {addresses: [203.0.113.2, "2001:db8::2"]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			p := planned(t, nstest.Owner(t), spec(forward("a"), "{name: nat, kind: nat, "+nat+"}", forward("b")))
			downAfter(t, p.Chain)
			up(t, p)
			unchanged(t, p)
			crosses(t, p)
			s := p.Reached()
			for i, to := range s.Addresses {
				if slices.Contains(p.Server().West.Addresses, to) || !slices.Contains(addresses(p, "client", "server"), to) {
					t.Errorf("the client reaches the server at %s, and knows it as %v", to, addresses(p, "client", "server"))
				}
				at := netip.AddrPortFrom(s.Served[i], max(s.ToPort, 80))
				if from := arrives(t, p.Client(), p.Server(), netip.AddrPortFrom(to, 80), at); from != s.Source[i] {
					t.Errorf("to %s it arrives from %s, want %s", to, from, s.Source[i])
				}
				client := addresses(p, "server", "client")[i]
				if from := arrives(t, p.Server(), p.Client(), netip.AddrPortFrom(client, 80), netip.AddrPortFrom(client, 80)); from != p.Server().West.Addresses[i] {
					t.Errorf("to the client it arrives from %s", from)
				}
			}
			connections := translated(t, p, p.Functions()[1])
			if connections < 4 { // each address: the destination and the source
				t.Errorf("%d translations were counted", connections)
			}
		})
	}
}

// arrives sends a datagram, tells what it came from, and sends an answer back.
func arrives(t *testing.T, from, to plan.Node, dst, at netip.AddrPort) netip.Addr {
	t.Helper()
	var far, near *net.UDPConn
	inside(t, to.Namespace, func() (err error) { far, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(at)); return })
	defer func() { _ = far.Close() }()
	inside(t, from.Namespace, func() (err error) { near, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(dst)); return })
	defer func() { _ = near.Close() }()
	var source netip.AddrPort
	var err error
	for range 10 { // a machine that is full of others' packets may lose one
		if source, err = answered(near, far); err == nil {
			return source.Addr().Unmap()
		}
	}
	t.Fatalf("from %s to %s, source %s: %v", from.Name, dst, source, err)
	return netip.Addr{}
}

// answered sends a datagram from one end and an answer from the other, and gives the source
// of the first as the other end has it.
func answered(near, far *net.UDPConn) (source netip.AddrPort, err error) {
	if _, err = near.Write([]byte("ask")); err != nil {
		return source, err
	}
	_ = far.SetReadDeadline(time.Now().Add(time.Second))
	if _, source, err = far.ReadFromUDPAddrPort(make([]byte, 16)); err != nil {
		return source, err
	}
	if _, err = far.WriteToUDPAddrPort([]byte("answer"), source); err != nil {
		return source, err
	}
	_ = near.SetReadDeadline(time.Now().Add(time.Second))
	_, err = near.Read(make([]byte, 16))
	return source, err
}

// translated is how many connections a node's rules translated.
func translated(t *testing.T, p *plan.Plan, n plan.Node) (sum uint64) {
	t.Helper()
	at := resource.At(nstest.Open(t, n.Namespace), p.Chain)
	for _, r := range p.Resources {
		if s, is := r.Spec.(ruleset.Spec); is && r.Namespace == n.Namespace {
			counters, err := ruleset.Count(at, s)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range counters.Rules {
				sum += c.Packets
			}
		}
	}
	return sum
}

// TestNATChanges from one kind of translation to another and away.
func TestNATChanges(t *testing.T) {
	needs(t)
	nstest.Require(t, feature.NFTNAT)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	for _, nat := range []string{"nat: {source: {}}", "nat: {destination: {addresses: [203.0.113.2]}}", "nat: {source: {masquerade: true}}"} {
		p := planned(t, owner, spec(forward("a"), "{name: nat, kind: nat, "+nat+"}"))
		up(t, p)
		unchanged(t, p)
		crosses(t, p)
	}
	p := planned(t, owner, spec(forward("a"), forward("nat")))
	up(t, p)
	unchanged(t, p)
	if out := sh(t, fmt.Sprintf("ip netns exec %s nft list ruleset", p.Functions()[1].Namespace)); out != "" {
		t.Errorf("left:\n%s", out)
	}
}
