package rr

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/trial"
)

// tick is how often a waiting thread looks at the clock.
const tick = 100 * time.Millisecond

// errLate is returned when nothing came until it was no longer waited for.
var errLate = errors.New("no answer")

// errClosed is returned when the other side has closed the connection.
var errClosed = errors.New("the other side closed the connection")

// open makes a socket for the protocol that blocks for at most a tick.
func (s settings) open() (int, error) {
	family, kind := unix.AF_INET6, unix.SOCK_STREAM
	if s.Address.Addr().Is4() {
		family = unix.AF_INET
	}
	if s.Protocol == trial.UDPRR {
		kind = unix.SOCK_DGRAM
	}
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("socket: %w", err)
	}
	if err := tune(fd, kind == unix.SOCK_STREAM); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func tune(fd int, stream bool) error {
	wait := unix.NsecToTimeval(tick.Nanoseconds())
	err := errors.Join(
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &wait),
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1))
	if stream {
		err = errors.Join(err, unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1))
	}
	return err
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

// again tells the errors after which a call is made again: the tick has passed, or
// a signal came.
func again(err error) bool {
	return err == unix.EAGAIN || err == unix.EINTR || err == unix.EINPROGRESS || err == unix.EALREADY
}

// connect connects until a time.
func connect(fd int, to unix.Sockaddr, until time.Time) error {
	for {
		err := unix.Connect(fd, to)
		if err == nil || err == unix.EISCONN {
			return nil
		}
		if !again(err) {
			return err
		}
		if time.Now().After(until) {
			return errLate
		}
	}
}

// send sends all of a message until a time.
func send(fd int, message []byte, until time.Time) error {
	for len(message) > 0 {
		n, err := unix.Write(fd, message)
		if err == nil {
			message = message[n:]
			continue
		}
		if !again(err) {
			return err
		}
		if time.Now().After(until) {
			return errLate
		}
	}
	return nil
}

// peer is where a datagram came from, as the kernel has it.
type peer struct {
	raw  unix.RawSockaddrAny
	size uint32
}

// receive takes what is there into a buffer, or waits for it until a time. A zero
// time waits for ever. It allocates nothing. From may be nil.
func receive(fd int, into []byte, flags int, from *peer, until time.Time) (int, error) {
	for {
		n, err := take(fd, into, flags, from)
		if err == 0 {
			return n, nil
		}
		if !again(err) {
			return 0, err
		}
		if !until.IsZero() && time.Now().After(until) {
			return 0, errLate
		}
	}
}

func take(fd int, into []byte, flags int, from *peer) (int, unix.Errno) {
	var address, size unsafe.Pointer
	if from != nil {
		from.size = uint32(unsafe.Sizeof(from.raw))
		address, size = unsafe.Pointer(&from.raw), unsafe.Pointer(&from.size)
	}
	n, _, err := unix.Syscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&into[0])), uintptr(len(into)),
		uintptr(flags), uintptr(address), uintptr(size))
	return int(n), err
}

// reply sends a datagram back to where one came from.
func reply(fd int, message []byte, to *peer) error {
	_, _, err := unix.Syscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&message[0])), uintptr(len(message)),
		0, uintptr(unsafe.Pointer(&to.raw)), uintptr(to.size))
	if err != 0 {
		return err
	}
	return nil
}

// receiveAll fills a buffer from a stream until a time; a zero time is for ever.
func receiveAll(fd int, into []byte, flags int, until time.Time) error {
	for len(into) > 0 {
		n, err := receive(fd, into, flags, nil, until)
		if err != nil {
			return err
		}
		if n == 0 {
			return errClosed
		}
		into = into[n:]
	}
	return nil
}

// flags of receiving: a busy loop never sleeps.
func (s settings) flags() int {
	if s.Busy {
		return unix.MSG_DONTWAIT
	}
	return 0
}

// onCore runs a flow on a thread of its own, bound to the flow's core if there are
// cores. The thread dies with the flow.
func onCore(cores []int, flow int, run func() error) error {
	runtime.LockOSThread()
	if len(cores) > 0 {
		var set unix.CPUSet
		set.Set(cores[flow%len(cores)])
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return fmt.Errorf("bind flow %d to core %d: %w", flow+1, cores[flow%len(cores)], err)
		}
	}
	return run()
}
