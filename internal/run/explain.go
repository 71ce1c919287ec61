package run

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/trace"
)

// FlowWords are a flow as a person writes it.
type FlowWords struct {
	// Protocol is one that rules of a classifier may name, by its name or number; icmp is that of either version of IP.
	Protocol string
	// From and To are a node or an address, with a port where the protocol has them, as in client, server:443, 198.18.0.1 and
	// [2001:2::1]:443. A flow begins at an end; its own port may be left out.
	From, To string
	// Ingress is the end where it comes in; then From may be any address, as of who is behind that end. "" is the end that From is.
	Ingress string
	// DSCP is a code point, as rules have them, and VLAN an identifier; "" and none are packets without.
	DSCP, VLAN string
}

// FlowOf a chain, from its words.
func FlowOf(p *plan.Plan, w FlowWords) (trace.Flow, error) {
	var f trace.Flow
	from, to := w.From, w.To
	if err := w.marks(&f); err != nil {
		return f, err
	}
	number, err := api.Protocol(w.Protocol).Number()
	if err != nil {
		return f, fmt.Errorf("%w: %w", err, ErrInput)
	}
	f.Protocol = api.ProtocolOf(number)
	ported := f.Protocol.Ported()
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
		return f, fmt.Errorf("%s has no ports; write %s and %s without: %w", f.Protocol.Text(), source, target, ErrInput)
	case ported && port == 0:
		return f, fmt.Errorf("say which port it goes to, as in %s: %w", withPort(target), ErrInput)
	}
	begins, own, err := beginsAt(p, source, w.Ingress)
	if own, port, is := unbracketed(source); err != nil && ported && is {
		return f, fmt.Errorf("an address and a port of IPv6 are written [%s]:%s: %w", own, port, err)
	}
	if err != nil {
		return f, err
	}
	f.Reverse = begins.Name == p.Server().Name
	goes := addressesFrom(p, begins, target)
	if len(goes) == 0 {
		return f, fmt.Errorf("%q is neither an address nor a node of the chain that has one: %w", target, ErrInput)
	}
	version := f.Protocol.Version()
	if f.Protocol == "icmp" {
		version = 0
	}
	for _, a := range goes {
		for _, own := range own {
			if a.Is4() == own.Is4() && (version == 0 || a.Is4() == (version == 4)) {
				f.From, f.To = netip.AddrPortFrom(own, sourcePort), netip.AddrPortFrom(a, port)
				f.Goal = functionAt(p, target, a)
				return f.WithPort(), nil
			}
		}
	}
	if version != 0 {
		return f, fmt.Errorf("%s and %s do not both have addresses of IPv%d, and flows of %s are of that alone: %w", source, target, version, f.Protocol.Text(), ErrInput)
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
	if own, port, is := unbracketed(text); is {
		return text, 0, fmt.Errorf("%q: an address and a port of IPv6 are written with brackets, [%s]:%s: %w", text, own, port, ErrInput)
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

// unbracketed is an address of IPv6 with a port behind it as it is written with one of IPv4; it may be an address as a whole, too.
func unbracketed(text string) (own, port string, is bool) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return "", "", false
	}
	own, port = text[:at], text[at+1:]
	a, err := netip.ParseAddr(own)
	n, wrong := strconv.ParseUint(port, 10, 16)
	return own, port, err == nil && a.Is6() && wrong == nil && n > 0
}

// withPort is an end with a port, as a person may have meant it.
func withPort(end string) string {
	const web = "80"
	if own, port, is := unbracketed(end); is {
		return fmt.Sprintf("[%s]:%s", own, port)
	}
	return net.JoinHostPort(end, web)
}

// marks that packets of the flow bear.
func (w FlowWords) marks(f *trace.Flow) (err error) {
	if w.DSCP != "" {
		if f.CodePoint, err = api.ParseCodePoint(w.DSCP); err != nil {
			return fmt.Errorf("--dscp: %w: %w", err, ErrInput)
		}
	}
	all, err := api.VLANs(w.VLAN).Parse()
	switch {
	case err != nil:
		return fmt.Errorf("--vlan: %w: %w", err, ErrInput)
	case len(all) > 1 || len(all) == 1 && all[0].First != all[0].Last:
		return fmt.Errorf("--vlan: a packet is of one VLAN, not of %s: %w", w.VLAN, ErrInput)
	case len(all) == 1 && all[0].First != api.Untagged:
		f.Tagged, f.VLAN = true, all[0].First
	}
	return nil
}

// beginsAt is the end that a flow begins at, and the addresses that it may come from.
func beginsAt(p *plan.Plan, source, ingress string) (plan.Node, []netip.Addr, error) {
	ends := []plan.Node{p.Client(), p.Server()}
	if ingress != "" {
		ends = slices.DeleteFunc(ends, func(n plan.Node) bool { return !n.Has(ingress) })
		if len(ends) == 0 {
			return plan.Node{}, nil, fmt.Errorf("--ingress: %q is neither of the chain's ends, %s and %s: %w", ingress, p.Client().Name, p.Server().Name, ErrInput)
		}
		if a, err := netip.ParseAddr(source); err == nil {
			return ends[0], []netip.Addr{a}, nil
		}
		for _, n := range p.Nodes {
			if n.Means(source) {
				return ends[0], addressesOf(n), nil
			}
		}
		return plan.Node{}, nil, fmt.Errorf("%q is neither an address nor a node of the chain that has one: %w", source, ErrInput)
	}
	for _, n := range ends {
		if own := meant(source, n); len(own) > 0 {
			return n, own, nil
		}
	}
	return plan.Node{}, nil, fmt.Errorf("%q is neither of the chain's ends, %s and %s, nor an address of theirs, and flows begin there; say --ingress where it comes from behind one: %w", source, p.Client().Name, p.Server().Name, ErrInput)
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

// addressesFrom an end, of what a word names: those that the name resolves to there, which are on the function's side that
// faces the end, and of the other end may be a function's.
func addressesFrom(p *plan.Plan, from plan.Node, word string) (all []netip.Addr) {
	if a, err := netip.ParseAddr(word); err == nil {
		return []netip.Addr{a}
	}
	i := slices.IndexFunc(p.Nodes, func(n plan.Node) bool { return n.Means(word) })
	if i < 0 {
		return nil
	}
	for _, h := range p.Hosts(from.Name) {
		if h.Name == p.Nodes[i].InFile() { // as which replicas are reached, too
			all = append(all, h.Address)
		}
	}
	return all
}

// functionAt is the function whose own address a flow goes to that a word is for; "" where that is an end, or nobody known.
func functionAt(p *plan.Plan, word string, a netip.Addr) string {
	if p.Client().Has(word) || p.Server().Has(word) {
		return "" // at an address that a function translates
	}
	for _, n := range p.Functions() {
		if slices.Contains(addressesOf(n), a) {
			return n.Function()
		}
	}
	return ""
}
