// Package abstract is where processes of one user meet: local sockets whose names
// are in no file system (unix(7)), so that one vanishes with its process, however
// that dies. Such a name belongs to a network namespace and has no permissions:
// anyone there may take it or connect to it. So each side looks who the other is,
// and deals only with its own user and with root.
package abstract

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

var (
	// ErrNone is returned by Dial when nobody listens.
	ErrNone = errors.New("nobody listens")
	// ErrTaken is returned by Listen when a process of the same user, or of root,
	// has the name already.
	ErrTaken = errors.New("another process has the name")
)

// StrangerError is returned when the other side is another user's process.
type StrangerError struct {
	Name string
	UID  uint32
	PID  int
}

// Error implements error.
func (e *StrangerError) Error() string {
	return fmt.Sprintf("process %d of user %d uses the socket %s, which is nfchain's; end it", e.PID, e.UID, e.Name)
}

// Listen takes a name. Who connects must be looked at with [Peer]. It returns
// ErrTaken, or a *[StrangerError] when another user was first.
func Listen(name string) (*net.UnixListener, error) {
	l, err := net.ListenUnix("unix", address(name))
	if !errors.Is(err, unix.EADDRINUSE) {
		return l, err
	}
	c, err := Dial(name)
	if err != nil && !errors.Is(err, ErrNone) {
		return nil, err
	}
	if err == nil {
		_ = c.Close()
	}
	return nil, fmt.Errorf("%s: %w", name, ErrTaken)
}

// Conn is a connection to a listening process.
type Conn struct {
	*net.UnixConn
	// PID of the process.
	PID int
}

// Dial connects to a name. It returns ErrNone, or a *[StrangerError] when another
// user listens there.
func Dial(name string) (Conn, error) {
	c, err := net.DialUnix("unix", nil, address(name))
	if errors.Is(err, unix.ECONNREFUSED) {
		return Conn{}, fmt.Errorf("%s: %w", name, ErrNone)
	}
	if err != nil {
		return Conn{}, err
	}
	pid, err := Peer(c)
	if err != nil {
		_ = c.Close()
		return Conn{}, err
	}
	return Conn{c, pid}, nil
}

// Peer is the process at the other end; a *[StrangerError] when it is another
// user's.
func Peer(c *net.UnixConn) (pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	control := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err := errors.Join(control, err); err != nil {
		return 0, err
	}
	if cred.Uid != 0 && cred.Uid != uint32(os.Geteuid()) {
		name := c.RemoteAddr().String()
		if len(name) <= 1 { // who connects has no name
			name = c.LocalAddr().String()
		}
		return 0, &StrangerError{Name: name, UID: cred.Uid, PID: int(cred.Pid)}
	}
	return int(cred.Pid), nil
}

func address(name string) *net.UnixAddr { return &net.UnixAddr{Name: "@" + name, Net: "unix"} }
