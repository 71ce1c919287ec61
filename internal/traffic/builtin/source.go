package builtin

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/bpf/source"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/trial"
)

// load is what one source sends.
type load struct {
	headers
	pace
	// sizes of the frames in turn, FCS counted.
	sizes []int
	flows int
	port  int // of the server
	// held is how long the path may hold a packet on purpose.
	held time.Duration
	// drain is how long packets are waited for beyond that (RFC 2544 §23).
	drain time.Duration
	steps
	// tag is when, after the start, a frame is tagged; 0: none is.
	tag time.Duration
	// netns and device to send from, and the core that does.
	netns  string
	device int
	core   int
	// way onto the device, where there is no choice.
	way way
	// bare frames carry no stamps, for measuring what those cost.
	bare bool
}

// firstSourcePort of the flows of a load.
const firstSourcePort = 20000

// generator is a source in the kernel.
type generator struct {
	load
	objects source.ProgramObjects
	frame   []byte
	turn    turn
	// cut tells that the load was ended before its time: with its last packet.
	cut bool
}

// newGenerator loads the program for a load.
func newGenerator(l load) (*generator, error) {
	spec, err := source.LoadProgram()
	if err != nil {
		return nil, err
	}
	g := &generator{load: l}
	values, err := l.variables()
	if err != nil {
		return nil, err
	}
	for name, v := range values {
		if err := spec.Variables[name].Set(v); err != nil {
			return nil, fmt.Errorf("packet source: set %s: %w", name, err)
		}
	}
	if err := spec.LoadAndAssign(&g.objects, nil); err != nil {
		return nil, fmt.Errorf("load the packet source: %w", err)
	}
	g.frame = l.frame(values["templates"].([maxShapes]source.ProgramShape))
	return g, nil
}

// frame as the kernel first has it. Those that are not stamped stay so, and are known
// by the signature.
func (l load) frame(shapes [maxShapes]source.ProgramShape) []byte {
	frame := make([]byte, l.longest()-fcs)
	n := copy(frame, shapes[0].Header[:l.transport()+udpHeader])
	binary.NativeEndian.PutUint32(frame[n:], l.signature)
	return frame
}

func (l load) longest() int {
	longest := 0
	for _, s := range l.sizes {
		longest = max(longest, s)
	}
	return longest
}

// variables of the program, by name.
func (l load) variables() (map[string]any, error) {
	shapes, err := l.shapes()
	if err != nil {
		return nil, err
	}
	scale, unit := l.scale()
	v := map[string]any{
		"device": uint32(l.device), "signature": l.signature, "by_ports": flag(l.ports), "by_addresses": flag(l.addresses),
		"first_source": l.firstSource(), "targets": uint32(max(1, len(l.targets))), "target": l.swappedTargets(),
		"ipv6": flag(!l.to.Is4()), "tagged": flag(l.vlan > 0), "stamped": flag(!l.bare),
		"flows": uint32(l.flows), "shapes": uint32(len(l.sizes)), "longest": uint32(l.longest() - fcs),
		"batch": l.batch(), "source_port": uint32(firstSourcePort), "server_port": uint32(l.port),
		"duration": uint64(l.duration), "grace": uint64(l.grace()), "burst": l.burst,
		"paced": flag(l.pps > 0), "poisson": flag(l.pattern == poisson),
		"limit": l.train.frames, "change": uint64(l.second.after), "overdue": uint64(l.overdue()), "tag": uint64(l.tag), "scale": scale, "unit": unit,
		"templates": shapes, "state": source.ProgramProgress{Random: rand.Uint64() | 1},
	}
	if l.second.after > 0 {
		v["then_gap"], v["then_gap_part"] = l.then().gap()
	}
	if l.pps > 0 {
		v["gap"], v["gap_part"] = l.gap()
	}
	if l.pattern == poisson {
		v["exponentials"] = exponentials(exponentialCells)
	}
	return v, nil
}

// The sizes of tables in bpf/source/source.c.
const (
	maxShapes        = 64
	exponentialCells = 1 << 12
)

func (l load) shapes() (all [maxShapes]source.ProgramShape, err error) {
	for i, size := range l.sizes {
		if all[i], err = l.shape(size); err != nil {
			return all, err
		}
	}
	return all, nil
}

func flag(on bool) uint32 {
	if on {
		return 1
	}
	return 0
}

// unsent packets of a load that has ended.
func (l load) unsent(p *source.ProgramProgress) uint64 {
	if l.train.frames > 0 {
		return l.train.frames - p.Sent
	}
	now := l.pace
	if p.Turned != 0 {
		now = l.then()
	}
	return l.givenUp(p) + now.remaining(p.Due, p.DuePart, p.Left, p.Stop)
}

// progress of the source so far.
func (g *generator) progress() (p source.ProgramProgress, err error) {
	err = g.objects.State.Get(&p)
	if g.cut {
		p.Stop = min(p.Stop, max(p.Start, p.Last)+1)
	}
	return p, err
}

// lateness of what was sent, by bucket.
func (g *generator) lateness() (b [trial.Buckets]uint64, err error) {
	err = g.objects.Lateness.Get(&b)
	return b, err
}

// bySteps is what was sent, by the step of the trial that it was due in.
func (g *generator) bySteps() (n [moments]uint64, err error) {
	err = g.objects.SentIn.Get(&n)
	return n, err
}

// begin the load at a time, from which its steps count.
func (g *generator) begin(at uint64) error { return g.objects.Origin.Set(at) }

// run sends the load and waits until all of it is sent or given up, or until the
// context ends.
func (g *generator) run(ctx context.Context) error {
	var thread atomic.Int64
	ended := make(chan error, 1)
	go func() {
		ended <- netns.Do(g.netns, func() (err error) {
			g.turn, err = onCore(g.core, func() error { return g.send(&thread) })
			return err
		})
	}()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			g.cut = ctx.Err() != nil
			return errors.Join(err, ctx.Err())
		case <-tick.C:
		}
		p, err := g.progress()
		if err != nil || ctx.Err() != nil {
			_ = g.objects.Quit.Set(uint32(1))
		}
		if tid := int(thread.Load()); tid != 0 && (p.Done != 0 || err != nil || ctx.Err() != nil) {
			// The kernel leaves its loop when a signal comes; Go's own one for threads
			// means nothing else to this thread.
			_ = unix.Tgkill(os.Getpid(), tid, unix.SIGURG)
		}
	}
}

// send runs on a thread of its own in the namespace of the device.
func (g *generator) send(thread *atomic.Int64) error {
	thread.Store(int64(unix.Gettid()))
	defer thread.Store(0)
	for {
		err := runLive(g.objects.Source.FD(), g.frame, math.MaxInt32, g.batch())
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("run the packet source: %w", err)
		}
		p, err := g.progress()
		if err != nil {
			return err
		}
		var quit uint32
		if err := g.objects.Quit.Get(&quit); err != nil || p.Done != 0 || quit != 0 {
			return err
		}
	}
}

func (g *generator) had() turn { return g.turn }

func (g *generator) close() { _ = g.objects.Close() }
