package pass

import (
	"encoding/binary"
	"net/netip"
	"slices"
)

// tuple is a flow as tests of NATs know it.
type tuple struct {
	version, protocol, echo byte
	source, destination     netip.Addr
	ports                   [2]uint16
}

// Of ICMP's echo.
const (
	asks    = 1
	answers = 2
)

// answer is the flow of the answers.
func (t tuple) answer() tuple {
	back := t
	back.source, back.destination = t.destination, t.source
	back.ports = [2]uint16{t.ports[1], t.ports[0]}
	if t.echo != 0 {
		back.echo = asks + answers - t.echo
	}
	return back
}

// ported tells whether a protocol has ports that NATs translate.
func ported(protocol byte) bool { return slices.Contains([]byte{6, 17, 33, 136}, protocol) }

// isICMP is for the protocol of a version of IP.
func isICMP(version, protocol byte) bool {
	return version == 4 && protocol == 1 || version == 6 && protocol == 58
}

// parsed is a packet as a NAT looks at it.
type parsed struct {
	tuple
	at           int    // where the transport begins
	flags        byte   // of TCP
	id           uint32 // of its fragments
	first, later bool   // fragments
	none         bool   // the transport cannot be found, or begins too late
	cut          bool   // so, or its checksum is missing
	other        bool   // of ICMP
	quotes       int    // how far behind the transport's beginning an error, or a redirect, has a packet
	redirects    bool
}

// parse what begins with IP, whole or quoted.
func parse(ip []byte) (x parsed) {
	x.none, x.cut = true, true
	if len(ip) < 20 || len(ip) < 40 && ip[0]>>4 == 6 {
		return x
	}
	var known bool
	switch x.version = ip[0] >> 4; x.version {
	case 4:
		offset := binary.BigEndian.Uint16(ip[6:])
		x.first, x.later = offset&0x3fff == 0x2000, offset&0x1fff != 0
		x.id, x.at, x.protocol = uint32(binary.NativeEndian.Uint16(ip[4:])), 4*int(ip[0]&15), ip[9]
		x.source, x.destination = netip.AddrFrom4([4]byte(ip[12:])), netip.AddrFrom4([4]byte(ip[16:]))
		known = x.at >= 20
	case 6:
		x.at, x.protocol, _, known = transport(ip, 6)
		x.source, x.destination = netip.AddrFrom16([16]byte(ip[8:])), netip.AddrFrom16([16]byte(ip[24:]))
		if f := fragmentAt(ip); f > 0 && f+8 <= len(ip) {
			x.id = binary.NativeEndian.Uint32(ip[f+4:])
			x.later, known = binary.BigEndian.Uint16(ip[f+2:])&0xfff8 != 0, true
			x.first = !x.later
		}
	default:
		return x
	}
	if !known {
		return x
	}
	if x.later {
		x.protocol, x.none, x.cut = 0, false, false
		return x
	}
	x.transport(ip)
	return x
}

// fragmentAt finds the header of a fragment of IPv6; 0 is none.
func fragmentAt(ip []byte) int {
	at, next := 40, ip[6]
	for at+4 <= len(ip) {
		switch next {
		case 44:
			return at
		case 0, 43, 60, 135:
			at, next = at+8*(int(ip[at+1])+1), ip[at]
		default:
			return 0
		}
	}
	return 0
}

// transport reads ports, or what ICMP says.
func (x *parsed) transport(ip []byte) {
	rest := ip[min(x.at, len(ip)):]
	x.none = isICMP(x.version, x.protocol) && len(rest) < 8 || ported(x.protocol) && len(rest) < 4
	x.cut = x.none || x.sum() > 0 && len(rest) < x.sum()-x.at+2
	switch {
	case x.none:
	case isICMP(x.version, x.protocol):
		x.message(ip, rest)
	case ported(x.protocol):
		x.ports = [2]uint16{binary.BigEndian.Uint16(rest), binary.BigEndian.Uint16(rest[2:])}
		if x.protocol == 6 && len(rest) > 13 {
			x.flags = rest[13]
		}
	}
}

func (x *parsed) message(ip, icmp []byte) {
	kinds := map[byte][2]byte{4: {8, 0}, 6: {128, 129}}[x.version]
	id := binary.BigEndian.Uint16(icmp[4:])
	switch typ := icmp[0]; {
	case x.version == 4 && slices.Contains([]byte{13, 15, 17}, typ):
		x.echo, x.ports = asks, [2]uint16{id, uint16(typ)}
	case x.version == 4 && slices.Contains([]byte{14, 16, 18}, typ):
		x.echo, x.ports = answers, [2]uint16{uint16(typ) - 1, id}
	case typ == kinds[0]:
		x.echo, x.ports[0] = asks, id
	case typ == kinds[1]:
		x.echo, x.ports[1] = answers, id
	case x.version == 4 && slices.Contains([]byte{3, 4, 11, 12}, typ), x.version == 6 && typ < 128:
		x.quotes = 8
	case x.version == 4 && typ == 5:
		x.quotes, x.redirects = 8, true
	case x.version == 6 && typ == 137 && icmp[1] == 0 && ip[7] == 255 && x.source.IsLinkLocalUnicast() && len(icmp) > 41 && icmp[40] == 4 && icmp[41] > 0:
		x.quotes, x.redirects = 48, true
	default:
		x.other = true
	}
}

// sum is where the checksum is, from IP on, whether or not it is there; 0: there is none.
func (x *parsed) sum() int {
	switch {
	case x.later:
		return 0
	case x.protocol == 6:
		return x.at + 16
	case ported(x.protocol):
		return x.at + 6
	case isICMP(x.version, x.protocol):
		return x.at + 2
	}
	return 0
}

// become gives a packet the addresses and ports of a flow, and leaves checksums as they are.
func (x *parsed) become(ip []byte, to tuple) {
	if x.version == 4 {
		copy(ip[12:], to.source.AsSlice())
		copy(ip[16:], to.destination.AsSlice())
	} else {
		copy(ip[8:], to.source.AsSlice())
		copy(ip[24:], to.destination.AsSlice())
	}
	switch {
	case x.later:
	case x.echo == asks:
		binary.BigEndian.PutUint16(ip[x.at+4:], to.ports[0])
	case x.echo == answers:
		binary.BigEndian.PutUint16(ip[x.at+4:], to.ports[1])
	case ported(x.protocol):
		binary.BigEndian.PutUint16(ip[x.at:], to.ports[0])
		binary.BigEndian.PutUint16(ip[x.at+2:], to.ports[1])
	}
}

// ones adds up words in ones' complement, by the definition of RFC 1071: 0 is that all is right.
func ones(parts ...[]byte) uint32 {
	sum := uint32(0)
	for _, p := range parts {
		for i, b := range p {
			sum += uint32(b) << (8 * (1 - i%2))
			sum = sum&0xffff + sum>>16
		}
	}
	return sum % 0xffff
}

// pseudo header of what is behind IP (RFC 9293 section 3.1, RFC 8200 section 8.1).
func pseudo(t tuple, length int) []byte {
	h := slices.Concat(t.source.AsSlice(), t.destination.AsSlice())
	return append(h, byte(length>>24), byte(length>>16), byte(length>>8), byte(length), 0, 0, 0, t.protocol)
}

// layer tells where the checksums of a packet and of what it quotes are, and of each how wrong it is.
func layer(ip []byte, from int) (at []int, wrong []uint32) {
	x := parse(ip)
	if x.version == 4 && len(ip) >= 20 {
		at, wrong = append(at, from+10), append(wrong, ones(ip[:min(len(ip), 4*int(ip[0]&15))]))
	}
	sum := x.sum()
	if sum == 0 || len(ip) < sum+2 {
		return at, wrong
	}
	rest := ip[x.at:]
	at = append(at, from+sum)
	switch {
	case x.version == 4 && x.protocol == 1:
		wrong = append(wrong, ones(rest))
	case x.protocol == 17 && binary.BigEndian.Uint16(ip[sum:]) == 0:
		wrong = append(wrong, 1<<16) // there is none
	default:
		wrong = append(wrong, ones(pseudo(x.tuple, len(rest)), rest))
	}
	if x.quotes > 0 && !x.redirects {
		inner, how := layer(rest[8:], from+x.at+8)
		at, wrong = append(at, inner...), append(wrong, how...)
	}
	return at, wrong
}

// trimmed is IP without what pads its frame.
func trimmed(ip []byte) []byte {
	length := 40 + int(binary.BigEndian.Uint16(ip[4:]))
	if ip[0]>>4 == 4 {
		length = int(binary.BigEndian.Uint16(ip[2:]))
	}
	return ip[:min(length, len(ip))]
}

// packet of a flow, with right checksums, but for UDP without any.
func (t tuple) packet(payload []byte, summed bool) []byte {
	l4 := payload
	switch {
	case t.echo != 0:
		kinds := map[byte][3]byte{4: {0, 8, 0}, 6: {0, 128, 129}}[t.version]
		id, kind := t.ports[t.echo-1], kinds[t.echo]
		if other := t.ports[2-t.echo]; other != 0 {
			kind = byte(other) + t.echo - 1
		}
		l4 = append([]byte{kind, 0, 0, 0, byte(id >> 8), byte(id), 0, 1}, payload...)
	case t.protocol == 6:
		l4 = append(ports(t.ports[0], t.ports[1]), payload...)
	case ported(t.protocol):
		l4 = append(ports(t.ports[0], t.ports[1])[:8], payload...)
		binary.BigEndian.PutUint16(l4[4:], uint16(len(l4)))
	}
	return t.over(l4, summed)
}

// segment of TCP.
func (t tuple) segment(flags byte, payload []byte) []byte {
	l4 := ports(t.ports[0], t.ports[1])
	l4[13] = flags
	return t.over(append(l4, payload...), true)
}

// over IP, with a right checksum.
func (t tuple) over(l4 []byte, summed bool) []byte {
	var ip []byte
	if t.version == 4 {
		ip = ipv4(t.protocol, 0, 0, nil, len(l4))
		copy(ip[12:], slices.Concat(t.source.AsSlice(), t.destination.AsSlice()))
		binary.BigEndian.PutUint16(ip[10:], 0)
		binary.BigEndian.PutUint16(ip[10:], ^uint16(ones(ip)))
	} else {
		ip = ipv6(t.protocol, 0, len(l4))
		copy(ip[8:], slices.Concat(t.source.AsSlice(), t.destination.AsSlice()))
	}
	ip = append(ip, l4...)
	if x := parse(ip); summed && !x.cut && x.sum() > 0 {
		binary.BigEndian.PutUint16(ip[x.sum():], 0)
		_, wrong := layer(ip, 0)
		i := 0
		if t.version == 4 {
			i = 1
		}
		sum := ^uint16(wrong[i])
		if t.protocol == 17 { // what was left out was not counted
			sum = ^uint16(ones(pseudo(t, len(l4)), l4))
		}
		binary.BigEndian.PutUint16(ip[x.sum():], sum)
	}
	return ip
}
