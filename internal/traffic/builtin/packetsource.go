package builtin

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/bpf/source"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/trial"
)

// packetSource sends a load through a packet socket: slower than the kernel's own source,
// for frames that are too long for it, and where BPF is refused.
type packetSource struct {
	load
	shapes [maxShapes]source.ProgramShape
	frames [maxBatch][]byte
	parts  [maxBatch]unix.Iovec
	heads  [maxBatch]message
	pinned runtime.Pinner
	socket int

	turn   turn
	done   source.ProgramProgress
	binned [trial.Buckets]uint64
	sentIn [moments]uint64
}

// message is struct mmsghdr of sendmmsg(2).
type message struct {
	unix.Msghdr
	sent uint32
	_    [4]byte
}

func newPacketSource(l load) (*packetSource, error) {
	shapes, err := l.shapes()
	if err != nil {
		return nil, err
	}
	s := &packetSource{load: l, shapes: shapes, socket: -1}
	if err := netns.Do(l.netns, s.open); err != nil {
		return nil, fmt.Errorf("open a packet socket: %w", err)
	}
	for i := range s.frames {
		s.frames[i] = make([]byte, l.longest()-fcs)
		s.pinned.Pin(&s.frames[i][0])
		s.pinned.Pin(&s.parts[i])
		s.parts[i].Base = &s.frames[i][0]
		s.heads[i].Iov = &s.parts[i]
		s.heads[i].SetIovlen(1)
	}
	return s, nil
}

// open the socket. Protocol 0 receives nothing; frames go past queueing disciplines, as
// those of XDP do.
func (s *packetSource) open() (err error) {
	if s.socket, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		return err
	}
	if err = unix.Bind(s.socket, &unix.SockaddrLinklayer{Ifindex: s.device}); err == nil {
		err = unix.SetsockoptInt(s.socket, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1)
	}
	if err != nil {
		_ = unix.Close(s.socket)
	}
	return err
}

func (s *packetSource) close() {
	_ = unix.Close(s.socket)
	s.pinned.Unpin()
}

func (s *packetSource) had() turn { return s.turn }

func (s *packetSource) progress() (source.ProgramProgress, error) { return s.done, nil }

func (s *packetSource) lateness() ([trial.Buckets]uint64, error) { return s.binned, nil }

func (s *packetSource) bySteps() ([moments]uint64, error) { return s.sentIn, nil }

func (s *packetSource) begin(at uint64) error {
	s.origin = at
	return nil
}

// run sends the load on a thread of its own.
func (s *packetSource) run(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var err error
		s.turn, err = onCore(s.core, func() error { return s.send(ctx) })
		ended <- errors.Join(err, ctx.Err())
	}()
	return <-ended
}

func (s *packetSource) send(ctx context.Context) error {
	p := &s.done
	p.Start = max(clock(), s.origin)
	p.Stop = p.Start + uint64(s.duration)
	times := newSchedule(s.pace, p.Start, rand.Uint64())
	for {
		now := clock()
		if ctx.Err() != nil {
			p.Due, p.Stop = now, now
			return nil
		}
		n, over := s.fill(times, now)
		if over {
			p.Due, p.DuePart, p.Left = times.due, times.part, times.left
			return nil
		}
		if n == 0 {
			s.rest(max(times.due, p.Start), now)
			continue
		}
		if err := s.flush(ctx, n); err != nil {
			return err
		}
		p.Last = clock()
	}
}

// fill frames with the packets that are due; over tells that the load has ended.
func (s *packetSource) fill(times *schedule, now uint64) (n int, over bool) {
	p := &s.done
	for n < maxBatch {
		if times.turn(now) {
			p.Turned, p.Turn = 1, p.Sent
		}
		due := now
		if s.pps > 0 {
			due = times.due
		}
		switch {
		case s.train.frames > 0 && p.Sent >= s.train.frames:
			p.Stop = min(p.Stop, now)
			return n, n == 0
		case now < p.Start:
			return n, false
		case due >= p.Stop:
			return n, n == 0
		case s.pps > 0 && now >= p.Stop+uint64(s.grace()):
			return n, n == 0
		case due > now:
			return n, false
		}
		s.put(n, due, now)
		if n++; s.pps > 0 {
			times.advance()
		}
	}
	return n, false
}

// put a packet into a frame.
func (s *packetSource) put(n int, due, now uint64) {
	p := &s.done
	shape := &s.shapes[p.Position]
	s.write(s.frames[n], shape, mark{p.Flow, uint32(p.Sent), due, s.tags(due)})
	s.parts[n].SetLen(int(shape.Length))
	if m, is := s.moment(due); is {
		s.sentIn[m]++
	}
	if s.pps > 0 {
		s.binned[trial.Bucket(now-due)]++
		p.LateMax = max(p.LateMax, now-due)
	}
	p.Sent++
	p.SentBytes += uint64(shape.Length) + fcs
	if p.Flow++; int(p.Flow) >= s.flows {
		p.Flow = 0
	}
	if p.Position++; int(p.Position) >= len(s.sizes) {
		p.Position = 0
	}
}

// tags tells whether a packet is the one to tag.
func (s *packetSource) tags(due uint64) bool {
	if s.tag == 0 || s.done.Tagged != 0 || due-s.done.Start < uint64(s.tag) {
		return false
	}
	s.done.Tagged = 1
	return true
}

// flush the frames that are filled. What the device does not take at once is tried
// again: it is due all the same.
func (s *packetSource) flush(ctx context.Context, n int) error {
	for done := 0; done < n; {
		sent, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(s.socket), uintptr(unsafe.Pointer(&s.heads[done])), uintptr(n-done), 0, 0, 0)
		switch errno {
		case 0:
			done += int(sent)
		case unix.EINTR, unix.EAGAIN, unix.ENOBUFS:
			if ctx.Err() != nil {
				s.takeBack(s.parts[done:n])
				return nil
			}
		default:
			return fmt.Errorf("send from interface %d: %w", s.device, errno)
		}
	}
	return nil
}

// takeBack what was counted and never left.
func (s *packetSource) takeBack(frames []unix.Iovec) {
	p := &s.done
	p.Sent -= uint64(len(frames))
	for _, f := range frames {
		p.SentBytes -= f.Len + fcs
	}
}

// rest until a little before a packet is due.
func (s *packetSource) rest(due, now uint64) {
	const margin, step = uint64(100 * time.Microsecond), uint64(10 * time.Millisecond)
	if due > now+margin {
		time.Sleep(time.Duration(min(due-now-margin, step)))
	}
}
