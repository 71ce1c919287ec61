package builtin

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"

	"nfchain.dev/nfchain/bpf/source"
)

// Sizes in bytes; fcs is the frame check sequence, which the RFCs count and the
// kernel does not see.
const (
	fcs         = 4
	ethernet    = 14
	vlanTag     = 4
	ipv4Header  = 20
	ipv6Header  = 40
	udpHeader   = 8
	stampSize   = 18
	hops        = 255
	udpProtocol = 17
)

// headers are what all packets of a stream have in common.
type headers struct {
	fromMAC, toMAC net.HardwareAddr
	from, to       netip.Addr
	// vlan identifier; 0 is no tag.
	vlan      int
	signature uint32
	variety
}

func (h headers) network() int {
	n := ethernet
	if h.vlan > 0 {
		n += vlanTag
	}
	return n
}

func (h headers) transport() int {
	if h.to.Is4() {
		return h.network() + ipv4Header
	}
	return h.network() + ipv6Header
}

// smallest frame that holds the stamp, FCS counted.
func (h headers) smallest() int { return max(64, h.transport()+udpHeader+stampSize+fcs) }

// shape is the header of frames of one size (FCS counted), with zeroes where packets
// differ.
func (h headers) shape(size int) (source.ProgramShape, error) {
	s := source.ProgramShape{Length: uint32(size - fcs)}
	if size < h.smallest() {
		return s, fmt.Errorf("a frame of %d bytes is too small for what is measured: its headers and the stamp take %d (in a mix, {%d})", size, h.smallest(), h.smallest())
	}
	b := s.Header[:]
	copy(b, h.toMAC)
	copy(b[6:], h.fromMAC)
	kind := uint16(0x86dd)
	if h.to.Is4() {
		kind = 0x0800
	}
	if h.vlan > 0 {
		binary.BigEndian.PutUint16(b[12:], 0x8100)
		binary.BigEndian.PutUint16(b[14:], uint16(h.vlan))
	}
	binary.BigEndian.PutUint16(b[h.network()-2:], kind)
	udp := size - fcs - h.transport()
	binary.BigEndian.PutUint16(b[h.transport()+4:], uint16(udp))
	if h.addresses {
		h.from, h.to = without(h.nearest), without(h.to)
	}
	if h.to.Is4() {
		s.Sum = h.ipv4(b[h.network():], udp)
	} else {
		s.Sum = h.ipv6(b[h.network():], udp)
	}
	return s, nil
}

// ipv4 writes an IPv4 header (RFC 791), and gives the sum that its checksum is of, as
// [headers.ipv6] does; UDP goes without a checksum, as it may there.
func (h headers) ipv4(b []byte, udp int) uint32 {
	b[0], b[8], b[9] = 0x45, hops, udpProtocol
	binary.BigEndian.PutUint16(b[2:], uint16(ipv4Header+udp))
	binary.BigEndian.PutUint16(b[6:], 0x4000) // do not fragment
	copy(b[12:], h.from.AsSlice())
	copy(b[16:], h.to.AsSlice())
	sum := fold(sum16(b[:ipv4Header]))
	binary.BigEndian.PutUint16(b[10:], ^sum)
	return uint32(swapped(sum))
}

// ipv6 writes an IPv6 header (RFC 8200) and gives the part of the UDP checksum that
// is the same for every packet, as the sum of 16-bit words in the host's byte order;
// the sum does not care which (RFC 1071 §2).
func (h headers) ipv6(b []byte, udp int) uint32 {
	b[0], b[6], b[7] = 0x60, udpProtocol, hops
	binary.BigEndian.PutUint16(b[4:], uint16(udp))
	copy(b[8:], h.from.AsSlice())
	copy(b[24:], h.to.AsSlice())
	sum := sum16(b[8:ipv6Header])     // addresses
	sum += uint64(udp) + udpProtocol  // the rest of the pseudo-header
	sum += uint64(udp)                // the length in the UDP header
	return uint32(swapped(fold(sum))) // as the kernel's half adds it up
}

// sum16 adds up big-endian words.
func sum16(b []byte) (sum uint64) {
	for i := 0; i+1 < len(b); i += 2 {
		sum += uint64(binary.BigEndian.Uint16(b[i:]))
	}
	return sum
}

// fold a sum to the 16 bits of ones' complement arithmetic.
func fold(sum uint64) uint16 {
	for sum > 0xffff {
		sum = sum&0xffff + sum>>16
	}
	return uint16(sum)
}

// swapped turns network order into the host's.
func swapped(v uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], v)
	return binary.NativeEndian.Uint16(b[:])
}
