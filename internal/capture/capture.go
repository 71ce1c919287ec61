// Package capture writes the packets of a live chain to a file that Wireshark reads: what
// comes in and goes out by the interfaces of its hops, in order of time, each with the hop
// that it was at. Packet sockets opened in the hops' namespaces take them, which go with
// the process, however that ends. It changes no chain, and does not say what became of a
// packet; package trace does.
package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/capture/filter"
	"nfchain.dev/nfchain/internal/capture/pcapng"
)

// Chain is what is captured.
type Chain struct {
	Name, Wiring string
	// Path is the names of all nodes in path order; replicas of a function are there by its name.
	Path []string
	// Back are those that packets visit on their way back, in that order; none where that are all.
	Back   []string
	Points []Point
	// PathOf tells on which of several paths a packet's flow is, by its frame; "" where that is not known. Nil where there is one path.
	PathOf func(frame []byte) string
	// Done, if there is one, is called when none is asked for any more.
	Done func()
	// Names are the addresses of nodes, and of functions that share one, by name.
	Names map[string][]netip.Addr
	// ServicePaths are what headers call the chain's several paths, either way, with these in words.
	ServicePaths map[uint32]string
}

// Point is where packets are taken: in by an interface, or out.
type Point struct {
	// Hop is the node's name, Kind that of its function, and Place its place in the path,
	// from 0, or [NoPlace].
	Hop, Kind string
	Place     int
	Namespace string
	Device    string
	Out       bool
	// Headed tells that frames are behind a Network Service Header there.
	Headed bool
	// Way is forward or reverse; empty where packets of both pass.
	Way string
}

// NoPlace is that of a hop that the chain no longer has, and by which only flows from before go.
const NoPlace = -1

// Options are what to capture.
type Options struct {
	// Filter is an expression that packets must fit; see package filter.
	Filter string
	// Snaplen is how many bytes of a packet are kept at most.
	Snaplen uint32
	// Count of packets after which it ends, and For how long it lasts; 0 is no end.
	Count uint64
	For   time.Duration
	// Buffer is how much memory all points have together for packets that are not yet
	// written, bytes.
	Buffer int
	// Ready, if there is one, is called once all that passes is taken.
	Ready func()
}

// MaxSnaplen is more than any packet has.
const MaxSnaplen = 1 << 18

// fewest and most blocks of a point: the kernel fills one while another is read.
const fewest, most = 2, 64

// mostHeld is how many bytes of packets wait for earlier ones.
const mostHeld = 256 << 20

// backlog is how much earlier than a packet is seen its time may be: the kernel may have
// set that before it had a core to go on.
const backlog = 100 * time.Millisecond

// patience is how long the kernel is waited for to give away what it has.
const patience = 5 * time.Second

// beat is how often it is looked whether to end, and glance whether the chain is there.
const (
	beat   = 50 * time.Millisecond
	glance = time.Second
)

// errEnough tells that as many packets as asked for are written.
var errEnough = errors.New("enough packets")

// Run captures until there is enough, or ctx ends. What was captured until then is
// written whole.
func Run(ctx context.Context, c Chain, o Options, w io.Writer) (Report, error) {
	program, err := filter.Compile(o.Filter, o.Snaplen, c.Names)
	if err != nil {
		return Report{}, err
	}
	headed := program
	if slices.ContainsFunc(c.Points, func(p Point) bool { return p.Headed }) {
		if headed, err = filter.Behind(o.Filter, o.Snaplen, c.Names); err != nil {
			return Report{}, err
		}
	}
	if c.Done != nil {
		defer c.Done()
	}
	s := &session{chain: c, options: o}
	defer s.close()
	if err := s.open(program, headed); err != nil {
		return Report{}, err
	}
	if s.file, err = s.begin(w); err != nil {
		return Report{}, fmt.Errorf("write the capture: %w", err)
	}
	s.began = time.Now()
	if o.Ready != nil {
		o.Ready()
	}
	err = s.take(ctx)
	s.enough = errors.Is(err, errEnough)
	if err != nil && !s.enough {
		return Report{}, err
	}
	return s.end()
}

// session is one capture.
type session struct {
	chain   Chain
	options Options
	rings   []*ring
	polled  []unix.PollFd
	file    *pcapng.Writer
	queue   queue
	began   time.Time
	// written packets, and that these were enough.
	written uint64
	enough  bool
	// marked is a moment, and due what each ring had kept by then: when that is read,
	// nothing earlier can come.
	marked time.Time
	due    []uint64
	// looked is when it was last looked whether the chain is there.
	looked time.Time
}

// open the rings, with the program that chooses at those where frames have no header, and the other.
func (s *session) open(program, headed []bpf.Instruction) error {
	points := len(s.chain.Points)
	blocks := min(s.options.Buffer/block/max(1, points), most)
	if blocks < fewest {
		return fmt.Errorf("%d interfaces and ways need a --buffer of %d MiB at least; or name one hop", points, points*fewest*block>>20)
	}
	for _, p := range s.chain.Points {
		chosen := program
		if p.Headed {
			chosen = headed
		}
		r, err := newRing(p, chosen, blocks)
		if err != nil {
			return err
		}
		s.rings = append(s.rings, r)
		s.polled = append(s.polled, unix.PollFd{Fd: int32(r.fd), Events: unix.POLLIN})
	}
	s.due = make([]uint64, points)
	for _, r := range s.rings { // at once, since memory takes its time
		if err := r.bind(); err != nil {
			return err
		}
	}
	return nil
}

// take packets until there is an end.
func (s *session) take(ctx context.Context) error {
	if err := s.mark(); err != nil {
		return err
	}
	for ctx.Err() == nil && !s.over() {
		if err := s.read(s.until()); err != nil {
			return err
		}
		if err := s.settle(); err != nil {
			return err
		}
	}
	return s.rest()
}

// over tells whether time is up, or no interface is left.
func (s *session) over() bool {
	if s.options.For > 0 && time.Since(s.began) >= s.options.For {
		return true
	}
	if time.Since(s.looked) >= glance {
		s.looked = time.Now()
		for _, r := range s.rings {
			r.look()
		}
	}
	return !slices.ContainsFunc(s.rings, func(r *ring) bool { return !r.gone })
}

// until is how long to wait for packets at most.
func (s *session) until() time.Duration {
	if s.options.For == 0 {
		return beat
	}
	return max(time.Millisecond, min(beat, s.options.For-time.Since(s.began)))
}

// read what there is, or wait for it.
func (s *session) read(limit time.Duration) error {
	if _, err := unix.Poll(s.polled, int(limit/time.Millisecond)); err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("wait for packets: %w", err)
	}
	for i, r := range s.rings {
		if err := r.heed(s.polled[i].Revents); err != nil {
			return fmt.Errorf("look at %s of %s: %w", r.Device, r.Hop, err)
		}
		r.drain(s.queue.add)
	}
	return nil
}

// mark this moment.
func (s *session) mark() error {
	s.marked = time.Now()
	for i, r := range s.rings {
		if err := r.count(); err != nil {
			return err
		}
		s.due[i] = r.kept()
	}
	return nil
}

// settled tells whether all that came until the mark is read.
func (s *session) settled() bool {
	for i, r := range s.rings {
		if r.read < s.due[i] {
			return false
		}
	}
	return true
}

// settle writes what nothing can come before any more.
func (s *session) settle() error {
	if !s.settled() && time.Since(s.marked) < patience && s.queue.bytes < mostHeld {
		return nil
	}
	if err := s.queue.release(s.marked.Add(-backlog).UnixNano(), s.write); err != nil {
		return err
	}
	if err := s.file.Flush(); err != nil {
		return fmt.Errorf("write the capture: %w", err)
	}
	return s.mark()
}

// rest takes no more, and writes what the kernel has yet.
func (s *session) rest() error {
	for _, r := range s.rings {
		if err := r.refuse(); err != nil {
			return err
		}
	}
	if err := s.mark(); err != nil {
		return err
	}
	for time.Since(s.marked) < patience && !s.settled() {
		if err := s.read(beat); err != nil {
			return err
		}
	}
	return s.queue.release(math.MaxInt64, s.write)
}

// close the sockets at once: the kernel waits for every core to be done with each.
func (s *session) close() {
	done := make(chan struct{})
	for _, r := range s.rings {
		go func() {
			r.close()
			done <- struct{}{}
		}()
	}
	for range s.rings {
		<-done
	}
}
