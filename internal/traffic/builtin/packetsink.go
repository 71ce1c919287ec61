package builtin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/bpf/sink"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/trial"
)

// packetSink takes packets from a packet socket: slower than the kernel's own sink, for
// machines that refuse BPF. The stack gets a copy of each packet too.
type packetSink struct {
	signature uint32
	flows     int
	socket    int
	swallowed []int // sockets on the ports that the packets go to
	frames    [maxBatch][packetSnap]byte
	parts     [maxBatch]unix.Iovec
	heads     [maxBatch]message
	stop      chan struct{}
	ended     chan error

	mu    sync.Mutex
	total sink.ProgramCount
	book  *orderBook
	// byFlow are first copies.
	byFlow []uint64
	other  uint64
	// unread are packets that the socket had no room for.
	unread uint64
	steps  steps
}

// packetSnap is how much of a packet is read: its headers and the stamp.
const packetSnap = 128

// packetBuffer of the socket, bytes, where that much is allowed.
const packetBuffer = 32 << 20

func newPacketSink(o meterOptions) (*packetSink, error) {
	s := &packetSink{signature: o.signature, flows: o.flows, socket: -1, stop: make(chan struct{}), ended: make(chan error, 1), steps: o.steps, book: newOrderBook()}
	if s.flows > 1 {
		s.byFlow = make([]uint64, o.flows)
	}
	if err := netns.Do(o.netns, func() error { return s.open(o.device.Attrs().Index, o.ports) }); err != nil {
		s.release()
		return nil, fmt.Errorf("open a packet socket at %s in %q: %w", o.device.Attrs().Name, o.netns, err)
	}
	for i := range s.heads {
		s.parts[i].Base = &s.frames[i][0]
		s.parts[i].SetLen(packetSnap)
		s.heads[i].Iov = &s.parts[i]
		s.heads[i].SetIovlen(1)
	}
	go func() { s.ended <- s.receive() }()
	return s, nil
}

func (s *packetSink) open(device int, ports []int) (err error) {
	for _, port := range ports {
		fd, err := swallow(port)
		if err != nil {
			return err
		}
		s.swallowed = append(s.swallowed, fd)
	}
	if s.socket, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		return err
	}
	if unix.SetsockoptInt(s.socket, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, packetBuffer) != nil {
		_ = unix.SetsockoptInt(s.socket, unix.SOL_SOCKET, unix.SO_RCVBUF, packetBuffer) // as much as is allowed
	}
	err = unix.SetsockoptTimeval(s.socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 20_000})
	if err == nil {
		err = unix.SetsockoptInt(s.socket, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)
	}
	if err == nil {
		all := binary.NativeEndian.Uint16([]byte{0, unix.ETH_P_ALL})
		err = unix.Bind(s.socket, &unix.SockaddrLinklayer{Protocol: all, Ifindex: device})
	}
	return err
}

// release the sockets.
func (s *packetSink) release() {
	for _, fd := range append(s.swallowed, s.socket) {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// receive until the sink is closed.
func (s *packetSink) receive() error {
	for {
		select {
		case <-s.stop:
			return nil
		default:
		}
		n, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, uintptr(s.socket), uintptr(unsafe.Pointer(&s.heads[0])), maxBatch, unix.MSG_WAITFORONE, 0, 0)
		switch errno {
		case 0:
			s.take(int(n))
		case unix.EINTR, unix.EAGAIN, unix.ENETDOWN:
		default:
			return fmt.Errorf("receive measured packets: %w", errno)
		}
	}
}

// take counts the packets that were read.
func (s *packetSink) take(n int) {
	now := clock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range n {
		p, ok := parsePacket(s.frames[i][:min(s.heads[i].sent, packetSnap)], s.signature)
		if !ok {
			s.other++
			continue
		}
		p.length = uint64(s.heads[i].sent)
		s.one(p, now)
	}
}

// one packet is counted, as take() of bpf/sink/sink.c does.
func (s *packetSink) one(p packet, now uint64) {
	c := &s.total
	if p.damaged {
		c.Damaged++
		return
	}
	c.Packets++
	c.Bytes += p.length + fcs
	if c.First == 0 {
		c.First = now
	}
	c.Last = now
	const clockMask, clockSign = 1<<48 - 1, 1 << 47
	delay := (now - p.due) & clockMask
	if delay&clockSign != 0 {
		c.Early++
		delay = 0
	}
	before, fresh, adjacent := s.book.place(p.number, now, delay)
	if !fresh {
		return
	}
	if s.flows > 1 {
		s.byFlow[(s.book.Previous-firstNumber)%uint64(s.flows)]++
	}
	c.Payload += p.payload
	c.High, c.Sum = max(c.High, delay), c.Sum+delay
	if c.Low == 0 || delay < c.Low-1 {
		c.Low = delay + 1
	}
	c.Latency[trial.Bucket(delay)]++
	if p.tagged {
		c.Tag = delay + 1
	}
	s.part(p.due, now, delay)
	if adjacent {
		step := int64(delay) - int64(before)
		c.StepLow, c.StepHigh = min(c.StepLow, step), max(c.StepHigh, step)
		if step < 0 {
			c.Down[trial.Bucket(uint64(-step))]++
		} else {
			c.Up[trial.Bucket(uint64(step))]++
		}
	}
}

// part counts a first copy by step: by when it was due, and by when it came.
func (s *packetSink) part(due, now, delay uint64) {
	if m, is := s.steps.moment(due); is {
		p := &s.total.Parts[m]
		p.Came, p.Sum, p.High = p.Came+1, p.Sum+delay, max(p.High, delay)
	}
	if m, is := s.steps.moment(now); is {
		s.total.Parts[m].Arrived++
	}
}

func (s *packetSink) begin(at uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps.origin = at
	return nil
}

func (s *packetSink) soFar() (sink.ProgramCount, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total, nil
}

// outcome of what came. Which core took a packet is not known.
func (s *packetSink) outcome(o *outcome, _ int) error {
	if err := s.readDrops(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o.ByFlow = slices.Clone(s.byFlow)
	o.Count, o.Order, o.Strangers, o.Unread, o.Slow = s.total, s.book.ProgramOrder, s.other, s.unread, true
	return nil
}

// readDrops adds up what the kernel counted since it was asked last.
func (s *packetSink) readDrops() error {
	stats, err := unix.GetsockoptTpacketStats(s.socket, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return fmt.Errorf("read what the packet socket dropped: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unread += uint64(stats.Drops)
	select {
	case err := <-s.ended:
		s.ended <- err
		return errors.Join(err)
	default:
		return nil
	}
}

func (s *packetSink) close() {
	close(s.stop)
	<-s.ended
	s.release()
}
