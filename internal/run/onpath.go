package run

import (
	"encoding/binary"
	"net/netip"
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
		return path.Text()
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

// flowIn a frame is what the ports know it by; false for what has none, as what is not IP.
func flowIn(frame []byte) (f steer.First, is bool) {
	const addresses, tag = 12, 4
	at := addresses
	for at+tag < len(frame) && isTag(binary.BigEndian.Uint16(frame[at:])) {
		at += tag
	}
	if at+2 > len(frame) {
		return f, false
	}
	kind, packet := binary.BigEndian.Uint16(frame[at:]), frame[at+2:]
	header, fragment := 0, false
	switch {
	case kind == unix.ETH_P_IP && len(packet) >= ipv4Header:
		header, fragment = int(packet[0]&15)*4, binary.BigEndian.Uint16(packet[6:])&0x3fff != 0
		f.Protocol, f.Source, f.Destination = packet[9], netip.AddrFrom4([4]byte(packet[12:])), netip.AddrFrom4([4]byte(packet[16:]))
	case kind == unix.ETH_P_IPV6 && len(packet) >= ipv6Header:
		header = ipv6Header
		f.Protocol, f.Source, f.Destination = packet[6], netip.AddrFrom16([16]byte(packet[8:])), netip.AddrFrom16([16]byte(packet[24:]))
	default:
		return f, false
	}
	ported := f.Protocol == protocolTCP || f.Protocol == protocolUDP || f.Protocol == unix.IPPROTO_SCTP
	if ported && !fragment {
		if len(packet) < header+4 {
			return f, false
		}
		f.SourcePort, f.DestinationPort = binary.BigEndian.Uint16(packet[header:]), binary.BigEndian.Uint16(packet[header+2:])
	}
	return f, true
}

func isTag(kind uint16) bool { return kind == unix.ETH_P_8021Q || kind == unix.ETH_P_8021AD }
