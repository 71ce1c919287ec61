// Package framestest makes frames for tests of what meets packets: whole ones, those that few
// programs expect, and those that somebody damaged.
package framestest

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/rand/v2"
	"slices"
)

// Ether is an Ethernet header with tags of VLANs, by their type, and the type of what
// follows.
func Ether(typ uint16, tags ...uint16) []byte {
	out := []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}
	for i, tag := range tags {
		out = binary.BigEndian.AppendUint16(out, tag)
		out = binary.BigEndian.AppendUint16(out, uint16(100+i))
	}
	return binary.BigEndian.AppendUint16(out, typ)
}

// The types of Ethernet.
const (
	TypeIPv4 = 0x0800
	TypeARP  = 0x0806
	TypeIPv6 = 0x86dd
)

// IPv4 is a header before length bytes, with options, and a right checksum.
func IPv4(protocol byte, class byte, fragment uint16, options []byte, length int) []byte {
	h := make([]byte, 20, 60)
	h[0] = 0x45 + byte(len(options)/4)
	h[1] = class
	binary.BigEndian.PutUint16(h[2:], uint16(20+len(options)+length))
	binary.BigEndian.PutUint16(h[6:], fragment)
	h[8], h[9] = 64, protocol
	copy(h[12:], []byte{10, 1, 2, 3, 10, 4, 5, 6})
	h = append(h, options...)
	binary.BigEndian.PutUint16(h[10:], uint16(0xffff-Sum(h)))
	return h
}

// IPv6 is a header before length bytes, with a flow label.
func IPv6(next, class byte, length int) []byte {
	h := make([]byte, 40)
	binary.BigEndian.PutUint32(h, 6<<28|uint32(class)<<20|0xabcde)
	binary.BigEndian.PutUint16(h[4:], uint16(length))
	h[6], h[7] = next, 64
	copy(h[8:], []byte{0xfd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
	copy(h[24:], []byte{0xfd, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30})
	return h
}

// Ports begins a transport's header, of 20 bytes, as long as TCP's is without options.
func Ports(source, destination uint16) []byte {
	h := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, source), destination)
	return append(h, 0, 0, 0, 0, 0, 0, 0, 0, 5<<4, 0x10, 0, 0, 0, 0, 0, 0)
}

// Extension of IPv6 of 8 bytes.
func Extension(next byte) []byte { return []byte{next, 0, 1, 4, 0, 0, 0, 0} }

// Fragment of IPv6 (RFC 8200 §4.5).
func Fragment(next byte, offset uint16, more bool) []byte {
	h := []byte{next, 0, 0, 0, 1, 2, 3, 4}
	binary.BigEndian.PutUint16(h[2:], offset<<3)
	if more {
		h[3] |= 1
	}
	return h
}

// Sum of a header's words, modulo 2^16 - 1: 0 where its checksum is right (RFC 1071).
func Sum(header []byte) (sum uint32) {
	for i := 0; i < len(header); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(header[i:]))
	}
	return sum % 0xffff
}

// Odd frames, by what is odd about them.
func Odd() map[string][]byte {
	tcp := Ports(1, 2)
	v4 := func(cut int, change func(ip []byte)) []byte {
		f := slices.Concat(Ether(TypeIPv4), IPv4(6, 0, 0, nil, len(tcp)), tcp)
		change(f[14:])
		return f[:len(f)-cut]
	}
	v6 := func(change func(ip []byte)) []byte {
		f := slices.Concat(Ether(TypeIPv6), IPv6(6, 0, len(tcp)), tcp)
		change(f[14:])
		return f
	}
	as := func([]byte) {}
	return map[string][]byte{
		"IPv4":                       v4(0, as),
		"padded to the least frame":  slices.Concat(Ether(TypeIPv4), IPv4(17, 0, 0, nil, 8), make([]byte, 18)),
		"longest options":            slices.Concat(Ether(TypeIPv4), IPv4(6, 0, 0, make([]byte, 40), len(tcp)), tcp),
		"first fragment":             slices.Concat(Ether(TypeIPv4), IPv4(17, 0, 0x2000, nil, 8), make([]byte, 8)),
		"later fragment":             slices.Concat(Ether(TypeIPv4), IPv4(17, 0, 0x2001, nil, 8), make([]byte, 8)),
		"last fragment":              slices.Concat(Ether(TypeIPv4), IPv4(17, 0, 0x0002, nil, 1), make([]byte, 1)),
		"ESP":                        slices.Concat(Ether(TypeIPv4), IPv4(50, 0, 0, nil, 8), make([]byte, 8)),
		"no transport at all":        slices.Concat(Ether(TypeIPv4), IPv4(6, 0, 0, nil, 0)),
		"jumbo":                      slices.Concat(Ether(TypeIPv4), IPv4(17, 0, 0, nil, 3000), make([]byte, 3000)),
		"wrong checksum":             v4(0, func(ip []byte) { ip[10] ^= 0xff }),
		"IPv6":                       v6(as),
		"IPv6 without payload":       slices.Concat(Ether(TypeIPv6), IPv6(59, 0, 0)),
		"IPv6 with extensions":       slices.Concat(Ether(TypeIPv6), IPv6(0, 0, 36), Extension(60), Extension(6), tcp),
		"IPv6 with a cut extension":  slices.Concat(Ether(TypeIPv6), IPv6(0, 0, 2), []byte{6, 9}),
		"IPv6 with nine extensions":  slices.Concat(Ether(TypeIPv6), IPv6(60, 0, 72), bytes.Repeat(Extension(60), 9)),
		"IPv6 fragment":              slices.Concat(Ether(TypeIPv6), IPv6(44, 0, 16), Fragment(17, 5, true), make([]byte, 8)),
		"tag":                        slices.Concat(Ether(TypeIPv4, 0x8100), IPv4(6, 0, 0, nil, len(tcp)), tcp),
		"two tags":                   slices.Concat(Ether(TypeIPv6, 0x88a8, 0x8100), IPv6(6, 0, len(tcp)), tcp),
		"three tags":                 slices.Concat(Ether(TypeIPv4, 0x88a8, 0x8100, 0x8100), IPv4(6, 0, 0, nil, len(tcp)), tcp),
		"cut within a tag":           slices.Concat(Ether(0x8100, 0x8100), []byte{0, 1}),
		"ARP":                        slices.Concat(Ether(TypeARP), make([]byte, 28)),
		"ARP behind a tag":           slices.Concat(Ether(TypeARP, 0x8100), make([]byte, 28)),
		"LLDP":                       slices.Concat(Ether(0x88cc), make([]byte, 46)),
		"IEEE 802.3 with a length":   slices.Concat(Ether(46), make([]byte, 46)),
		"MPLS":                       slices.Concat(Ether(0x8847), []byte{0, 0, 0x11, 64}, IPv4(6, 0, 0, nil, 20), tcp),
		"cut off":                    v4(1, as),
		"cut within the header":      slices.Concat(Ether(TypeIPv4, 0x8100), IPv4(6, 0, 0, nil, 0)[:19]),
		"cut within options":         slices.Concat(Ether(TypeIPv4), IPv4(6, 0, 0, make([]byte, 8), 0)[:24]),
		"version 6 in IPv4":          v4(0, func(ip []byte) { ip[0] = 0x65 }),
		"header of 16 bytes":         v4(0, func(ip []byte) { ip[0] = 0x44 }),
		"length below the header":    v4(0, func(ip []byte) { binary.BigEndian.PutUint16(ip[2:], 19) }),
		"length 0":                   v4(0, func(ip []byte) { binary.BigEndian.PutUint16(ip[2:], 0) }),
		"version 4 in IPv6":          v6(func(ip []byte) { ip[0] = 0x40 }),
		"IPv6 cut off":               v6(func(ip []byte) { ip[5]++ }),
		"IPv6 cut within the header": slices.Concat(Ether(TypeIPv6, 0x8100), IPv6(6, 0, 0)[:39]),
	}
}

// Bent frames: each of the odd ones so many times, with bits turned, cut off or drawn out. They are
// the same for the same seed.
func Bent(times int, seed byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		random, odd := rand.New(rand.NewChaCha8([32]byte{seed})), Odd()
		var names []string
		for name := range odd {
			names = append(names, name)
		}
		slices.Sort(names)
		for range times {
			for _, name := range names {
				if !yield(bend(random, bytes.Clone(odd[name]))) {
					return
				}
			}
		}
	}
}

// bend a frame somewhere behind its addresses.
func bend(random *rand.Rand, f []byte) []byte {
	for range random.IntN(4) {
		f[12+random.IntN(len(f)-12)] ^= 1 << random.IntN(8)
	}
	switch random.IntN(4) {
	case 0:
		f = f[:max(least, random.IntN(len(f)))]
	case 1:
		f = append(f, make([]byte, random.IntN(64))...)
	}
	return f
}

// least bytes that the kernel gives to a program in a test run.
const least = 15

// Runs tells whether the kernel runs a program on a frame in a test: not on one whose IP header is
// cut off, if no tag is before it.
func Runs(frame []byte) bool {
	switch {
	case len(frame) < least:
		return false
	case binary.BigEndian.Uint16(frame[12:]) == TypeIPv4:
		return len(frame) >= 14+20
	case binary.BigEndian.Uint16(frame[12:]) == TypeIPv6:
		return len(frame) >= 14+40
	}
	return true
}
