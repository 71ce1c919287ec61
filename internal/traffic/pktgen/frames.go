package pktgen

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"runtime"
	"strconv"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// The lengths of what a frame is made of, in bytes. The frame check sequence is counted
// by RFC 2544 and not by pktgen, which needs room for a header of its own.
const (
	fcs         = 4
	ethernet    = 14
	tag         = 4
	ipv4Header  = 20
	ipv6Header  = 40
	udpHeader   = 8
	ownHeader   = 16
	smallest    = 64 // of RFC 2544
	firstSource = 1024
	ports       = 1 << 16
)

// frames that pktgen is to send.
type frames struct {
	device   string
	toMAC    net.HardwareAddr
	from, to netip.Addr
	port     int
	flows    int
	vlan     int
	size     int // with the frame check sequence
	burst    int
	// delay from one burst to the next in ns; 0 is none.
	delay uint64
}

// errOptions is returned for loads that pktgen does not offer.
var errOptions = errors.New("pktgen sends frames of one size, one way, at even distances: leave out imix, pattern, bidirectional, flows_by and payload_size, or use builtin")

// framesOf a job: their shape, without the way that they take.
func framesOf(job traffic.Job, to netip.Addr) (frames, error) {
	c := job.Condition
	if c.IMIX != "" || c.Bidirectional || c.PayloadSize > 0 || c.FlowsBy != "" && c.FlowsBy != trial.FlowsByPorts || c.Pattern != "" && c.Pattern != "periodic" {
		return frames{}, errOptions
	}
	f := frames{to: to, port: job.FirstPort, flows: max(1, c.Flows), vlan: c.VLAN, burst: max(1, c.Burst)}
	if f.flows > ports-1-firstSource {
		return f, fmt.Errorf("flows differ in their source ports, of which there are %d: ask for no more, or use builtin", ports-1-firstSource)
	}
	least := max(smallest, f.headers()+ownHeader+fcs)
	if f.size = c.FrameSize; f.size == 0 {
		f.size = least
	}
	if f.size < least {
		return f, fmt.Errorf("pktgen's frames to %s have %d bytes at least, for its own header, not %d; use builtin", to, least, f.size)
	}
	return f, f.paced(c)
}

// headers before the payload.
func (f frames) headers() int {
	n := ethernet + ipv6Header + udpHeader
	if f.to.Is4() {
		n = ethernet + ipv4Header + udpHeader
	}
	if f.vlan > 0 {
		n += tag
	}
	return n
}

// paced by a rate. Pktgen's own commands for rates round to whole nanoseconds, too,
// and do not know of bursts.
func (f *frames) paced(c trial.Condition) error {
	pps := f.asked(c)
	if pps == 0 {
		return nil
	}
	delay := math.Round(float64(f.burst) / pps * 1e9)
	if delay > 1e9 {
		return fmt.Errorf("pktgen sends at least once a second, not %d frames every %.1f s; use builtin", f.burst, delay/1e9)
	}
	f.delay = uint64(max(1, delay))
	return nil
}

// asked is the rate that a condition asks for, in frames/s.
func (f frames) asked(c trial.Condition) float64 {
	if c.OfferedBps > 0 {
		return c.OfferedBps / 8 / float64(f.size)
	}
	return c.OfferedPps
}

// commands that make pktgen send them, by Documentation/networking/pktgen.rst of the
// kernel. Every frame is made anew (clone_skb 0): copies are all of one flow, and
// virtual devices take none.
func (f frames) commands() []string {
	port := strconv.Itoa(f.port)
	list := []string{
		"count 0", "clone_skb 0", fmt.Sprintf("pkt_size %d", f.size-fcs), fmt.Sprintf("delay %d", f.delay), "dst_mac " + f.toMAC.String(),
		fmt.Sprintf("udp_src_min %d", firstSource), fmt.Sprintf("udp_src_max %d", firstSource+f.flows), // which is not used itself
		"udp_dst_min " + port, "udp_dst_max " + port,
	}
	if f.to.Is4() {
		list = append(list, "src_min "+f.from.String(), "dst "+f.to.String())
	} else {
		// UDP over IPv6 has a checksum (RFC 8200 §8.1).
		list = append(list, "src6 "+f.from.String(), "dst6 "+f.to.String(), "flag UDPCSUM")
	}
	if f.vlan > 0 {
		list = append(list, fmt.Sprintf("vlan_id %d", f.vlan))
	}
	if f.burst > 1 {
		list = append(list, fmt.Sprintf("burst %d", f.burst))
	}
	return list
}

// core whose thread sends: the first that the affinity names, else the last there is,
// since what is not bound begins at the first.
func core(affinity string) int {
	if list := traffic.Cores(affinity); len(list) > 0 {
		return list[0]
	}
	return runtime.NumCPU() - 1
}
