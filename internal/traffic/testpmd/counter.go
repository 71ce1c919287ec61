package testpmd

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
)

// counter is a packet socket that counts UDP packets to a port as they arrive, and
// keeps none: the kernel counts those that find no room, too.
type counter struct {
	fd    int
	total uint64
}

func listen(ref string, port int) (*counter, error) {
	c := &counter{fd: -1}
	err := netns.Do(ref, func() (err error) {
		// The protocol is bound after the filter is in place.
		c.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		return err
	})
	if err == nil {
		err = c.filter(port)
	}
	if err != nil {
		c.close()
		return nil, fmt.Errorf("count what arrives: %w", err)
	}
	return c, nil
}

// filter lets whole UDP packets over IPv4 to the port in, that were sent to us.
func (c *counter) filter(port int) error {
	code, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadExtension{Num: bpf.ExtType},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.PACKET_HOST, SkipFalse: 6},
		bpf.LoadAbsolute{Off: 9, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.IPPROTO_UDP, SkipFalse: 4},
		bpf.LoadMemShift{Off: 0},
		bpf.LoadIndirect{Off: 2, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(port), SkipFalse: 1},
		bpf.RetConstant{Val: 1},
		bpf.RetConstant{Val: 0},
	})
	if err != nil {
		return err
	}
	program := make([]unix.SockFilter, len(code))
	for i, in := range code {
		program[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	if err := unix.SetsockoptSockFprog(c.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}); err != nil {
		return err
	}
	return unix.Bind(c.fd, &unix.SockaddrLinklayer{Protocol: binary.NativeEndian.Uint16([]byte{unix.ETH_P_IP >> 8, unix.ETH_P_IP & 0xff})})
}

// read is how many have arrived so far. The kernel's own count starts again with
// each reading.
func (c *counter) read() (uint64, error) {
	s, err := unix.GetsockoptTpacketStats(c.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return 0, fmt.Errorf("count what arrives: %w", err)
	}
	c.total += uint64(s.Packets) // with those dropped
	return c.total, nil
}

func (c *counter) close() {
	if c.fd >= 0 {
		_ = unix.Close(c.fd)
	}
}
