package trace

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
)

// injector sends packets of any flow from an end of the chain, where no socket needs to
// have the flow's ports.
type injector struct {
	flow      Flow
	send      int
	patience  time.Duration
	signature uint32
	fd        int
	// last is the node that the packets are for, or what it is a replica of.
	last string
	// outlet is where packets of a VLAN are sent, whole frames.
	outlet outlet

	sent    uint64
	refusal error
}

// newInjector opens a socket at the end where the flow begins.
func newInjector(c Chain, f Flow, o Options) (*injector, error) {
	first, last := c.Nodes[0], c.Nodes[len(c.Nodes)-1]
	if f.Reverse {
		first, last = last, first
	}
	s := &injector{flow: f, send: o.Send, patience: o.Patience, signature: newSignature(), fd: -1, last: cmp.Or(f.Goal, last.Name)}
	if f.Tagged {
		return s, s.openTagged(first)
	}
	family := unix.AF_INET
	if f.To.Addr().Is6() {
		family = unix.AF_INET6
	}
	err := netns.Do(first.Namespace, func() (err error) {
		s.fd, err = unix.Socket(family, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_RAW)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("send from %s: %w", first.Name, err)
	}
	return s, nil
}

func (s *injector) mark() uint32 { return s.signature }

func (s *injector) tell(*Report) {}

func (s *injector) close() { _ = unix.Close(s.fd) }

// pace between packets.
const pace = 10 * time.Millisecond

// run sends, and waits until it is known what became of all packets, or nothing more
// becomes of any.
func (s *injector) run(ctx context.Context, p *probe) {
	for number := range s.send {
		if ctx.Err() != nil {
			return
		}
		if err := s.one(uint32(number)); err != nil {
			s.refusal = err
		} else {
			s.sent++
		}
		wait(ctx, pace)
	}
	s.await(ctx, p)
}

func (s *injector) one(number uint32) error {
	payload := make([]byte, MinPayload)
	stamp(payload, s.signature, number)
	to := s.flow.To.Addr()
	if s.flow.Tagged {
		return s.outlet.send(s.fd, s.flow, payload)
	}
	if to.Is6() {
		return unix.Sendto(s.fd, s.flow.packet(payload), 0, &unix.SockaddrInet6{Addr: to.As16()})
	}
	return unix.Sendto(s.fd, s.flow.packet(payload), 0, &unix.SockaddrInet4{Addr: to.As4()})
}

// settling is how long after a packet came to the last node it may still end there.
const settling = 300 * time.Millisecond

// await returns when all packets ended, when all arrived and none ends any more, or when
// nothing more was seen of them for as long as patience lasts.
func (s *injector) await(ctx context.Context, p *probe) {
	last, since := uint64(0), time.Now()
	for ctx.Err() == nil {
		dropped, err := p.ownDrops()
		if err != nil {
			return
		}
		arrived, err := p.arrivedAt(s.last)
		if err != nil || dropped >= s.sent {
			return
		}
		if dropped+arrived != last {
			last, since = dropped+arrived, time.Now()
		}
		quiet := time.Since(since)
		if quiet > s.patience || arrived >= s.sent && quiet > min(settling, s.patience) {
			return
		}
		wait(ctx, look)
	}
}

// arrivedAt counts the packets of ours that came in at a node, or at replicas of a function.
func (p *probe) arrivedAt(node string) (n uint64, err error) {
	passed, err := p.readPassed()
	for i, at := range passed {
		if point := p.view.points[i]; cmp.Or(point.node.Of, point.node.Name) == node && !point.out {
			n += at.Packets
		}
	}
	return n, err
}

// newSignature is one that no other packet has, but by a chance of 1 in 2^32.
func newSignature() (s uint32) {
	for s == 0 {
		s = rand.Uint32()
	}
	return s
}

// stamp the payload of a packet, as bpf/include/stamp.h lays it out.
func stamp(payload []byte, signature, number uint32) {
	now := monotonic()
	binary.NativeEndian.PutUint32(payload, signature)
	binary.NativeEndian.PutUint32(payload[4:], number)
	binary.NativeEndian.PutUint32(payload[8:], uint32(now))
	binary.NativeEndian.PutUint16(payload[12:], uint16(now>>32))
}

// WithPort is the flow with a port that it comes from, where none is said.
func (f Flow) WithPort() Flow {
	const dynamic, last = 49152, 65535 // RFC 6335 section 6
	if f.Protocol.Ported() && f.From.Port() == 0 {
		f.From = netip.AddrPortFrom(f.From.Addr(), uint16(dynamic+rand.IntN(last-dynamic+1)))
	}
	return f
}
