package run_test

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/run"
)

var (
	four = [2]netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")}
	six  = [2]netip.Addr{netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")}
	// portsFrom7 are those of a packet from port 7 to port 9, with what follows.
	portsFrom7 = []byte{0, 7, 0, 9, 0, 8, 0, 0}
)

// ipPacket from the first of two addresses to the second.
func ipPacket(between [2]netip.Addr, protocol uint8, behind []byte) []byte {
	if between[0].Is4() {
		b := append(make([]byte, 12), between[0].AsSlice()...)
		b[0], b[9] = 4<<4|5, protocol
		return append(append(b, between[1].AsSlice()...), behind...)
	}
	b := binary.BigEndian.AppendUint16([]byte{6 << 4, 0, 0, 0}, uint16(len(behind)))
	b = append(append(b, protocol, 64), between[0].AsSlice()...)
	return append(append(b, between[1].AsSlice()...), behind...)
}

// framed is a packet behind Ethernet and tags.
func framed(packet []byte, tags ...uint16) []byte {
	b := make([]byte, 12)
	for _, t := range tags {
		b = append(binary.BigEndian.AppendUint16(b, t), 0, 1)
	}
	kind := uint16(unix.ETH_P_IP)
	if packet[0]>>4 == 6 {
		kind = unix.ETH_P_IPV6
	}
	return append(binary.BigEndian.AppendUint16(b, kind), packet...)
}

func joined(all ...[]byte) (b []byte) {
	for _, one := range all {
		b = append(b, one...)
	}
	return b
}

// TestFlowIn: a frame is of the flow by which the programs at ports know it (bpf/include/conversation.h).
func TestFlowIn(t *testing.T) {
	router := [2]netip.Addr{netip.MustParseAddr("198.51.100.1"), four[0]}
	routerSix := [2]netip.Addr{netip.MustParseAddr("2001:db8:1::1"), six[0]}
	icmp := func(kind byte, about []byte) []byte { return joined([]byte{kind, 0, 0, 0, 0, 0, 0, 0}, about) }
	// extension of so many bytes, before another or a transport.
	extension := func(next uint8, units byte, bytes int) []byte {
		b := make([]byte, bytes)
		b[0], b[1] = next, units
		return b
	}
	fragment := func(next uint8, place uint16) []byte {
		return append(binary.BigEndian.AppendUint16([]byte{next, 0}, place), 0, 0, 0, 1)
	}
	part := ipPacket(four, unix.IPPROTO_UDP, portsFrom7)
	part[6] = 0x20
	options := ipPacket(four, unix.IPPROTO_UDP, joined(make([]byte, 4), portsFrom7))
	options[0] = 4<<4 | 6
	many := func(n int) (b []byte) {
		for i := range n {
			next := uint8(60)
			if i == n-1 {
				next = unix.IPPROTO_UDP
			}
			b = append(b, extension(next, 0, 8)...)
		}
		return append(b, portsFrom7...)
	}
	flow := func(between [2]netip.Addr, protocol uint8, ports ...uint16) *steer.First {
		f := steer.First{Source: between[0], Destination: between[1], Protocol: protocol}
		if len(ports) > 0 {
			f.SourcePort, f.DestinationPort = ports[0], ports[1]
		}
		return &f
	}
	for name, c := range map[string]struct {
		frame []byte
		want  *steer.First
	}{
		"tcp":                  {framed(ipPacket(four, unix.IPPROTO_TCP, portsFrom7)), flow(four, unix.IPPROTO_TCP, 7, 9)},
		"tagged":               {framed(ipPacket(six, unix.IPPROTO_UDP, portsFrom7), unix.ETH_P_8021AD, unix.ETH_P_8021Q), flow(six, unix.IPPROTO_UDP, 7, 9)},
		"options":              {framed(options), flow(four, unix.IPPROTO_UDP, 7, 9)},
		"dccp":                 {framed(ipPacket(four, unix.IPPROTO_DCCP, portsFrom7)), flow(four, unix.IPPROTO_DCCP, 7, 9)},
		"udplite":              {framed(ipPacket(six, unix.IPPROTO_UDPLITE, portsFrom7)), flow(six, unix.IPPROTO_UDPLITE, 7, 9)},
		"gre":                  {framed(ipPacket(four, unix.IPPROTO_GRE, portsFrom7)), flow(four, unix.IPPROTO_GRE)},
		"fragment":             {framed(part), flow(four, unix.IPPROTO_UDP)},
		"echo":                 {framed(ipPacket(four, unix.IPPROTO_ICMP, icmp(8, nil))), flow(four, unix.IPPROTO_ICMP)},
		"echo, six":            {framed(ipPacket(six, unix.IPPROTO_ICMPV6, icmp(128, nil))), flow(six, unix.IPPROTO_ICMPV6)},
		"error":                {framed(ipPacket(router, unix.IPPROTO_ICMP, icmp(3, ipPacket(four, unix.IPPROTO_UDP, portsFrom7)))), flow(four, unix.IPPROTO_UDP, 7, 9)},
		"error, six":           {framed(ipPacket(routerSix, unix.IPPROTO_ICMPV6, icmp(2, ipPacket(six, unix.IPPROTO_TCP, portsFrom7)))), flow(six, unix.IPPROTO_TCP, 7, 9)},
		"error of a fragment":  {framed(ipPacket(router, unix.IPPROTO_ICMP, icmp(11, part))), flow(four, unix.IPPROTO_UDP)},
		"error of an echo":     {framed(ipPacket(router, unix.IPPROTO_ICMP, icmp(3, ipPacket(four, unix.IPPROTO_ICMP, icmp(8, nil))))), flow(four, unix.IPPROTO_ICMP)},
		"error of neither":     {framed(ipPacket(router, unix.IPPROTO_ICMP, icmp(3, make([]byte, 28)))), flow(router, unix.IPPROTO_ICMP)},
		"error, extended":      {framed(ipPacket(routerSix, 0, joined(extension(unix.IPPROTO_ICMPV6, 0, 8), icmp(1, ipPacket(six, 60, many(1)))))), flow(six, unix.IPPROTO_UDP, 7, 9)},
		"error, cut off":       {framed(ipPacket(router, unix.IPPROTO_ICMP, icmp(3, ipPacket(four, unix.IPPROTO_UDP, portsFrom7[:3])))), nil},
		"error, cut off early": {framed(ipPacket(router, unix.IPPROTO_ICMP, icmp(3, nil))), nil},
		"cut off":              {framed(ipPacket(four, unix.IPPROTO_TCP, portsFrom7[:3])), nil},
		"extensions":           {framed(ipPacket(six, 0, joined(extension(51, 1, 16), extension(unix.IPPROTO_UDP, 4, 24), portsFrom7))), flow(six, unix.IPPROTO_UDP, 7, 9)},
		"eight extensions":     {framed(ipPacket(six, 60, many(8))), flow(six, unix.IPPROTO_UDP, 7, 9)},
		"nine extensions":      {framed(ipPacket(six, 60, many(9))), flow(six, 60)},
		"cut off extension":    {framed(ipPacket(six, 60, []byte{17, 0, 0})), nil},
		"first fragment":       {framed(ipPacket(six, 44, joined(fragment(unix.IPPROTO_UDP, 1), portsFrom7))), flow(six, unix.IPPROTO_UDP)},
		"later fragment":       {framed(ipPacket(six, 44, joined(fragment(60, 8), portsFrom7))), flow(six, 60)},
		"fragment of options":  {framed(ipPacket(six, 44, joined(fragment(60, 1), many(1)))), flow(six, 60)},
		"fragment of an error": {framed(ipPacket(routerSix, 44, joined(fragment(unix.IPPROTO_ICMPV6, 1), icmp(2, ipPacket(six, unix.IPPROTO_TCP, portsFrom7))))), flow(routerSix, unix.IPPROTO_ICMPV6)},
		"no IP":                {make([]byte, 64), nil},
		"nothing":              {nil, nil},
	} {
		f, is := run.FlowIn(c.frame)
		if is != (c.want != nil) || is && f != *c.want {
			t.Errorf("%s: %+v (%v), want %+v", name, f, is, c.want)
		}
		for n := range c.frame { // whatever was kept of it
			run.FlowIn(c.frame[:n:n])
		}
	}
}
