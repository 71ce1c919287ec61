package pass

import (
	"encoding/binary"
	"slices"
)

// A frame is made of parts, from the outside in.
func frame(parts ...[]byte) []byte { return slices.Concat(parts...) }

// ether is an Ethernet header with tags of VLANs, by their type, and the type of what
// follows.
func ether(typ uint16, tags ...uint16) []byte {
	out := []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}
	for i, tag := range tags {
		out = binary.BigEndian.AppendUint16(out, tag)
		out = binary.BigEndian.AppendUint16(out, uint16(100+i))
	}
	return binary.BigEndian.AppendUint16(out, typ)
}

// The types of Ethernet.
const (
	typeIPv4 = 0x0800
	typeARP  = 0x0806
	typeIPv6 = 0x86dd
)

// ipv4 is a header before length bytes, with options, and a right checksum.
func ipv4(protocol byte, class byte, fragment uint16, options []byte, length int) []byte {
	h := make([]byte, 20, 60)
	h[0] = 0x45 + byte(len(options)/4)
	h[1] = class
	binary.BigEndian.PutUint16(h[2:], uint16(20+len(options)+length))
	binary.BigEndian.PutUint16(h[6:], fragment)
	h[8], h[9] = 64, protocol
	copy(h[12:], []byte{10, 1, 2, 3, 10, 4, 5, 6})
	h = append(h, options...)
	binary.BigEndian.PutUint16(h[10:], uint16(0xffff-total(h)))
	return h
}

// ipv6 is a header before length bytes, with a flow label.
func ipv6(next, class byte, length int) []byte {
	h := make([]byte, 40)
	binary.BigEndian.PutUint32(h, 6<<28|uint32(class)<<20|0xabcde)
	binary.BigEndian.PutUint16(h[4:], uint16(length))
	h[6], h[7] = next, 64
	copy(h[8:], []byte{0xfd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
	copy(h[24:], []byte{0xfd, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30})
	return h
}

// ports begins a transport's header, of 20 bytes, as long as TCP's is without options.
func ports(source, destination uint16) []byte {
	h := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, source), destination)
	return append(h, 0, 0, 0, 0, 0, 0, 0, 0, 5<<4, 0x10, 0, 0, 0, 0, 0, 0)
}

// extension of IPv6 of 8 bytes.
func extension(next byte) []byte { return []byte{next, 0, 1, 4, 0, 0, 0, 0} }

// fragmentHeader of IPv6 (RFC 8200 §4.5).
func fragmentHeader(next byte, offset uint16, more bool) []byte {
	h := []byte{next, 0, 0, 0, 1, 2, 3, 4}
	binary.BigEndian.PutUint16(h[2:], offset<<3)
	if more {
		h[3] |= 1
	}
	return h
}
