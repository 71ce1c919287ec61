package builtin

import "encoding/binary"

// packet is what a sink reads of one that is ours.
type packet struct {
	number          uint32
	due             uint64
	length, payload uint64
	tagged          bool
	// damaged packets have a sum that is not theirs.
	damaged bool
}

// parsePacket reads a packet as bpf/sink/sink.c does; it tells whether it is one of the
// stream with the signature.
func parsePacket(b []byte, signature uint32) (p packet, ours bool) {
	at := ethernet
	if len(b) < at+ipv4Header {
		return p, false
	}
	kind := binary.BigEndian.Uint16(b[at-2:])
	if kind == 0x8100 || kind == 0x88a8 {
		at += vlanTag
		kind = binary.BigEndian.Uint16(b[at-2:])
	}
	switch {
	case kind == 0x0800 && len(b) >= at+ipv4Header && b[at] == 0x45 && b[at+9] == udpProtocol:
		at += ipv4Header
	case kind == 0x86dd && len(b) >= at+ipv6Header && b[at+6] == udpProtocol:
		at += ipv6Header
	default:
		return p, false
	}
	if len(b) < at+udpHeader+stampSize {
		return p, false
	}
	stamp, order := b[at+udpHeader:], binary.NativeEndian
	if order.Uint32(stamp) != signature {
		return p, false
	}
	p.number = order.Uint32(stamp[4:])
	p.due = uint64(order.Uint32(stamp[8:])) | uint64(order.Uint16(stamp[12:]))<<32
	p.tagged = order.Uint16(stamp[14:])&tagFlag != 0
	p.payload = uint64(binary.BigEndian.Uint16(b[at+4:])) - udpHeader
	p.damaged = fold(sumOf(b, at, kind)+sum16(stamp[:stampSize])) != 0xffff
	return p, true
}

// sumOf what the checksum of a packet is of, without the stamp: the header of IPv4, or
// that of UDP and its pseudo-header.
func sumOf(b []byte, transport int, kind uint16) uint64 {
	if kind == 0x0800 {
		return sum16(b[transport-ipv4Header : transport])
	}
	udp := b[transport : transport+udpHeader]
	return sum16(b[transport-ipv6Header+8:transport]) + sum16(udp) + sum16(udp[4:6]) + udpProtocol
}
