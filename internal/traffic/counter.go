package traffic

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/socketfilter"
)

// Arrivals are the packets that a [Counter] counts: whole UDP packets to a port, that
// were sent to this host, and bear the tag of the VLAN if there is one.
type Arrivals struct {
	IPv6       bool
	Port, VLAN int
}

// Counter is a packet socket that counts packets as they arrive, and keeps none: the
// kernel counts those that find no room, too. It is for tools that tell only what they
// sent.
type Counter struct {
	fd    int
	total uint64
}

// Count packets in a namespace from now on.
func Count(ref string, a Arrivals) (*Counter, error) {
	c := &Counter{fd: -1}
	err := netns.Do(ref, func() (err error) {
		// The protocol is bound after the filter is in place.
		c.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		return err
	})
	if err == nil {
		err = c.filter(a)
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("count what arrives: %w", err)
	}
	return c, nil
}

func (c *Counter) filter(a Arrivals) error {
	if err := socketfilter.Attach(c.fd, a.program()); err != nil {
		return err
	}
	kind := a.kind()
	if a.VLAN > 0 {
		// Tags are seen before the kernel gives packets to those that take one protocol:
		// it has no device for the VLAN, and strips them of it.
		kind = unix.ETH_P_ALL
	}
	return unix.Bind(c.fd, &unix.SockaddrLinklayer{Protocol: binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, kind))})
}

// kind of the network header, by its number in Ethernet.
func (a Arrivals) kind() uint16 {
	if a.IPv6 {
		return unix.ETH_P_IPV6
	}
	return unix.ETH_P_IP
}

// program that lets the packets in. It sees them from the network header on.
func (a Arrivals) program() []bpf.Instruction {
	ours := []bpf.Instruction{bpf.LoadExtension{Num: bpf.ExtType}, refuseUnless(unix.PACKET_HOST), bpf.LoadExtension{Num: bpf.ExtProto}, refuseUnless(uint32(a.kind()))}
	if a.VLAN > 0 {
		ours = append(ours, bpf.LoadExtension{Num: bpf.ExtVLANTag}, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0xfff}, refuseUnless(uint32(a.VLAN)))
	}
	protocol, port := uint32(9), []bpf.Instruction{bpf.LoadMemShift{Off: 0}, bpf.LoadIndirect{Off: 2, Size: 2}}
	if a.IPv6 {
		protocol, port = 6, []bpf.Instruction{bpf.LoadAbsolute{Off: 42, Size: 2}}
	}
	all := append(ours, bpf.LoadAbsolute{Off: protocol, Size: 1}, refuseUnless(unix.IPPROTO_UDP))
	all = append(append(all, port...), refuseUnless(uint32(a.Port)), bpf.RetConstant{Val: 1}, bpf.RetConstant{Val: 0})
	for i, in := range all {
		if jump, ok := in.(bpf.JumpIf); ok {
			jump.SkipFalse = uint8(len(all) - 2 - i)
			all[i] = jump
		}
	}
	return all
}

// refuseUnless what was loaded is a value; where to go else is filled in by program.
func refuseUnless(value uint32) bpf.Instruction {
	return bpf.JumpIf{Cond: bpf.JumpEqual, Val: value}
}

// Read is how many have arrived so far. The kernel's own count starts again with
// each reading.
func (c *Counter) Read() (uint64, error) {
	s, err := unix.GetsockoptTpacketStats(c.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return 0, fmt.Errorf("count what arrives: %w", err)
	}
	c.total += uint64(s.Packets) // with those dropped
	return c.total, nil
}

// Close ends the counting.
func (c *Counter) Close() {
	if c.fd >= 0 {
		_ = unix.Close(c.fd)
	}
}
