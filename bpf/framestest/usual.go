package framestest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// Usual frames, as hosts send them: of connections that are opened, go on and end, datagrams, what ICMP asks and tells of
// packets, fragments of both versions of IP, chains of headers, and each cut off where something of it begins.
func Usual() map[string][]byte {
	all := map[string][]byte{}
	for version, typ := range map[byte]uint16{4: TypeIPv4, 6: TypeIPv6} {
		for name, packet := range packets(version) {
			whole := slices.Concat(Ether(typ), packet)
			all[fmt.Sprintf("%s of IPv%d", name, version)] = whole
			all[fmt.Sprintf("%s of IPv%d behind a tag", name, version)] = slices.Concat(Ether(typ, 0x8100), packet)
			for _, at := range []int{14 + 20, 14 + 24, 14 + 40, 14 + 44, len(whole) - 1} {
				if at < len(whole) && Runs(whole[:at]) {
					all[fmt.Sprintf("%s of IPv%d, cut at %d", name, version, at)] = whole[:at]
				}
			}
		}
	}
	return all
}

// packets of a version of IP, by what they are.
func packets(version byte) map[string][]byte {
	over := func(protocol byte, rest ...[]byte) []byte {
		r := slices.Concat(rest...)
		ip, addresses := IPv4(protocol, 0, 0, nil, len(r)), 12
		if version == 6 {
			ip, addresses = IPv6(protocol, 0, len(r)), 8
		}
		summed(protocol, ip[addresses:], r)
		return append(ip, r...)
	}
	icmp, echo, told := byte(1), byte(8), byte(3)
	if version == 6 {
		icmp, echo, told = 58, 128, 1
	}
	datagram := over(17, datagramOf(7113, 7013, 40))
	all := map[string][]byte{
		"a datagram":                    datagram,
		"an answer":                     over(17, datagramOf(7013, 7113, 20)),
		"the least datagram":            over(17, datagramOf(9, 9, 0)),
		"a long datagram":               over(17, datagramOf(7113, 7013, 2900)),
		"a datagram without a checksum": unsummed(bytes.Clone(datagram)),
		"a question of ICMP":            over(icmp, []byte{echo, 0, 0, 0, 0, 7, 0, 1}),
		"an error":                      over(icmp, []byte{told, 3, 0, 0, 0, 0, 0, 0}, datagram),
		"SCTP":                          over(132, Ports(7113, 80)),
		"GRE":                           over(47, make([]byte, 24)),
	}
	for name, flags := range map[string]byte{"SYN": 2, "SYN and ACK": 18, "ACK": 16, "FIN": 17, "RST": 4, "no flags": 0, "all flags": 63} {
		segment := Ports(40000, 80)
		segment[13] = flags
		all[name] = over(6, segment, make([]byte, 6))
	}
	if version == 6 {
		all["a first fragment"] = over(44, Fragment(17, 0, true), datagramOf(7113, 7013, 32))
		all["options and a first fragment"] = over(0, Extension(60), Extension(44), Fragment(17, 0, true), datagramOf(7113, 7013, 32))
		return all
	}
	all["a first fragment"] = append(IPv4(17, 0, 0x2000, nil, 32), datagramOf(7113, 7013, 24)...)
	all["options"] = append(IPv4(17, 0, 0, []byte{7, 7, 4, 0, 0, 0, 0, 0}, 16), datagramOf(7113, 7013, 8)...)
	return all
}

// datagramOf so many bytes behind its header.
func datagramOf(from, to uint16, length int) []byte {
	h := Ports(from, to)[:8]
	binary.BigEndian.PutUint16(h[4:], uint16(8+length))
	return append(h, make([]byte, length)...)
}

// summed is a transport's header with a right checksum, in place, for what is over these addresses.
func summed(protocol byte, addresses, segment []byte) {
	at := map[byte]int{1: 2, 6: 16, 17: 6, 58: 2}[protocol]
	if at == 0 {
		return
	}
	sum := Sum(append(bytes.Clone(segment), make([]byte, len(segment)%2)...))
	if protocol != 1 {
		sum += Sum(addresses) + uint32(protocol) + uint32(len(segment))
	}
	binary.BigEndian.PutUint16(segment[at:], 0xffff-uint16(sum%0xffff))
}

// unsummed is a datagram with 40 bytes of which its sender computed no checksum.
func unsummed(packet []byte) []byte {
	clear(packet[len(packet)-42 : len(packet)-40])
	return packet
}
