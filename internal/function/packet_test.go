package function_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"nfchain.dev/nfchain/bpf/framestest"
)

// The protocols of packets; icmp is that of the packet's family, and other one without ports.
const (
	tcp   = 6
	udp   = 17
	icmp  = 1
	other = 253
)

// extension is a header of IPv6, destination options, of which packets may have some.
const extension = 60

// Flags of TCP.
const (
	fin = 1
	syn = 2
	rst = 4
	ack = 16
)

// packet that comes to a function, or goes on.
type packet struct {
	protocol byte
	// from and to with ports. Of a question of ICMP the one who asks has its number for a port.
	from, to netip.AddrPort
	answers  bool
	flags    byte
	// asks is the type of a question of ICMP that is no echo.
	asks byte
	// options are words of IPv4's, or headers of IPv6's, which tell nobody anything.
	options int
	// unsummed is UDP over IPv4 without a checksum.
	unsummed bool
	// about is the packet that this is an error about, or redirects.
	about     *packet
	redirects bool
	payload   []byte
}

// String tells who sends it to whom.
func (p packet) String() string {
	text := fmt.Sprintf("%d from %s to %s, flags %d, answers %t, asks %d, %d options, unsummed %t, %x", p.protocol, p.from, p.to, p.flags, p.answers, p.asks, p.options, p.unsummed, p.payload)
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
	case other:
	default:
		id, kinds := p.from.Port(), []byte{8, 0, 3}
		if six {
			number, kinds = 58, []byte{128, 129, 1}
		}
		kind := kinds[0]
		if p.asks != 0 {
			kinds = []byte{p.asks, p.asks + 1, 3}
			kind = p.asks
		}
		if p.answers {
			id, kind = p.to.Port(), kinds[1]
		}
		if p.about != nil {
			id, kind = 0, kinds[2]
		}
		if p.redirects {
			kind = map[bool]byte{false: 5, true: 137}[six]
		}
		l4 = binary.BigEndian.AppendUint16([]byte{kind, 0, 0, 0}, id)
		l4 = append(l4, 0, 0)
	}
	if p.about != nil {
		quoted := p.about.bytes()
		if p.redirects && number == 58 { // the target and the destination, and an option (RFC 4861 section 4.5)
			quoted = append(quoted, make([]byte, -len(quoted)&7)...)
			l4 = append(l4, make([]byte, 32)...)
			l4 = append(l4, 4, byte(1+len(quoted)/8), 0, 0, 0, 0, 0, 0)
		}
		l4 = append(l4, quoted...)
	}
	return p.over(number, append(l4, p.payload...))
}

// over IP, with right checksums.
func (p packet) over(number byte, l4 []byte) []byte {
	if at, summed := map[byte]int{tcp: 16, udp: 6, icmp: 2, 58: 2}[number]; summed && !p.unsummed {
		if sum := p.sum(number, l4); number != udp || sum != 0xffff {
			binary.BigEndian.PutUint16(l4[at:], uint16(0xffff-sum))
		}
	}
	from, to := p.from.Addr().AsSlice(), p.to.Addr().AsSlice()
	if p.from.Addr().Is6() {
		for range p.options {
			l4, number = append(framestest.Extension(number), l4...), extension
		}
		h := framestest.IPv6(number, 0, len(l4))
		copy(h[8:], slices.Concat(from, to))
		if p.redirects {
			h[7] = 255
		}
		return append(h, l4...)
	}
	h := framestest.IPv4(number, 0, 0, bytes.Repeat([]byte{1, 1, 1, 1}, p.options), len(l4))
	copy(h[12:], slices.Concat(from, to))
	return append(summed(h), l4...)
}

// summed is a header of IPv4 with its checksum.
func summed(h []byte) []byte {
	copy(h[10:], []byte{0, 0})
	binary.BigEndian.PutUint16(h[10:], uint16(0xffff-framestest.Sum(h)))
	return h
}

// sum of the transport and what belongs to it of IP: 0 where its checksum is right.
func (p packet) sum(number byte, l4 []byte) uint32 {
	pseudo := slices.Concat(p.from.Addr().AsSlice(), p.to.Addr().AsSlice(), []byte{0, 0, byte(len(l4) >> 8), byte(len(l4)), 0, 0, 0, number})
	if number == icmp {
		pseudo = nil
	}
	return framestest.Sum(slices.Concat(pseudo, l4, make([]byte, len(l4)%2)))
}

// behind IP: where the transport begins, whose it is, and how many options are before it.
func behind(b []byte) (at int, number byte, options int) {
	if b[0]>>4 == 4 {
		at = int(b[0]&15) * 4
		return at, b[9], (at - 20) / 4
	}
	for at, number = 40, b[6]; number == extension; options++ {
		number, at = b[at], at+8
	}
	return at, number, options
}

// parsed from bytes whose checksums are right.
func parsed(t *testing.T, b []byte) *packet {
	t.Helper()
	p := read(b)
	at, number, _ := behind(b)
	if p.from.Addr().Is4() && framestest.Sum(b[:at]) != 0 {
		t.Fatalf("the checksum of IP in %x is wrong", b)
	}
	if !p.unsummed && p.protocol != other && p.sum(number, b[at:]) != 0 {
		t.Fatalf("the checksum of the transport in %x is wrong", b)
	}
	return p
}

// read the headers of a packet.
func read(b []byte) *packet {
	var p packet
	var from, to netip.Addr
	var at int
	at, p.protocol, p.options = behind(b)
	l4 := b[at:]
	if b[0]>>4 == 6 {
		from, to = netip.AddrFrom16([16]byte(b[8:])), netip.AddrFrom16([16]byte(b[24:]))
	} else {
		from, to = netip.AddrFrom4([4]byte(b[12:])), netip.AddrFrom4([4]byte(b[16:]))
	}
	if p.protocol == other {
		p.from, p.to, p.payload = netip.AddrPortFrom(from, 0), netip.AddrPortFrom(to, 0), l4
		return &p
	}
	ports, size := [2]uint16{binary.BigEndian.Uint16(l4), binary.BigEndian.Uint16(l4[2:])}, map[byte]int{tcp: 20}[p.protocol]
	switch p.protocol {
	case tcp:
		p.flags = l4[13]
	case udp:
		p.unsummed = l4[6] == 0 && l4[7] == 0
	case icmp, 58:
		p.protocol, ports = icmp, [2]uint16{}
		id, kind := binary.BigEndian.Uint16(l4[4:]), l4[0]
		p.answers = kind == 0 || kind == 129
		if from.Is4() && kind >= 13 && kind <= 18 {
			p.asks, p.answers = (kind-1)|1, kind%2 == 0
		}
		switch {
		case kind == 3 || kind == 1:
			p.about, size = read(l4[8:]), len(l4)
		case kind == 5 || kind == 137:
			p.about, p.redirects, size = read(l4[map[byte]int{5: 8, 137: 48}[kind]:]), true, len(l4)
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

// inFragments is a packet in fragments: the first has as many bytes behind IP as are told, and others no more than it. It
// is whole where it has no more.
func inFragments(b []byte, first int, id uint32) (all [][]byte) {
	four, head := b[0]>>4 == 4, 40
	if four {
		head = int(b[0]&15) * 4
	}
	if first == 0 || len(b)-head <= first {
		return [][]byte{b}
	}
	for at := head; at < len(b); at += first {
		piece, more := b[at:min(at+first, len(b))], at+first < len(b)
		h := slices.Clone(b[:head])
		offset := uint16(at-head) / 8
		if four {
			binary.BigEndian.PutUint16(h[2:], uint16(head+len(piece)))
			binary.BigEndian.PutUint16(h[4:], uint16(id))
			if binary.BigEndian.PutUint16(h[6:], offset); more {
				h[6] |= 0x20
			}
			all = append(all, append(summed(h), piece...))
			continue
		}
		f := framestest.Fragment(h[6], offset, more)
		binary.BigEndian.PutUint32(f[4:], id)
		binary.BigEndian.PutUint16(h[4:], uint16(len(f)+len(piece)))
		h[6] = 44
		all = append(all, slices.Concat(h, f, piece))
	}
	return all
}

// pieces of a packet that came in fragments, in their order.
type pieces struct{ whole []byte }

// add a packet, or a fragment of one, and get it whole if this is the last. What is in front of all fragments are the IP
// header and maybe options.
func (p *pieces) add(t *testing.T, b []byte) []byte {
	t.Helper()
	four, next, head := b[0]>>4 == 4, 6, 40
	var offset int
	var more bool
	var piece []byte
	if four {
		head = int(b[0]&15) * 4
		piece, offset, more = b[head:], int(binary.BigEndian.Uint16(b[6:])&0x1fff)*8, b[6]&0x20 != 0
	} else {
		for b[next] == extension {
			next, head = head, head+8
		}
		if b[next] != 44 {
			return b
		}
		piece, offset, more = b[head+8:], int(binary.BigEndian.Uint16(b[head+2:])&^7), b[head+3]&1 != 0
	}
	if offset == 0 {
		p.whole = slices.Clone(b[:head])
	}
	if len(p.whole) != head+offset {
		t.Fatalf("the fragment at %d comes behind %d bytes: %x", offset, len(p.whole)-head, b)
	}
	if p.whole = append(p.whole, piece...); more {
		return nil
	}
	w := p.whole
	if p.whole = nil; !four {
		w[next] = b[head]
		binary.BigEndian.PutUint16(w[4:], uint16(len(w)-40))
		return w
	}
	binary.BigEndian.PutUint16(w[2:], uint16(len(w)))
	copy(w[4:], []byte{0, 0, 0, 0})
	return append(summed(w[:head:head]), w[head:]...)
}
