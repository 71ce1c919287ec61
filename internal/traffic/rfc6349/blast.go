package rfc6349

import (
	"errors"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The largest of what the kernel takes at once to cut into datagrams.
const (
	mostSegments = 64
	mostBytes    = 65000
)

// blast sends datagrams as large as the path takes, as many as it can: what arrives
// of them is what the bottleneck lets through (§3.2). Datagrams that do not fit
// teach the kernel the path's MTU.
func blast(s settings) error {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(s.Address))
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	u := datagrams{c, raw, s.Address.Addr().Is4()}
	if err := u.neverFragment(); err != nil {
		return err
	}
	size, err := u.learn()
	if err != nil {
		return err
	}
	return u.flood(size, time.Now().Add(blastFor))
}

// datagrams is a connected UDP socket.
type datagrams struct {
	*net.UDPConn
	raw syscall.RawConn
	is4 bool
}

func (u datagrams) control(act func(fd int) error) (err error) {
	outer := u.raw.Control(func(fd uintptr) { err = act(int(fd)) })
	return errors.Join(err, outer)
}

func (u datagrams) neverFragment() error {
	return u.control(func(fd int) error {
		if u.is4 {
			return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO)
		}
		return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_DO)
	})
}

// payload is what the kernel takes to fit into a packet now.
func (u datagrams) payload() (size int, err error) {
	err = u.control(func(fd int) (err error) {
		if u.is4 {
			size, err = unix.GetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU)
			size -= headersOf(false).udp
			return err
		}
		size, err = unix.GetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MTU)
		size -= headersOf(true).udp
		return err
	})
	return size, err
}

// learn sends single datagrams until the kernel's answer stays.
func (u datagrams) learn() (size int, err error) {
	if size, err = u.payload(); err != nil {
		return 0, err
	}
	for range 5 {
		_, _ = u.Write(make([]byte, size)) // an error is of the one before
		time.Sleep(20 * time.Millisecond)
		if size, err = u.payload(); err != nil {
			return 0, err
		}
	}
	return size, nil
}

// flood sends until the end, as many datagrams with one call as the kernel cuts,
// and one by one where it does not.
func (u datagrams) flood(size int, end time.Time) error {
	many := max(1, min(mostSegments, mostBytes/size))
	if u.control(func(fd int) error { return unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT, size) }) != nil {
		many = 1
	}
	buffer := make([]byte, many*size)
	for time.Now().Before(end) {
		_, err := u.Write(buffer)
		switch {
		case err == nil, errors.Is(err, unix.ENOBUFS):
		case many > 1 && (errors.Is(err, unix.EIO) || errors.Is(err, unix.EINVAL)):
			many = 1
			buffer = buffer[:size]
			_ = u.control(func(fd int) error { return unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT, 0) })
		default:
			return err
		}
	}
	return nil
}
