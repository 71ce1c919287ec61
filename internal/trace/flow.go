package trace

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// Flow is packets of one protocol between two addresses of one family.
type Flow struct {
	// Protocol is any that rules of a classifier name; icmp stands for ICMPv6 too.
	Protocol api.Protocol
	// From and To have ports where the protocol has.
	From, To netip.AddrPort
	// Reverse flows begin at the last end of the chain.
	Reverse bool
	// Goal is the function to an address of which it goes, which is where it ends; "" where it is for an end, or whoever is behind.
	Goal string
	// CodePoint is that of differentiated services in its packets (RFC 2474).
	CodePoint uint8
	// Tagged packets are of VLAN, 0 to 4094.
	Tagged bool
	VLAN   uint16
}

// String is as "tcp 198.18.0.1:40000 > 198.18.0.2:443".
func (f Flow) String() string {
	text := fmt.Sprintf("%s %s > %s", f.Protocol.Text(), f.From, f.To)
	if !f.Protocol.Ported() {
		text = fmt.Sprintf("%s %s > %s", f.Protocol.Text(), f.From.Addr(), f.To.Addr())
	}
	if f.CodePoint != 0 {
		text += fmt.Sprintf(", dscp %d", f.CodePoint)
	}
	if f.Tagged {
		text += fmt.Sprintf(", vlan %d", f.VLAN)
	}
	return text
}

// Number of the protocol (IANA).
func (f Flow) Number() byte {
	if f.Protocol == "icmp" && f.To.Addr().Is6() {
		return unix.IPPROTO_ICMPV6
	}
	n, _ := f.Protocol.Number() // as it was given
	return n
}

// The lengths of headers, bytes.
const (
	ipv4Header, ipv6Header = 20, 40
	udpHeader, tcpHeader   = 8, 20
	dccpHeader             = 20
	unknownHeader          = 8
)

// packet is one of the flow, from its IP header on.
func (f Flow) packet(payload []byte) []byte {
	segment := f.segment(payload)
	from, to := f.From.Addr().AsSlice(), f.To.Addr().AsSlice()
	const hops = 64
	if f.To.Addr().Is6() {
		b := []byte{6<<4 | f.CodePoint>>2, f.CodePoint << 6, 0, 0}
		b = binary.BigEndian.AppendUint16(b, uint16(len(segment)))
		b = append(b, f.Number(), hops)
		return append(append(append(b, from...), to...), segment...)
	}
	b := []byte{4<<4 | ipv4Header/4, f.CodePoint << 2}
	b = binary.BigEndian.AppendUint16(b, uint16(ipv4Header+len(segment)))
	b = append(b, 0, 0, 0, 0, hops, f.Number(), 0, 0) // the kernel fills the identification and the sum in
	return append(append(append(b, from...), to...), segment...)
}

// frame is a packet of the flow with what is before it on a link, in its VLAN (IEEE 802.1Q section 9.6).
func (f Flow) frame(from, to net.HardwareAddr, payload []byte) []byte {
	packet := f.packet(payload)
	kind := uint16(unix.ETH_P_IPV6)
	if f.To.Addr().Is4() {
		kind = unix.ETH_P_IP
		binary.BigEndian.PutUint16(packet[10:], ^folded(words16(packet[:ipv4Header]))) // as the kernel does for packets
	}
	b := append(slices.Clone(to), from...)
	b = binary.BigEndian.AppendUint16(b, unix.ETH_P_8021Q)
	b = binary.BigEndian.AppendUint16(b, f.VLAN)
	return append(binary.BigEndian.AppendUint16(b, kind), packet...)
}

// segment is what the IP header is before, its checksum in place. Behind which header its payload is bpf/trace/trace.c knows by the protocol.
func (f Flow) segment(payload []byte) []byte {
	var b []byte
	sumAt := 0
	switch f.Number() {
	case unix.IPPROTO_UDP, unix.IPPROTO_UDPLITE: // of the latter the sum covers all (RFC 3828 section 3.1)
		b, sumAt = f.ports(), 6
		b = binary.BigEndian.AppendUint16(b, uint16(udpHeader+len(payload)))
		b = append(b, 0, 0)
	case unix.IPPROTO_TCP: // one that opens a connection
		const syn, window = 1 << 1, 0xffff
		b, sumAt = f.ports(), 16
		b = append(b, payload[:4]...) // as good a number to begin with as any
		b = append(b, 0, 0, 0, 0, tcpHeader/4<<4, syn)
		b = binary.BigEndian.AppendUint16(b, window)
		b = append(b, 0, 0, 0, 0)
	case unix.IPPROTO_ICMP:
		const request = 8
		b, sumAt = append([]byte{request, 0, 0, 0}, payload[:4]...), 2
	case unix.IPPROTO_ICMPV6:
		const request = 128
		b, sumAt = append([]byte{request, 0, 0, 0}, payload[:4]...), 2
	case unix.IPPROTO_DCCP: // a request, with a long sequence number and no service code (RFC 4340 section 5.6)
		const longNumber = 1
		b, sumAt = append(f.ports(), dccpHeader/4, 0, 0, 0, longNumber, 0, 0, 0), 6
		b = append(append(b, payload[:4]...), 0, 0, 0, 0)
	case unix.IPPROTO_SCTP:
		return f.association(payload)
	default:
		return append(make([]byte, unknownHeader), payload...)
	}
	b = append(b, payload...)
	binary.BigEndian.PutUint16(b[sumAt:], f.checksum(b))
	return b
}

// association is asked for by a segment of SCTP (RFC 9260 section 3.3.2), with the payload for padding (RFC 4820 section 4).
func (f Flow) association(payload []byte) []byte {
	const chunk, begins, header, padding, window, streams = 20, 1, 4, 0x8005, 0xffff, 1
	b := append(f.ports(), make([]byte, 8)...) // no tag yet, and the sum
	b = append(b, begins, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(chunk+header+len(payload)))
	b = append(b, payload[:4]...) // as good a tag as any, and not 0
	b = binary.BigEndian.AppendUint32(b, window)
	b = binary.BigEndian.AppendUint16(b, streams)
	b = binary.BigEndian.AppendUint16(b, streams)
	b = append(b, payload[:4]...) // as good a number to begin with as any
	b = binary.BigEndian.AppendUint16(b, padding)
	b = binary.BigEndian.AppendUint16(b, uint16(header+len(payload)))
	b = append(b, payload...)
	b = append(b, make([]byte, -len(b)&3)...)
	binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))) // appendix A
	return b
}

func (f Flow) ports() []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, f.From.Port()), f.To.Port())
}

// checksum of a segment (RFC 1071), with the addresses, except for ICMP (RFC 792).
func (f Flow) checksum(segment []byte) uint16 {
	sum := words16(segment)
	if n := f.Number(); n != unix.IPPROTO_ICMP {
		sum += words16(f.From.Addr().AsSlice()) + words16(f.To.Addr().AsSlice()) + uint32(n) + uint32(len(segment))
	}
	if n := f.Number(); (n == unix.IPPROTO_UDP || n == unix.IPPROTO_UDPLITE) && folded(sum) == 0xffff {
		return 0xffff // 0 would say that there is none (RFC 768, RFC 3828)
	}
	return ^folded(sum)
}

// folded is a sum in the end-around arithmetic of RFC 1071.
func folded(sum uint32) uint16 {
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}

// words16 adds up what is there, by 16 bits.
func words16(b []byte) (sum uint32) {
	for i, v := range b {
		sum += uint32(v) << (8 * (1 - i%2))
	}
	return sum
}
