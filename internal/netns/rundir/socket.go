package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ErrNone is returned by Dial when nobody listens.
var ErrNone = errors.New("nobody listens")

// Listener is a listening socket with a lock beside it, which keeps others from
// taking its place.
type Listener struct {
	*net.UnixListener
	lock *Lock
}

// Listen takes a path. When another process listens there it is a *[TakenError].
func Listen(path string) (*Listener, error) {
	lock, err := own(path)
	if err != nil {
		return nil, err
	}
	_ = os.Remove(path) // of one that was killed
	// Who may write to a socket's file may connect to it.
	before := unix.Umask(0o177)
	l, err := net.ListenUnix("unix", address(path))
	unix.Umask(before)
	if err != nil {
		lock.Release()
		return nil, err
	}
	return &Listener{l, lock}, nil
}

// endsWithin is how long one that no longer listens may keep its lock.
const endsWithin = 5 * time.Second

// own takes the lock of a path, from one that is ending once it has ended.
func own(path string) (*Lock, error) {
	for deadline := time.Now().Add(endsWithin); ; time.Sleep(2 * time.Millisecond) {
		lock, err := Take(path + ".lock")
		if !errors.As(err, new(*TakenError)) || time.Now().After(deadline) {
			return lock, err
		}
		if c, none := Dial(path); none == nil {
			_ = c.Close()
			return nil, err
		}
	}
}

// Close removes the socket and then its lock.
func (l *Listener) Close() error {
	err := l.UnixListener.Close()
	if !errors.Is(err, net.ErrClosed) {
		l.lock.Release()
	}
	return err
}

// Conn is a connection to a listening process.
type Conn struct {
	*net.UnixConn
	// PID of the process.
	PID int
}

// Dial connects to a path; ErrNone when nobody listens there.
func Dial(path string) (Conn, error) {
	c, err := net.DialUnix("unix", nil, address(path))
	if errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) {
		return Conn{}, fmt.Errorf("%s: %w", path, ErrNone)
	}
	if err != nil {
		return Conn{}, err
	}
	is, err := Peer(c)
	if err != nil {
		_ = c.Close()
		return Conn{}, err
	}
	return Conn{c, int(is.Pid)}, nil
}

// Peer is the process at the other end of a connection: who listened there, or who connected.
func Peer(c *net.UnixConn) (is *unix.Ucred, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	control := raw.Control(func(fd uintptr) {
		is, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	return is, errors.Join(control, err)
}

func address(path string) *net.UnixAddr { return &net.UnixAddr{Name: path, Net: "unix"} }
