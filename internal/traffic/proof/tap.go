package proof

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource/link"
)

// The ways through a chain.
const (
	forward = 0
	reverse = 1
)

// A marked packet's payload is the nonce, the way it goes, its number, and
// filling. With the filling its frame is between shortest and longest over IPv4
// and IPv6, TCP with options and UDP, which the sockets' filter lets pass.
const (
	payload           = 200
	shortest, longest = payload + 14 + 20 + 8, payload + 14 + 40 + 60
)

// tap is a packet socket in a function's namespace.
type tap struct {
	function   Function
	fd         int
	nonce      []byte
	west, east int
	// in and out are when each packet was first seen entering and leaving on the
	// right interfaces.
	in, out [2][rounds]time.Time
}

func open(f Function, nonce []byte) (*tap, error) {
	h, err := netns.Open(f.Netns)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	index, err := link.Indexes(h)
	if err != nil {
		return nil, err
	}
	t := &tap{function: f, nonce: nonce, west: index[f.West], east: index[f.East]}
	err = h.Do(func() error {
		// The protocol is bound after the filter is in place.
		t.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := t.listen(); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *tap) listen() error {
	if err := filter(t.fd); err != nil {
		return err
	}
	if err := unix.SetsockoptInt(t.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		return err
	}
	return unix.Bind(t.fd, &unix.SockaddrLinklayer{Protocol: binary.NativeEndian.Uint16([]byte{0, unix.ETH_P_ALL})})
}

// filter lets only packets of a marked one's length in, so that other traffic
// does not fill the socket.
func filter(fd int) error {
	program, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadExtension{Num: bpf.ExtLen},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: shortest, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpGreaterThan, Val: longest, SkipTrue: 1},
		bpf.RetConstant{Val: longest},
		bpf.RetConstant{Val: 0},
	})
	if err != nil {
		return err
	}
	raw := make([]unix.SockFilter, len(program))
	for i, in := range program {
		raw[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(raw)), Filter: &raw[0]})
}

func (t *tap) close() { unix.Close(t.fd) }

// drain reads what the socket holds.
func (t *tap) drain() {
	buffer, control := make([]byte, longest), make([]byte, 128)
	for {
		n, cn, _, from, err := unix.Recvmsg(t.fd, buffer, control, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return
		}
		if at, ok := from.(*unix.SockaddrLinklayer); ok {
			t.note(buffer[:n], at, stamp(control[:cn]))
		}
	}
}

// note counts a packet if it is a marked one where it should be.
func (t *tap) note(packet []byte, at *unix.SockaddrLinklayer, when time.Time) {
	i := bytes.Index(packet, t.nonce)
	if i < 0 || len(packet) < i+len(t.nonce)+2 {
		return
	}
	way, number := int(packet[i+len(t.nonce)]), int(packet[i+len(t.nonce)+1])
	if way > reverse || number >= rounds {
		return
	}
	entry, exit := t.west, t.east
	if way == reverse {
		entry, exit = exit, entry
	}
	list := &t.in
	switch {
	case at.Pkttype == unix.PACKET_OUTGOING && at.Ifindex == exit:
		list = &t.out
	case at.Pkttype == unix.PACKET_HOST && at.Ifindex == entry:
	default:
		return
	}
	if list[way][number].IsZero() {
		list[way][number] = when
	}
}

// count of the packets that came in and went out one way.
func (t *tap) count(way int) int {
	n := 0
	for i := range rounds {
		if !t.in[way][i].IsZero() && !t.out[way][i].IsZero() {
			n++
		}
	}
	return n
}

// stamp is the kernel's time of a packet.
func stamp(control []byte) time.Time {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return time.Now()
	}
	for _, m := range messages {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SO_TIMESTAMPNS && len(m.Data) >= int(unsafe.Sizeof(unix.Timespec{})) {
			ts := (*unix.Timespec)(unsafe.Pointer(&m.Data[0]))
			return time.Unix(ts.Sec, ts.Nsec)
		}
	}
	return time.Now()
}
