package function_test

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"nfchain.dev/nfchain/bpf/framestest"
)

// The protocols of packets; icmp is that of the packet's family.
const (
	tcp  = 6
	udp  = 17
	icmp = 1
)

// Flags of TCP.
const (
	syn = 2
	ack = 16
)

// packet that comes to a function, or goes on.
type packet struct {
	protocol byte
	// from and to with ports. Of an echo the one who asks has its number for a port.
	from, to netip.AddrPort
	answers  bool
	flags    byte
	// about is the packet that this is an error about.
	about   *packet
	payload []byte
}

// String tells who sends it to whom.
func (p packet) String() string {
	text := fmt.Sprintf("%d from %s to %s, flags %d, answers %t, %x", p.protocol, p.from, p.to, p.flags, p.answers, p.payload)
	if p.about != nil {
		text += " about " + p.about.String()
	}
	return text
}

// answer to a packet.
func (p packet) answer() packet {
	p.from, p.to, p.answers = p.to, p.from, p.protocol == icmp && !p.answers
	return p
}

// bytes of it, from the IP header on.
func (p packet) bytes() []byte {
	number, l4 := p.protocol, []byte(nil)
	switch six := p.from.Addr().Is6(); p.protocol {
	case tcp:
		l4 = framestest.Ports(p.from.Port(), p.to.Port())
		l4[13] = p.flags
	case udp:
		l4 = framestest.Ports(p.from.Port(), p.to.Port())[:8]
		binary.BigEndian.PutUint16(l4[4:], uint16(8+len(p.payload)))
	default:
		id, kinds := p.from.Port(), []byte{8, 0, 3}
		if six {
			number, kinds = 58, []byte{128, 129, 1}
		}
		kind := kinds[0]
		if p.answers {
			id, kind = p.to.Port(), kinds[1]
		}
		if p.about != nil {
			id, kind = 0, kinds[2]
		}
		l4 = binary.BigEndian.AppendUint16([]byte{kind, 0, 0, 0}, id)
		l4 = append(l4, 0, 0)
	}
	if p.about != nil {
		l4 = append(l4, p.about.bytes()...)
	}
	return p.over(number, append(l4, p.payload...))
}

// over IP, with right checksums.
func (p packet) over(number byte, l4 []byte) []byte {
	at := map[byte]int{tcp: 16, udp: 6, icmp: 2, 58: 2}[number]
	if sum := p.sum(number, l4); number != udp || sum != 0xffff {
		binary.BigEndian.PutUint16(l4[at:], uint16(0xffff-sum))
	}
	from, to := p.from.Addr().AsSlice(), p.to.Addr().AsSlice()
	if p.from.Addr().Is6() {
		h := framestest.IPv6(number, 0, len(l4))
		copy(h[8:], slices.Concat(from, to))
		return append(h, l4...)
	}
	h := framestest.IPv4(number, 0, 0, nil, len(l4))
	copy(h[12:], slices.Concat(from, to))
	copy(h[10:], []byte{0, 0})
	binary.BigEndian.PutUint16(h[10:], uint16(0xffff-framestest.Sum(h)))
	return append(h, l4...)
}

// sum of the transport and what belongs to it of IP: 0 where its checksum is right.
func (p packet) sum(number byte, l4 []byte) uint32 {
	pseudo := slices.Concat(p.from.Addr().AsSlice(), p.to.Addr().AsSlice(), []byte{0, 0, byte(len(l4) >> 8), byte(len(l4)), 0, 0, 0, number})
	if number == icmp {
		pseudo = nil
	}
	return framestest.Sum(slices.Concat(pseudo, l4, make([]byte, len(l4)%2)))
}

// parsed from bytes whose checksums are right.
func parsed(t *testing.T, b []byte) *packet {
	t.Helper()
	p, l4, number := read(b), b[20:], b[9]
	if p.from.Addr().Is6() {
		l4, number = b[40:], b[6]
	} else if framestest.Sum(b[:20]) != 0 {
		t.Fatalf("the checksum of IP in %x is wrong", b)
	}
	if p.sum(number, l4) != 0 {
		t.Fatalf("the checksum of the transport in %x is wrong", b)
	}
	return p
}

// read the headers of a packet.
func read(b []byte) *packet {
	var p packet
	var from, to netip.Addr
	l4 := b[20:]
	if b[0]>>4 == 6 {
		l4, p.protocol = b[40:], b[6]
		from, to = netip.AddrFrom16([16]byte(b[8:])), netip.AddrFrom16([16]byte(b[24:]))
	} else {
		p.protocol, from, to = b[9], netip.AddrFrom4([4]byte(b[12:])), netip.AddrFrom4([4]byte(b[16:]))
	}
	ports, size := [2]uint16{binary.BigEndian.Uint16(l4), binary.BigEndian.Uint16(l4[2:])}, map[byte]int{tcp: 20}[p.protocol]
	switch p.protocol {
	case tcp:
		p.flags = l4[13]
	case icmp, 58:
		p.protocol, p.answers, ports = icmp, l4[0] == 0 || l4[0] == 129, [2]uint16{}
		id := binary.BigEndian.Uint16(l4[4:])
		switch {
		case l4[0] == 3 || l4[0] == 1:
			p.about, size = read(l4[8:]), len(l4)
		case p.answers:
			ports[1] = id
		default:
			ports[0] = id
		}
	}
	p.from, p.to = netip.AddrPortFrom(from, ports[0]), netip.AddrPortFrom(to, ports[1])
	p.payload = l4[max(8, size):]
	return &p
}
