package framestest

import (
	"bytes"
	"encoding/binary"
)

// IP tells where the IP header of a frame begins behind at most two tags, and the version that its type says; 0 where it
// is of another type.
func IP(frame []byte) (at int, version byte) {
	for at = 14; at <= 22 && at <= len(frame); at += 4 {
		switch binary.BigEndian.Uint16(frame[at-2:]) {
		case TypeIPv4:
			return at, 4
		case TypeIPv6:
			return at, 6
		case 0x8100, 0x88a8:
			continue
		}
		return 0, 0
	}
	return 0, 0
}

// Sound tells whether a router would forward what begins here, but for the checksum. What the kernel merged may be
// longer than its header can say.
func Sound(ip []byte, version byte, merged bool) bool {
	if version == 6 {
		return len(ip) >= 40 && ip[0]>>4 == 6 && 40+int(binary.BigEndian.Uint16(ip[4:])) <= len(ip)
	}
	if len(ip) < 20 || ip[0]>>4 != 4 {
		return false
	}
	header, total := 4*int(ip[0]&15), int(binary.BigEndian.Uint16(ip[2:]))
	if total == 0 && merged {
		total = len(ip)
	}
	return header >= 20 && header <= total && total <= len(ip)
}

// Sums of a sound packet that stay as they are, modulo 2^16 - 1, whatever is written into it by who brings checksums up to date, right
// ones and wrong ones: of IPv4's header, and of what is behind the header, with the addresses where a checksum there is over these.
// What is behind extensions of IPv6, is cut off, or has no checksum, is left out.
func Sums(ip []byte, version byte) (sums []uint32) {
	var header, end int
	var protocol, icmp byte
	var addresses []byte
	later := false
	if version == 4 {
		header, end, protocol, icmp, addresses = 4*int(ip[0]&15), int(binary.BigEndian.Uint16(ip[2:])), ip[9], 1, ip[12:20]
		later = binary.BigEndian.Uint16(ip[6:])&0x1fff != 0
		sums = append(sums, Sum(ip[:header]))
	} else {
		header, end, protocol, icmp, addresses = 40, 40+int(binary.BigEndian.Uint16(ip[4:])), ip[6], 58, ip[8:40]
	}
	if end == 0 {
		end = len(ip)
	}
	rest := append(bytes.Clone(ip[header:end]), make([]byte, (end-header)%2)...)
	switch {
	case later, protocol == icmp && version == 4:
		return append(sums, Sum(rest))
	case protocol == 6 && len(rest) >= 20, protocol == 17 && len(rest) >= 8 && rest[6]|rest[7] != 0, protocol == icmp:
		return append(sums, (Sum(rest)+Sum(addresses))%0xffff)
	}
	return sums
}
