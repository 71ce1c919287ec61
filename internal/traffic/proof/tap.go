package proof

import (
	"encoding/binary"
	"errors"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource/link"
)

// The ways through a chain.
const (
	forward = 0
	reverse = 1
)

// rounds of one packet there and one back. The opening of the TCP connection has
// a number of its own: it proves nothing and tells where it got lost.
const (
	rounds  = 8
	opening = rounds
)

// Rounds is how many marked packets go each way.
const Rounds = rounds

// visits of one packet each: when it was first seen, zero if it was not.
type visits [2][rounds + 1]time.Time

// tap is a packet socket in a function's namespace.
type tap struct {
	function   Function
	fd         int
	nonce      []byte
	ports      []uint16
	west, east int
	// in and out are the visits to the interfaces where packets should enter and
	// leave, of a function's replicas together.
	in, out *visits
	// others are those of its replicas.
	others []*tap
}

func open(p Path, f Function, nonce []byte) (*tap, error) {
	h, err := netns.Open(f.Netns)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	index, err := link.Indexes(h)
	if err != nil {
		return nil, err
	}
	t := &tap{function: f, nonce: nonce, ports: []uint16{p.To.Port(), p.At.Port()}, west: index[f.West], east: index[f.East], in: &visits{}, out: &visits{}}
	if f.Hands {
		t.out = t.in
	}
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
	if err := attach(t.fd, t.nonce); err != nil {
		return err
	}
	if err := unix.SetsockoptInt(t.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		return err
	}
	return unix.Bind(t.fd, &unix.SockaddrLinklayer{Protocol: binary.NativeEndian.Uint16([]byte{0, unix.ETH_P_ALL})})
}

func (t *tap) close() {
	_ = unix.Close(t.fd)
	for _, o := range t.others {
		o.close()
	}
}

// drain reads what the sockets hold.
func (t *tap) drain() {
	for _, o := range t.others {
		o.drain()
	}
	buffer, control := make([]byte, longest), make([]byte, 64)
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
	way, number, ok := read(packet, t.nonce)
	if !ok {
		if way, ok = opens(packet, t.ports...); !ok {
			return
		}
		number = opening
	}
	entry, exit := t.west, t.east
	if way == reverse {
		entry, exit = exit, entry
	}
	list := t.in
	switch {
	case at.Pkttype == unix.PACKET_OUTGOING && at.Ifindex == exit:
		list = t.out
	case at.Ifindex == entry && (at.Pkttype == unix.PACKET_HOST || t.function.Transparent && at.Pkttype == unix.PACKET_OTHERHOST):
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

// any tells whether any packet of one way is among the visits.
func (v *visits) any(way int) bool {
	for _, when := range v[way] {
		if !when.IsZero() {
			return true
		}
	}
	return false
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
