package rfc6349

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/traffic"
)

// What a connection is for, its first byte.
const (
	echoes    = 'e'
	transfers = 't'
)

// server counts what arrives.
type server struct {
	mu          sync.Mutex
	bytes       uint64
	first, last time.Time
	datagrams   map[int]*arrivals
}

// arrivals of datagrams of one size.
type arrivals struct {
	count       uint64
	first, last time.Time
}

func serve(ctx context.Context, s settings, stderr io.Writer) (receivedReport, error) {
	listener, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(s.Address))
	if err != nil {
		return receivedReport{}, err
	}
	defer func() { _ = listener.Close() }()
	udp, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(s.Address))
	if err != nil {
		return receivedReport{}, err
	}
	defer func() { _ = udp.Close() }()
	sv := &server{datagrams: map[int]*arrivals{}}
	go sv.accept(listener)
	go sv.count(udp)
	if _, err := io.WriteString(stderr, traffic.Greeting); err != nil {
		return receivedReport{}, err
	}
	<-ctx.Done()
	return sv.report(), nil
}

func (sv *server) accept(l *net.TCPListener) {
	for {
		c, err := l.AcceptTCP()
		if err != nil {
			return // the listener is closed
		}
		go func() {
			defer func() { _ = c.Close() }()
			sv.connection(c)
		}()
	}
}

func (sv *server) connection(c *net.TCPConn) {
	var purpose [1]byte
	if _, err := io.ReadFull(c, purpose[:]); err != nil {
		return
	}
	if purpose[0] == echoes {
		_, _ = io.Copy(c, struct{ io.Reader }{c}) // until the client closes
		return
	}
	buffer := make([]byte, 256<<10)
	for {
		n, err := c.Read(buffer)
		sv.arrived(n)
		if err != nil {
			return
		}
	}
}

func (sv *server) arrived(n int) {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	now := time.Now()
	if sv.bytes == 0 {
		sv.first = now
	}
	if n > 0 {
		sv.bytes, sv.last = sv.bytes+uint64(n), now
	}
}

// count counts datagrams, several of which the kernel may hand over as one
// (UDP_GRO): a socket that read each by itself would be the bottleneck.
func (sv *server) count(c *net.UDPConn) {
	_ = c.SetReadBuffer(8 << 20)
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_UDP, unix.UDP_GRO, 1) })
	}
	buffer, control := make([]byte, 1<<16), make([]byte, 64)
	for {
		n, cn, _, _, err := c.ReadMsgUDPAddrPort(buffer, control)
		if err != nil {
			return // the socket is closed
		}
		sv.datagram(n, segment(control[:cn], n))
	}
}

// segment is the size of the datagrams that came as one.
func segment(control []byte, all int) int {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return all
	}
	for _, m := range messages {
		if m.Header.Level == unix.IPPROTO_UDP && m.Header.Type == unix.UDP_GRO && len(m.Data) >= 4 {
			return int(binary.NativeEndian.Uint32(m.Data))
		}
	}
	return all
}

func (sv *server) datagram(all, size int) {
	if size <= 0 {
		return
	}
	sv.mu.Lock()
	defer sv.mu.Unlock()
	a := sv.datagrams[size]
	now := time.Now()
	if a == nil {
		a = &arrivals{first: now}
		sv.datagrams[size] = a
	}
	a.count, a.last = a.count+uint64(all/size), now
}

func (sv *server) report() receivedReport {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	r := receivedReport{Bytes: sv.bytes, Seconds: sv.last.Sub(sv.first).Seconds(), Buffer: mostBuffer("tcp_rmem")}
	for size, a := range sv.datagrams {
		if a.count > r.Datagrams {
			r.Datagrams, r.DatagramBytes, r.DatagramSeconds = a.count, size, a.last.Sub(a.first).Seconds()
		}
	}
	return r
}

// mostBuffer is how far a TCP buffer of this namespace may grow, in bytes; 0 where
// it cannot be read.
func mostBuffer(setting string) uint64 {
	text, err := os.ReadFile("/proc/sys/net/ipv4/" + setting)
	if err != nil {
		return 0
	}
	f := strings.Fields(string(text))
	if len(f) != 3 {
		return 0
	}
	n, _ := strconv.ParseUint(f[2], 10, 64)
	return n
}
