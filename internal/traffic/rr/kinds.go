package rr

import (
	"encoding/binary"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// connection is tcp_rr: one connection for all transactions.
type connection struct {
	settings
	flow, fd          int
	request, response []byte
}

func (k *connection) open(until time.Time) (err error) {
	k.request, k.response = make([]byte, k.Request), make([]byte, k.Response)
	if k.fd, err = k.settings.open(); err != nil {
		return err
	}
	return connect(k.fd, sockaddr(k.port(k.flow)), until)
}

func (k *connection) exchange(_, until time.Time) error {
	if err := send(k.fd, k.request, until); err != nil {
		return err
	}
	return receiveAll(k.fd, k.response, k.flags(), until)
}

func (k *connection) close(c *counts) {
	c.retransmitted(k.fd)
	_ = unix.Close(k.fd)
}

// retransmitted adds what a connection sent again.
func (c *counts) retransmitted(fd int) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return
	}
	n := uint64(info.Total_retrans)
	if c.Retransmits != nil {
		n += *c.Retransmits
	}
	c.Retransmits = &n
}

// connections is tcp_crr: connect, request, response, close, the time of all of
// them being the transaction's. It ends when the server's close has arrived.
type connections struct {
	settings
	flow              int
	to                unix.Sockaddr
	request, response []byte
}

func (k *connections) open(time.Time) error {
	k.to = sockaddr(k.port(k.flow))
	k.request, k.response = make([]byte, k.Request), make([]byte, k.Response)
	return nil
}

func (k *connections) exchange(_, until time.Time) error {
	fd, err := k.settings.open()
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	if err := connect(fd, k.to, until); err != nil {
		return err
	}
	if err := send(fd, k.request, until); err != nil {
		return err
	}
	if err := receiveAll(fd, k.response, k.flags(), until); err != nil {
		return err
	}
	var more [1]byte
	n, err := receive(fd, more[:], k.flags(), nil, until)
	if n > 0 {
		return errors.New("the response is longer than was asked for")
	}
	return err
}

func (k *connections) close(*counts) {}

// stampSize is how much of a datagram's front tells which transaction it is of; of
// a smaller datagram it is the low bytes, as many as there are.
const stampSize = 8

// datagrams is udp_rr.
type datagrams struct {
	settings
	flow, fd          int
	request, response []byte
	number            uint64
	// gone are the stamps of the lost, so that a late response is told from a
	// duplicate.
	gone            map[uint64]bool
	late, duplicate uint64
	reason          error
}

func (k *datagrams) open(until time.Time) (err error) {
	k.gone = map[uint64]bool{}
	k.request, k.response = make([]byte, max(k.Request, stampSize)), make([]byte, max(k.Response+1, stampSize))
	if k.fd, err = k.settings.open(); err != nil {
		return err
	}
	return connect(k.fd, sockaddr(k.port(k.flow)), until)
}

func (k *datagrams) exchange(began, until time.Time) error {
	k.number++
	mine := k.mark()
	if err := send(k.fd, k.request[:k.Request], until); err != nil {
		k.reason = err
		time.Sleep(time.Until(until)) // as long as a lost one takes
		k.gone[mine] = true
		return errLate
	}
	for {
		n, err := receive(k.fd, k.response, k.flags(), nil, until)
		switch {
		case errors.Is(err, errLate):
			k.gone[mine] = true
			return err
		case err != nil:
			k.reason = err // such as a firewall's refusal: waited out, so that it is no busy loop
			continue
		case n != k.Response:
			continue
		}
		switch got := k.stampOf(k.response); {
		case got == mine && time.Since(began) <= lostAfter:
			return nil
		case got == mine || k.gone[got]:
			k.late++
			delete(k.gone, got)
			if got == mine {
				return errLate
			}
		default:
			k.duplicate++
		}
	}
}

// mark stamps the request with its number and gives the stamp as it will be read.
func (k *datagrams) mark() uint64 {
	binary.LittleEndian.PutUint64(k.request, k.number)
	return k.stampOf(k.request)
}

// stampOf reads as much of a stamp as both messages have room for.
func (k *datagrams) stampOf(message []byte) uint64 {
	var stamp [stampSize]byte
	copy(stamp[:], message[:min(stampSize, k.Request, k.Response)])
	return binary.LittleEndian.Uint64(stamp[:])
}

func (k *datagrams) close(c *counts) {
	c.Late, c.Duplicate = k.late, k.duplicate
	if k.reason != nil {
		c.why(k.reason)
	}
	_ = unix.Close(k.fd)
}
