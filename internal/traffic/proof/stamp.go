package proof

import (
	"errors"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// settled is the age, before it is read, by which a packet shows that it was
// stamped on its way.
const settled = time.Millisecond

// awaitStamps returns once packets are stamped on their way. The kernel stamps
// them only while some socket wants it, and begins a while after the first one
// does; until then a packet gets the time at which it is read, which says nothing
// about the order of visits.
func awaitStamps() error {
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	defer func() { _ = socket.Close() }()
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	option := errors.New("not reached")
	err = raw.Control(func(fd uintptr) {
		option = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	if err := errors.Join(err, option); err != nil {
		return err
	}
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); {
		age, err := stampAge(socket)
		if err != nil {
			return err
		}
		if age >= settled {
			return nil
		}
	}
	return errors.New("the kernel does not stamp packets")
}

// stampAge sends the socket a packet, reads it some time later and says how old
// its stamp was before: a stamp that it gets by being read is younger than that, however long a
// busy machine then takes to say so.
func stampAge(socket *net.UDPConn) (time.Duration, error) {
	if _, err := socket.WriteTo([]byte{0}, socket.LocalAddr()); err != nil {
		return 0, err
	}
	time.Sleep(2 * settled)
	b, control, before := make([]byte, 1), make([]byte, 128), time.Now()
	if err := socket.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		return 0, err
	}
	_, n, _, _, err := socket.ReadMsgUDP(b, control)
	if err != nil {
		return 0, err
	}
	return before.Sub(stamp(control[:n])), nil
}
