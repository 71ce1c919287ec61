package filter

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/net/bpf"
)

// Where an Ethernet frame has what is asked for.
const (
	typeAt = 12
	// of IPv4
	fragmentAt, protocolAt, source4, destination4 = 14 + 6, 14 + 9, 14 + 12, 14 + 16
	header4                                       = 14
	// of IPv6
	nextAt, source6, destination6, behind6 = 14 + 6, 14 + 8, 14 + 24, 14 + 40
	// of ARP and RARP, for Ethernet and IPv4
	sender, target = 14 + 14, 14 + 24
)

// Numbers of protocols.
const (
	tcp, udp, sctp, icmp, icmp6, fragment = 6, 17, 132, 1, 58, 44
)

// The types of frames.
var (
	isIP   = equals(typeAt, 2, 0x0800)
	isIP6  = equals(typeAt, 2, 0x86dd)
	isARP  = equals(typeAt, 2, 0x0806)
	isRARP = equals(typeAt, 2, 0x8035)
)

// side of a packet that is meant.
type side int

const (
	either side = iota
	source
	destination
)

// of gives the condition on the side that is meant, or on one of both.
func (s side) of(from, to node) node {
	switch s {
	case source:
		return from
	case destination:
		return to
	}
	return some{from, to}
}

// within is that an address at a place is in a network.
func within(at uint32, p netip.Prefix) node {
	var parts every
	bytes := p.Masked().Addr().AsSlice()
	for i := 0; i*8 < p.Bits(); i += 4 {
		mask := ^uint32(0)
		if left := p.Bits() - i*8; left < 32 {
			mask <<= 32 - left
		}
		load := []bpf.Instruction{bpf.LoadAbsolute{Off: at + uint32(i), Size: 4}, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: mask}}
		parts = append(parts, test{load, bpf.JumpEqual, binary.BigEndian.Uint32(bytes[i:])})
	}
	return parts
}

// network is that a packet is from or to one, and of a kind where one is named.
func network(kind string, s side, p netip.Prefix) node {
	if p.Addr().Is6() {
		return every{isIP6, s.of(within(source6, p), within(destination6, p))}
	}
	inARP := s.of(within(sender, p), within(target, p))
	var all some
	for _, one := range []struct {
		kind  string
		is    node
		sides node
	}{{"ip", isIP, s.of(within(source4, p), within(destination4, p))}, {"arp", isARP, inARP}, {"rarp", isRARP, inARP}} {
		if kind == "" || kind == one.kind {
			all = append(all, every{one.is, one.sides})
		}
	}
	return all
}

// carries4 and carries6 are that a packet of IP carries a protocol; of IPv6, also as its
// first fragment says.
func carries4(protocol uint32) node { return every{isIP, equals(protocolAt, 1, protocol)} }

func carries6(protocol uint32) node {
	return every{isIP6, some{
		equals(nextAt, 1, protocol),
		every{equals(nextAt, 1, fragment), equals(behind6, 1, protocol)},
	}}
}

// ports is that a port of a packet is one from low to high. Fragments behind the first
// have none, and behind further headers of IPv6 none is looked for.
func ports(protocols []uint32, s side, low, high uint32) node {
	whole := test{[]bpf.Instruction{bpf.LoadAbsolute{Off: fragmentAt, Size: 2}}, bpf.JumpBitsNotSet, 0x1fff}
	var by4, by6 some
	for _, p := range protocols {
		by4 = append(by4, equals(protocolAt, 1, p))
		by6 = append(by6, equals(nextAt, 1, p))
	}
	behind := func(offset uint32) node {
		return between(low, high, bpf.LoadMemShift{Off: header4}, bpf.LoadIndirect{Off: header4 + offset, Size: 2})
	}
	at := func(offset uint32) node {
		return between(low, high, bpf.LoadAbsolute{Off: behind6 + offset, Size: 2})
	}
	return some{
		every{isIP6, by6, s.of(at(0), at(2))},
		every{isIP, by4, whole, s.of(behind(0), behind(2))},
	}
}

// between is that what is loaded is from low to high.
func between(low, high uint32, load ...bpf.Instruction) node {
	if low == high {
		return test{load, bpf.JumpEqual, low}
	}
	return every{test{load, bpf.JumpGreaterOrEqual, low}, test{load, bpf.JumpLessOrEqual, high}}
}
