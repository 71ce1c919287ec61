package run

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/trace"
)

// FlowOf a chain, from a protocol and where it begins and goes to: a node or an address,
// with a port where the protocol has them, as in client, server:443, 198.18.0.1 and
// [2001:2::1]:443. A flow begins at an end; its own port may be left out.
func FlowOf(p *plan.Plan, protocol, from, to string) (trace.Flow, error) {
	f := trace.Flow{Protocol: protocol}
	ported, known := map[string]bool{"tcp": true, "udp": true, "icmp": false}[protocol]
	if !known {
		return f, fmt.Errorf("%q is no protocol that can be explained; write tcp, udp or icmp: %w", protocol, ErrInput)
	}
	source, sourcePort, err := readEnd(from)
	if err != nil {
		return f, err
	}
	target, port, err := readEnd(to)
	if err != nil {
		return f, err
	}
	switch {
	case !ported && (port != 0 || sourcePort != 0):
		return f, fmt.Errorf("icmp has no ports; write %s and %s without: %w", source, target, ErrInput)
	case ported && port == 0:
		return f, fmt.Errorf("say which port it goes to, as in %s:80: %w", target, ErrInput)
	}
	begins, err := beginsAt(p, source)
	if err != nil {
		return f, err
	}
	f.Reverse = begins.Name == p.Server().Name
	goes := addressesFrom(p, f.Reverse, target)
	if len(goes) == 0 {
		return f, fmt.Errorf("%q is neither an address nor a node of the chain that has one: %w", target, ErrInput)
	}
	for _, a := range goes {
		for _, own := range meant(source, begins) {
			if a.Is4() == own.Is4() {
				f.From, f.To = netip.AddrPortFrom(own, sourcePort), netip.AddrPortFrom(a, port)
				return f.WithPort(), nil
			}
		}
	}
	return f, fmt.Errorf("%s and %s have no addresses of one family: %w", source, target, ErrInput)
}

// readEnd of a flow: a node or an address, and the port, 0 if there is none.
func readEnd(text string) (end string, port uint16, err error) {
	if a, err := netip.ParseAddrPort(text); err == nil {
		return a.Addr().Unmap().String(), a.Port(), nil
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return a.Unmap().String(), 0, nil
	}
	name, number, has := strings.Cut(text, ":")
	if !has {
		return name, 0, nil
	}
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil || n == 0 {
		return name, 0, fmt.Errorf("%q: %q is not a port from 1 to 65535: %w", text, number, ErrInput)
	}
	return name, uint16(n), nil
}

// beginsAt is the end that a flow begins at.
func beginsAt(p *plan.Plan, source string) (plan.Node, error) {
	for _, n := range []plan.Node{p.Client(), p.Server()} {
		if len(meant(source, n)) > 0 {
			return n, nil
		}
	}
	return plan.Node{}, fmt.Errorf("%q is neither of the chain's ends, %s and %s, nor an address of theirs, and flows begin there: %w", source, p.Client().Name, p.Server().Name, ErrInput)
}

// meant are the addresses of a node that a word means: all if it is its name.
func meant(word string, n plan.Node) []netip.Addr {
	all := addressesOf(n)
	if n.Has(word) {
		return all
	}
	a, err := netip.ParseAddr(word)
	if err != nil || !slices.Contains(all, a) {
		return nil
	}
	return []netip.Addr{a}
}

// addressesFrom an end, of what a word names: the last end is reached from the first at
// addresses that may be a function's.
func addressesFrom(p *plan.Plan, reverse bool, word string) []netip.Addr {
	if a, err := netip.ParseAddr(word); err == nil {
		return []netip.Addr{a}
	}
	if word == p.Server().Name && !reverse {
		return p.Reached().Addresses
	}
	for _, n := range p.Nodes {
		if n.Has(word) {
			return addressesOf(n)
		}
	}
	return nil
}
