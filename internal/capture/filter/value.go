package filter

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// host is that a packet is from or to an address, or one of those that a name has.
func host(p *parser, q qualifiers, value string) (node, error) {
	addresses := p.names[value]
	if a, err := netip.ParseAddr(value); err == nil {
		addresses = []netip.Addr{a.Unmap()}
	}
	if len(addresses) == 0 {
		return nil, fmt.Errorf("%q is neither an address nor a node of the chain; "+
			"hosts, nets, ports, portranges, protos, less and greater can be told, ip, ip6, arp, rarp, tcp, udp, sctp, icmp and icmp6, with src, dst, and, or, not", value)
	}
	var all some
	for _, a := range addresses {
		if n := of(q, netip.PrefixFrom(a, a.BitLen())); n != nil {
			all = append(all, n)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no address of %s", value, q.protocol)
	}
	return all, nil
}

// of is that a packet is from or to a network, nil where the protocol has none such.
func of(q qualifiers, p netip.Prefix) node {
	if fits := map[string]bool{"": true, "ip": p.Addr().Is4(), "arp": p.Addr().Is4(), "rarp": p.Addr().Is4(), "ip6": p.Addr().Is6()}; !fits[q.protocol] {
		return nil
	}
	return network(q.protocol, q.side, p)
}

// net is that a packet is from or to a network.
func net(_ *parser, q qualifiers, value string) (node, error) {
	prefix, err := netip.ParsePrefix(value)
	if err != nil {
		return nil, fmt.Errorf("%q is not a network; write one as 198.18.0.0/15", value)
	}
	n := of(q, prefix)
	if n == nil {
		return nil, fmt.Errorf("%s is no network of %s", value, q.protocol)
	}
	return n, nil
}

// carriers are protocols that have ports.
var carriers = map[string][]uint32{"": {tcp, udp, sctp}, "tcp": {tcp}, "udp": {udp}, "sctp": {sctp}}

// portrange is that a packet is from or to a port, or one of several.
func portrange(_ *parser, q qualifiers, value string) (node, error) {
	by, has := carriers[q.protocol]
	if !has {
		return nil, fmt.Errorf("%s has no ports; tcp, udp and sctp do", q.protocol)
	}
	first, last := value, value
	if q.kind == "portrange" {
		var is bool
		if first, last, is = strings.Cut(value, "-"); !is {
			return nil, fmt.Errorf("%q is not a range of ports; write one as 5000-6000", value)
		}
	}
	low, err := number(first, 16)
	if err != nil {
		return nil, err
	}
	high, err := number(last, 16)
	if err != nil {
		return nil, err
	}
	return ports(by, q.side, min(low, high), max(low, high)), nil
}

// proto is that a packet of IP carries a protocol.
func proto(_ *parser, q qualifiers, value string) (node, error) {
	n, err := number(value, 8)
	if err != nil {
		return nil, err
	}
	switch {
	case q.side != either:
		return nil, errors.New("a proto is neither src nor dst")
	case q.protocol == "ip":
		return carries4(n), nil
	case q.protocol == "ip6":
		return carries6(n), nil
	case q.protocol == "":
		return some{carries6(n), carries4(n)}, nil
	}
	return nil, fmt.Errorf("a proto is one of ip or ip6, not of %s", q.protocol)
}
