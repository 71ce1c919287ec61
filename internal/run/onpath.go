package run

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// rereads is how long what was opened of the ports counts: `up` may put other programs there.
const rereads = time.Second

// onPath tells on which path packets are, for as long as it is asked.
type onPath struct {
	plan   *plan.Plan
	opened time.Time
	ports  *steer.OnPath
}

// of a frame the path of its flow, in words; "" where that is not known.
func (o *onPath) of(frame []byte) string {
	f, is := flowIn(frame)
	if !is {
		return ""
	}
	if time.Since(o.opened) >= rereads {
		o.open()
	}
	if o.ports == nil {
		return ""
	}
	name, older, known := o.ports.Of(f)
	switch path := o.plan.Classifier.Path(name); {
	case older:
		return "that the chain no longer has"
	case !known || path == nil:
		return ""
	default:
		return path.Whole()
	}
}

func (o *onPath) open() {
	o.close()
	o.opened = time.Now()
	h, err := netns.Open(o.plan.Between())
	if err != nil {
		return
	}
	defer h.Close()
	for _, r := range o.plan.Resources {
		if s, is := r.Spec.(steer.Spec); is && s.Paths != nil && s.Paths.End == steer.FirstEnd {
			o.ports, _ = steer.OpenOnPath(resource.At(h, o.plan.Chain), s) // then no path is told
			return
		}
	}
}

func (o *onPath) close() {
	if o.ports != nil {
		o.ports.Close()
		o.ports = nil
	}
}

// flowIn a frame is what the ports know it by: of an error of ICMP, the flow that it is about (bpf/include/conversation.h). False for what
// has none, as what is not IP, and where too little of it was kept to tell.
func flowIn(frame []byte) (f steer.First, is bool) {
	packet, six, is := packetIn(frame)
	if !is {
		return f, false
	}
	f, transport, is := flowOf(packet, six)
	if icmp := icmpOf(six); !is || f.Protocol != icmp || transport == nil {
		return f, is
	}
	about, errs, is := quoted(transport, six)
	if !is || !errs {
		return f, is
	}
	f, _, is = flowOf(about, six)
	return f, is
}

// packetIn a frame begins with the header of IP.
func packetIn(frame []byte) (packet []byte, six, is bool) {
	const addresses, tag = 12, 4
	at := addresses
	for at+tag < len(frame) && isTag(binary.BigEndian.Uint16(frame[at:])) {
		at += tag
	}
	if at+2 > len(frame) {
		return nil, false, false
	}
	kind := binary.BigEndian.Uint16(frame[at:])
	return frame[at+2:], kind == unix.ETH_P_IPV6, kind == unix.ETH_P_IP || kind == unix.ETH_P_IPV6
}

func icmpOf(six bool) uint8 {
	if six {
		return unix.IPPROTO_ICMPV6
	}
	return unix.IPPROTO_ICMP
}

// quoted is the packet that a message of ICMP is about, as far as it is in it; errs tells whether it is about one.
func quoted(message []byte, six bool) (about []byte, errs, is bool) {
	const header = 8
	if len(message) == 0 {
		return nil, false, false
	}
	version := uint8(4)
	if six {
		version, errs = 6, message[0] < 128
	} else {
		errs = slices.Contains([]byte{3, 4, 5, 11, 12}, message[0])
	}
	if !errs {
		return nil, false, true
	}
	if len(message) <= header {
		return nil, false, false
	}
	return message[header:], message[header]>>4 == version, true
}

// flowOf a packet, and what begins with the header of its transport; nil where that is not looked at, as in fragments (bpf/include/packet.h).
func flowOf(packet []byte, six bool) (f steer.First, transport []byte, is bool) {
	if six {
		if len(packet) < ipv6Header {
			return f, nil, false
		}
		f.Source, f.Destination = netip.AddrFrom16([16]byte(packet[8:])), netip.AddrFrom16([16]byte(packet[24:]))
		f.Protocol, transport, is = behindExtensions(packet[6], packet[ipv6Header:])
	} else {
		if len(packet) < ipv4Header || int(packet[0]&15)*4 > len(packet) {
			return f, nil, false
		}
		f.Source, f.Destination = netip.AddrFrom4([4]byte(packet[12:])), netip.AddrFrom4([4]byte(packet[16:]))
		f.Protocol, is = packet[9], true
		if binary.BigEndian.Uint16(packet[6:])&0x3fff == 0 {
			transport = packet[int(packet[0]&15)*4:]
		}
	}
	if !is || transport == nil || !hasPorts(f.Protocol) {
		return f, transport, is
	}
	if len(transport) < 4 {
		return f, nil, false
	}
	f.SourcePort, f.DestinationPort = binary.BigEndian.Uint16(transport), binary.BigEndian.Uint16(transport[2:])
	return f, transport, true
}

// behindExtensions of IPv6, as many as are looked behind, is a header of this protocol; of fragments it is what all of a packet name, and none
// is looked at.
func behindExtensions(protocol uint8, rest []byte) (last uint8, header []byte, is bool) {
	const most, fragment, authentication = 8, 44, 51
	fragmented, divided := false, uint8(0)
	for extensions := 0; ; extensions++ {
		if !isExtension(protocol) {
			if fragmented {
				return divided, nil, true
			}
			return protocol, rest, true
		}
		if extensions == most && fragmented {
			return divided, nil, true
		}
		if extensions == most {
			return protocol, nil, true
		}
		if len(rest) < 4 {
			return 0, nil, false
		}
		length := (int(rest[1]) + 1) * 8
		switch protocol {
		case authentication:
			length = (int(rest[1]) + 2) * 4
		case fragment:
			length, fragmented, divided = 8, true, rest[0]
			if binary.BigEndian.Uint16(rest[2:])&0xfff8 != 0 { // not the first: no header follows
				return divided, nil, true
			}
		}
		protocol, rest = rest[0], rest[min(length, len(rest)):]
	}
}

// isExtension tells whether a header of IPv6 has another behind it: options, routing, fragment, authentication, mobility, host identity, shim6.
func isExtension(protocol uint8) bool {
	return slices.Contains([]uint8{0, 43, 44, 51, 60, 135, 139, 140}, protocol)
}

func hasPorts(protocol uint8) bool {
	return slices.Contains([]uint8{protocolTCP, protocolUDP, unix.IPPROTO_SCTP, unix.IPPROTO_DCCP, unix.IPPROTO_UDPLITE}, protocol)
}

func isTag(kind uint16) bool { return kind == unix.ETH_P_8021Q || kind == unix.ETH_P_8021AD }
