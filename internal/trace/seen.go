package trace

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	bpf "nfchain.dev/nfchain/bpf/trace"
)

// seen is what the programs saw.
type seen struct {
	passed []Amount // by point
	times  []*Times // by point
	drops  []ending
	frames []frames
	// spent is the time of softirqs by node, and then by tap, s; nil where it was not asked for.
	spent []float64
	// uncounted are ends for which no room was left, and events that came while the
	// program was at another on the same core.
	uncounted, missed uint64
}

// ending is packets that ended for one reason at one place.
type ending struct {
	inode, index uint32
	reason       uint32
	location     uint64
	own          bool
	Amount
}

// frames are what XDP lost at one place.
type frames struct {
	inode, index uint32
	cause        string
	packets      uint64
	// counted tells that the driver has these among its xdp_drops too.
	counted bool
}

func (p *probe) read() (s seen, err error) {
	if s.passed, err = p.readPassed(); err != nil {
		return s, err
	}
	if s.times, err = p.readTimes(); err != nil {
		return s, err
	}
	err = p.eachDrop(func(c bpf.ProgramCause, a Amount) {
		s.drops = append(s.drops, ending{c.Netns, c.Ifindex, c.Reason, c.Location, c.Own != 0, a})
	})
	if err != nil {
		return s, err
	}
	if err := p.readFrames(&s); err != nil {
		return s, err
	}
	if p.softirq {
		if s.spent, err = p.readSpent(); err != nil {
			return s, err
		}
	}
	s.missed = p.missed()
	return s, p.objects.Uncounted.Get(&s.uncounted)
}

func (p *probe) readPassed() ([]Amount, error) {
	all := make([]Amount, len(p.view.points))
	for i := range all {
		var each []bpf.ProgramAmount
		if err := p.objects.Passed.Lookup(uint32(i), &each); err != nil {
			return nil, err
		}
		all[i] = sum(each)
	}
	return all, nil
}

// batch is how many times are read at once.
const batch = 1 << 12

func (p *probe) readTimes() ([]*Times, error) {
	kept := make([][]uint64, len(p.view.points))
	keys, values := make([]uint32, batch), make([]uint64, batch)
	var cursor ebpf.MapBatchCursor
	for {
		n, err := p.objects.Times.BatchLookup(&cursor, keys, values, nil)
		for i := range n {
			if values[i] > 0 {
				at := int(keys[i]) / p.samples
				kept[at] = append(kept[at], values[i]-1)
			}
		}
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			break // that was the last
		}
		if err != nil {
			return nil, err
		}
	}
	all := make([]*Times, len(kept))
	for i, ns := range kept {
		all[i] = timesOf(ns)
	}
	return all, nil
}

// timesOf sums up times in ns; nil where there are none. Percentiles are values that
// were seen: the smallest that so many do not exceed.
func timesOf(ns []uint64) *Times {
	if len(ns) == 0 {
		return nil
	}
	slices.Sort(ns)
	at := func(percent int) uint64 { return ns[max(0, (len(ns)*percent+99)/100-1)] }
	return &Times{Packets: len(ns), MinNS: ns[0], MedianNS: at(50), P99NS: at(99), MaxNS: ns[len(ns)-1]}
}

// The kinds of loss in bpf/trace/trace.c.
const (
	frameException = iota
	frameSending
	frameRedirecting
)

func (p *probe) readFrames(s *seen) error {
	var cause bpf.ProgramFrameCause
	var each []bpf.ProgramAmount
	all := p.objects.Frames.Iterate()
	for all.Next(&cause, &each) {
		s.frames = append(s.frames, frames{cause.Netns, cause.Ifindex, frameText(cause), sum(each).Packets, cause.Kind == frameException})
	}
	return all.Err()
}

// verdicts of XDP programs (enum xdp_action of linux/bpf.h).
var verdicts = []string{"ABORTED", "DROP", "PASS", "TX", "REDIRECT"}

func frameText(c bpf.ProgramFrameCause) string {
	switch {
	case c.Kind == frameException && c.Detail >= 0 && int(c.Detail) < len(verdicts):
		return "XDP_" + verdicts[c.Detail]
	case c.Kind == frameException:
		return fmt.Sprintf("XDP verdict %d", c.Detail)
	case c.Kind == frameSending && c.Detail == 0:
		return "XDP ring full"
	case c.Kind == frameSending:
		return fmt.Sprintf("XDP sending failed (%v)", unix.Errno(-c.Detail))
	}
	return fmt.Sprintf("XDP redirect failed (%v)", unix.Errno(-c.Detail))
}

func (p *probe) readSpent() ([]float64, error) {
	all := make([]float64, len(p.view.timed()))
	for i := range all {
		var each []uint64
		if err := p.objects.Spent.Lookup(uint32(i+1), &each); err != nil {
			return nil, err
		}
		for _, ns := range each {
			all[i] += float64(ns) / 1e9
		}
	}
	return all, nil
}

// missed events: the kernel does not run a program again while it runs on the same core.
func (p *probe) missed() (n uint64) {
	for _, program := range []*ebpf.Program{p.objects.Receive, p.objects.Transmit, p.objects.Ended, p.objects.EndedAtSocket} {
		if stats, err := program.Stats(); err == nil {
			n += stats.RecursionMisses
		}
	}
	return n
}
