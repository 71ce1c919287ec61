package profile

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Samples are what sampling saw, raw.
type Samples struct {
	// Clock is [CPUClock] or [Cycles].
	Clock     string
	Frequency int
	// ByHop tells that the node whose packets a softirq had is known.
	ByHop   bool
	Seconds float64
	// Cores that were sampled.
	Cores  []int
	Stacks []Stack
	// Lost samples, for which there was no room or which could not be told. Where programs
	// tell of samples, they and the kernel count the same ones.
	Lost     uint64
	Warnings []string
}

// Stack is so many samples that are alike.
type Stack struct {
	CPU int
	// Hop is the node that the core worked for, or one of [Softirq], [Outside] and
	// [Idle].
	Hop string
	// Process that ran, or that a softirq ran on top of.
	Process string
	// Frames from the outermost on.
	Frames []Frame
	Count  int
}

// Frame is a function in a stack.
type Frame struct {
	Function string `json:"function"`
	Kernel   bool   `json:"kernel"`
}

// What a core is at besides the nodes of a chain. None can be the name of a node.
const (
	// Softirq is one that had no packet of the chain: timers, sending what was queued,
	// a device before its first packet.
	Softirq = "(softirq)"
	// Outside is a process that is in none of the chain's namespaces.
	Outside = "(outside)"
	// Idle is nothing.
	Idle = "(idle)"
)

func (s *Sampler) samples(took time.Duration) Samples {
	out := Samples{Clock: s.events.clock, Frequency: s.options.Frequency, ByHop: s.hops != nil, Seconds: took.Seconds(),
		Lost: max(s.events.missing(), s.hops.missed()), Warnings: s.warnings}
	for _, c := range s.events.cores {
		out.Cores = append(out.Cores, c.cpu)
	}
	for _, st := range s.table.stacks {
		frames := s.table.frames(st)
		out.Stacks = append(out.Stacks, Stack{CPU: int(st.cpu), Hop: s.hop(st, frames), Process: st.image.name, Frames: frames, Count: st.count})
	}
	if s.kernel.hidden() {
		out.Warnings = append(out.Warnings, "the kernel hides where its functions are; as root, with kernel.kptr_restrict at 0 or 1, they have names")
	}
	return merged(out)
}

// hop that a core worked for.
func (s *Sampler) hop(st *stack, frames []Frame) string {
	softirq := st.whom.softirq != 0 || SoftirqIn(frames) >= 0
	node, known := s.nodes[st.whom.device]
	if at, elsewhere := s.arrivals[device{st.whom.device, st.whom.index}]; elsewhere {
		node, known = at, true
	}
	switch {
	case known && st.whom.device != 0:
		return node
	case softirq:
		return Softirq
	case st.pid == 0 && idles(frames):
		return Idle
	}
	if node, known = s.nodes[st.whom.task]; known {
		return node
	}
	return Outside
}

// SoftirqIn gives the place in a stack from which on it is a softirq's, by the
// functions that run them (kernel/softirq.c); -1 where there is none.
func SoftirqIn(frames []Frame) int {
	return slices.IndexFunc(frames, func(f Frame) bool {
		return f.Kernel && (f.Function == "handle_softirqs" || f.Function == "__do_softirq")
	})
}

// idles tells of the thread that runs when no other can whether it waits: the
// function that it was found in halts the core.
func idles(frames []Frame) bool {
	if len(frames) == 0 {
		return true
	}
	last := frames[len(frames)-1].Function
	for _, word := range []string{"idle", "halt", "mwait", Unknown} {
		if strings.Contains(last, word) {
			return true
		}
	}
	return false
}

// Add samples of another trial of the same chain.
func (s *Samples) Add(o Samples) {
	s.Clock, s.Frequency, s.Cores, s.ByHop = o.Clock, o.Frequency, o.Cores, o.ByHop
	s.Seconds += o.Seconds
	s.Lost += o.Lost
	s.Stacks = append(s.Stacks, o.Stacks...)
	for _, w := range o.Warnings {
		if !slices.Contains(s.Warnings, w) {
			s.Warnings = append(s.Warnings, w)
		}
	}
	*s = merged(*s)
}

// merged counts stacks that are alike together, in a fixed order.
func merged(s Samples) Samples {
	all := map[string]*Stack{}
	for _, st := range s.Stacks {
		key := st.key()
		if found, ok := all[key]; ok {
			found.Count += st.Count
			continue
		}
		all[key] = &st
	}
	keys := make([]string, 0, len(all))
	for key := range all {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	s.Stacks = nil
	for _, key := range keys {
		s.Stacks = append(s.Stacks, *all[key])
	}
	return s
}

func (st Stack) key() string {
	return fmt.Sprintf("%s\x00%06d", strings.Join(st.words(), "\x00"), st.CPU)
}

// words of a stack: its hop, its process and its functions, those of the kernel with
// the suffix that tools for folded stacks know them by.
func (st Stack) words() []string {
	words := []string{st.Hop, st.Process}
	for _, f := range st.Frames {
		name := f.Function
		if f.Kernel {
			name += "_[k]"
		}
		words = append(words, name)
	}
	return words
}
