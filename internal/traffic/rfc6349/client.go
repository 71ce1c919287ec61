package rfc6349

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// connectWithin is how long a connection may take to come about.
const connectWithin = 5 * time.Second

// sampleEvery is how often the round-trip time of a transfer is read: at least
// every second, says the RFC (§4.3).
const sampleEvery = 100 * time.Millisecond

// transfer does the RFC's steps one after the other.
func transfer(s settings) (sentReport, error) {
	r := sentReport{Buffer: mostBuffer("tcp_wmem")}
	var err error
	if r.Baseline, err = baseline(s); err != nil {
		return r, fmt.Errorf("baseline: %w", err)
	}
	if s.Blast {
		if err := blast(s); err != nil {
			return r, fmt.Errorf("bottleneck: %w", err)
		}
	}
	err = send(s, &r)
	return r, err
}

func dial(s settings, purpose byte) (*net.TCPConn, error) {
	c, err := net.DialTimeout("tcp", s.Address.String(), connectWithin)
	if err != nil {
		return nil, err
	}
	if _, err := c.Write([]byte{purpose}); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c.(*net.TCPConn), nil
}

// info is what the kernel knows of a connection.
func info(c *net.TCPConn) (i *unix.TCPInfo, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	control := raw.Control(func(fd uintptr) { i, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) })
	return i, errors.Join(err, control)
}

// baseline is the least round-trip time of single bytes over the idle path, in
// microseconds (§3.1).
func baseline(s settings) (float64, error) {
	c, err := dial(s, echoes)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(baselineFor + connectWithin))
	var b [1]byte
	for end := time.Now().Add(baselineFor); time.Now().Before(end); {
		if _, err := c.Write(b[:]); err != nil {
			return 0, err
		}
		if _, err := io.ReadFull(c, b[:]); err != nil {
			return 0, err
		}
	}
	i, err := info(c)
	if err != nil {
		return 0, err
	}
	return max(1, float64(i.Min_rtt)), nil
}

// connection of the transfer.
type connection struct {
	*net.TCPConn
	// rtt adds up what was sampled, in microseconds.
	rtt, samples float64
}

// send transfers over all connections at once, and reads what the kernel knows of
// them when their time is up.
func send(s settings, r *sentReport) error {
	connections := make([]*connection, s.Connections)
	for i := range connections {
		c, err := dial(s, transfers)
		if err != nil {
			return fmt.Errorf("transfer: %w", err)
		}
		defer func() { _ = c.Close() }()
		connections[i] = &connection{TCPConn: c}
	}
	end := time.Now().Add(s.Duration)
	var wg sync.WaitGroup
	for _, c := range connections {
		_ = c.SetWriteDeadline(end)
		wg.Add(2)
		go func() { defer wg.Done(); c.fill(s.Write) }()
		go func() { defer wg.Done(); c.sample(end) }()
	}
	wg.Wait()
	var rtt, samples float64
	for _, c := range connections {
		if err := c.add(r); err != nil {
			return err
		}
		rtt, samples = rtt+c.rtt, samples+c.samples
	}
	if samples > 0 {
		r.Average = rtt / samples
	}
	for _, c := range connections {
		c.drain()
	}
	return nil
}

// fill writes until the deadline.
func (c *connection) fill(size int) {
	buffer := make([]byte, size)
	for {
		if _, err := c.Write(buffer); err != nil {
			return
		}
	}
}

// sample reads the round-trip time as the kernel has smoothed it.
func (c *connection) sample(end time.Time) {
	for now := range time.Tick(sampleEvery) {
		if now.After(end) {
			return
		}
		if i, err := info(c.TCPConn); err == nil && i.Rtt > 0 {
			c.rtt, c.samples = c.rtt+float64(i.Rtt), c.samples+1
		}
	}
}

func (c *connection) add(r *sentReport) error {
	i, err := info(c.TCPConn)
	if err != nil {
		return err
	}
	if i.State != unix.BPF_TCP_ESTABLISHED {
		return errors.New("a connection of the transfer broke")
	}
	r.Transmitted += i.Bytes_sent
	r.Retransmitted += i.Bytes_retrans
	r.MTU = int(i.Pmtu)
	return nil
}

// drain lets the server have what is under way, for a while.
func (c *connection) drain() {
	_ = c.CloseWrite()
	_ = c.SetReadDeadline(time.Now().Add(drainFor))
	_, _ = io.Copy(io.Discard, struct{ io.Reader }{c})
}
