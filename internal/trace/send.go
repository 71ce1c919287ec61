package trace

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
)

// MinPayload is what a packet's mark takes, as bpf/include/stamp.h lays it out.
const MinPayload = 18

// MaxSend bounds what must be remembered to tell packets apart.
const MaxSend = 100_000_000

// MaxPayload keeps packets whole on the smallest MTU that is used.
const MaxPayload = 1400

// sender sends marked packets from one end of the chain to the other.
type sender struct {
	options   Options
	signature uint32
	from, to  *net.UDPConn

	sent, refused        uint64
	refusal              error
	received, duplicates atomic.Uint64
}

// newSender opens the sockets of both ends; without packets to send there are none.
func newSender(c Chain, o Options) (*sender, error) {
	s := &sender{options: o}
	if o.Send <= 0 {
		return s, nil
	}
	if o.Payload < MinPayload || o.Payload > MaxPayload {
		return nil, fmt.Errorf("a payload of %d bytes cannot be had: %d to %d are possible", o.Payload, MinPayload, MaxPayload)
	}
	s.signature = newSignature()
	first, last := c.Nodes[0], c.Nodes[len(c.Nodes)-1]
	err := netns.Do(last.Namespace, func() (err error) {
		s.to, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(c.server(), 0)))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", last.Name, err)
	}
	s.makeRoom()
	err = netns.Do(first.Namespace, func() (err error) {
		port := s.to.LocalAddr().(*net.UDPAddr).AddrPort().Port()
		s.from, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(c.Address, port)))
		return err
	})
	if err != nil {
		s.close()
		return nil, fmt.Errorf("send from %s to %s: %w", first.Name, last.Name, err)
	}
	if err := s.setHeader(c.Address); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// room for packets that came and were not read yet, bytes.
const room = 4 << 20

// makeRoom for what comes, beyond the limit for users (net.core.rmem_max) where that is
// allowed, so that a reader who is held up loses none of it.
func (s *sender) makeRoom() {
	_ = s.to.SetReadBuffer(room) // as much as is allowed
	if raw, err := s.to.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, room) })
	}
}

func (c Chain) server() netip.Addr {
	if c.Server.IsValid() {
		return c.Server
	}
	return c.Address
}

// setHeader gives the packets their hops to live and their code point.
func (s *sender) setHeader(to netip.Addr) error {
	level, hops, class := unix.IPPROTO_IP, unix.IP_TTL, unix.IP_TOS
	if to.Is6() {
		level, hops, class = unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, unix.IPV6_TCLASS
	}
	raw, err := s.from.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = raw.Control(func(fd uintptr) {
		if s.options.TTL > 0 {
			set = unix.SetsockoptInt(int(fd), level, hops, s.options.TTL)
		}
		if s.options.CodePoint != 0 {
			set = errors.Join(set, unix.SetsockoptInt(int(fd), level, class, int(s.options.CodePoint)<<2))
		}
	})
	return errors.Join(err, set)
}

func (s *sender) close() {
	for _, c := range []*net.UDPConn{s.from, s.to} {
		if c != nil {
			_ = c.Close()
		}
	}
}

func (s *sender) mark() uint32 { return s.signature }

// run sends, and waits until every packet has arrived or been dropped, or nothing more
// has become of any for as long as patience lasts; with none to send it only waits.
func (s *sender) run(ctx context.Context, p *probe) {
	if s.options.Send <= 0 {
		wait(ctx, s.options.For)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.receive()
	}()
	s.send(ctx)
	s.await(ctx, p)
	_ = s.to.SetReadDeadline(time.Unix(1, 0))
	<-done
}

// send paces the packets by when each is due.
func (s *sender) send(ctx context.Context) {
	packet := make([]byte, s.options.Payload)
	began := time.Now()
	for i := range s.options.Send {
		if s.options.Rate > 0 {
			wait(ctx, time.Until(began.Add(time.Duration(float64(i)/s.options.Rate*float64(time.Second)))))
		}
		if ctx.Err() != nil {
			return
		}
		if err := s.one(packet, uint32(i)); err != nil {
			s.refused++
			s.refusal = err
		} else {
			s.sent++
		}
	}
}

func (s *sender) one(packet []byte, number uint32) error {
	stamp(packet, s.signature, number)
	_, err := s.from.Write(packet)
	if errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.EHOSTUNREACH) || errors.Is(err, unix.ENETUNREACH) {
		// What an earlier packet met is told to the next, which was not tried then.
		_, err = s.from.Write(packet)
	}
	return err
}

// monotonic is the clock that bpf_ktime_get_ns reads.
func monotonic() uint64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // never fails
	return uint64(t.Nano())
}

// receive counts each packet once, until its deadline.
func (s *sender) receive() {
	have := make([]bool, s.options.Send)
	b := make([]byte, MaxPayload)
	for {
		n, err := s.to.Read(b)
		if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil || n < MinPayload || binary.NativeEndian.Uint32(b) != s.signature {
			continue
		}
		number := binary.NativeEndian.Uint32(b[4:])
		switch {
		case int(number) >= len(have):
		case have[number]:
			s.duplicates.Add(1)
		default:
			have[number] = true
			s.received.Add(1)
		}
	}
}

// look is how often it is looked what has become of the packets.
const look = 5 * time.Millisecond

// await returns once all packets are accounted for, or none more was for a while.
func (s *sender) await(ctx context.Context, p *probe) {
	last, since := uint64(0), time.Now()
	for ctx.Err() == nil {
		dropped, err := p.ownDrops()
		if err != nil {
			return
		}
		accounted := s.received.Load() + dropped
		if accounted >= s.sent {
			return
		}
		if accounted != last {
			last, since = accounted, time.Now()
		}
		if time.Since(since) > s.options.Patience {
			return
		}
		wait(ctx, look)
	}
}
