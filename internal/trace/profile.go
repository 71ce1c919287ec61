package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	bpf "nfchain.dev/nfchain/bpf/profile"
	"nfchain.dev/nfchain/internal/trial"
)

// Profile is where the cores were while a chain carried packets.
type Profile struct {
	SchemaVersion int     `json:"schema_version"`
	Chain         string  `json:"chain"`
	DurationS     float64 `json:"duration_s"`
	// Frequency is how often each core was looked at, per second.
	Frequency int `json:"frequency_hz"`
	// Samples found a core at work, Idle found it idle; Lost had no room.
	Samples uint64 `json:"samples"`
	Idle    uint64 `json:"idle_samples"`
	Lost    uint64 `json:"lost_samples"`
	// Stacks with the most samples first.
	Stacks trial.List[Stack] `json:"stacks"`
}

// Stack is where a core was found, so many times.
type Stack struct {
	// Hop whose packets the core was at in a softirq, or in whose namespace the
	// program runs; empty for what is none of the chain's.
	Hop     string `json:"hop"`
	Command string `json:"command"`
	// Frames from the outermost call to the innermost: the program's, then the kernel's.
	Frames  trial.List[string] `json:"frames"`
	Samples uint64             `json:"samples"`
}

// DefaultFrequency is off the beat of what runs at every tick of the kernel.
const DefaultFrequency = 499

// Sample looks where every core is, so many times a second, for as long as d lasts or
// until ctx ends. The clock is the kernel's own, so that machines without hardware
// counters have it too.
func Sample(ctx context.Context, c Chain, d time.Duration, frequency int) (Profile, error) {
	v, err := open(c)
	if err != nil {
		return Profile{}, err
	}
	defer v.close()
	s, err := newSampler(v, frequency)
	if err != nil {
		return Profile{}, err
	}
	defer s.close()
	began := time.Now()
	wait(ctx, d)
	s.stop()
	p := Profile{SchemaVersion: trial.SchemaVersion, Chain: c.Name, DurationS: time.Since(began).Seconds(), Frequency: frequency}
	if err := s.read(&p); err != nil {
		return p, fmt.Errorf("read what was sampled: %w", err)
	}
	return p, nil
}

// sampler is the program and its clocks.
type sampler struct {
	objects bpf.ProgramObjects
	links   []link.Link
	clocks  []int
	view    *view
}

func newSampler(v *view, frequency int) (*sampler, error) {
	spec, err := bpf.LoadProgram()
	if err != nil {
		return nil, err
	}
	spec.Maps["namespaces"].MaxEntries = uint32(len(v.nodes))
	s := &sampler{view: v}
	if err := spec.LoadAndAssign(&s.objects, nil); err != nil {
		return nil, fmt.Errorf("load the program that looks at cores (root is needed, and a kernel that describes its types): %w", err)
	}
	for i, n := range v.nodes {
		if err := s.objects.Namespaces.Put(n.inode, uint32(i)); err != nil {
			s.close()
			return nil, err
		}
	}
	if err := errors.Join(s.follow(), s.start(frequency)); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// follow notes whose packets each core is at.
func (s *sampler) follow() error {
	for _, h := range []hook{
		{"softirq_entry", s.objects.SoftirqBegins, false}, {"softirq_exit", s.objects.SoftirqEnds, false},
		{"netif_receive_skb", s.objects.SoftirqTakes, false},
	} {
		l, err := h.attach()
		if err != nil {
			return fmt.Errorf("attach to the kernel's tracepoint %s: %w", h.name, err)
		}
		s.links = append(s.links, l)
	}
	return nil
}

// start gives every core a clock that runs the program.
func (s *sampler) start(frequency int) error {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Sample: uint64(frequency), Bits: unix.PerfBitFreq,
	}
	for cpu := range runtime.NumCPU() {
		fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if errors.Is(err, unix.ENODEV) {
			continue // a core that is off
		}
		if err != nil {
			return fmt.Errorf("open a clock on core %d (the kernel may sample at most /proc/sys/kernel/perf_event_max_sample_rate): %w", cpu, err)
		}
		s.clocks = append(s.clocks, fd)
		if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, s.objects.Tick.FD()); err != nil {
			return fmt.Errorf("have core %d run the program: %w", cpu, err)
		}
	}
	return nil
}

// stop ends the sampling; what was sampled stays.
func (s *sampler) stop() {
	for _, fd := range s.clocks {
		_ = unix.Close(fd)
	}
	for _, l := range s.links {
		_ = l.Close()
	}
	s.clocks, s.links = nil, nil
}

func (s *sampler) close() {
	s.stop()
	_ = s.objects.Close()
}

func (s *sampler) read(p *Profile) error {
	if err := errors.Join(s.objects.Taken.Get(&p.Samples), s.objects.Idle.Get(&p.Idle), s.objects.Lost.Get(&p.Lost)); err != nil {
		return err
	}
	kernel, programs := readSymbols(), newPrograms()
	merged := map[string]*Stack{}
	var key bpf.ProgramSample
	var count uint64
	all := s.objects.Samples.Iterate()
	for all.Next(&key, &count) {
		stack := Stack{Command: unix.ByteSliceToString(unsigned(key.Command[:])), Samples: count}
		if key.Number > 0 {
			stack.Hop = s.view.nodes[key.Number-1].Name
		}
		user := s.frames(key.User)
		for _, address := range user {
			stack.Frames = append(stack.Frames, programs.name(int(key.Process), address))
		}
		for _, address := range s.frames(key.Kernel) {
			stack.Frames = append(stack.Frames, cmp.Or(kernel.at(address), "kernel"))
		}
		name := stack.folded()
		if known := merged[name]; known != nil {
			known.Samples += count
		} else {
			merged[name] = &stack
		}
	}
	for _, stack := range merged {
		p.Stacks = append(p.Stacks, *stack)
	}
	slices.SortFunc(p.Stacks, func(a, b Stack) int {
		return cmp.Or(cmp.Compare(b.Samples, a.Samples), strings.Compare(a.folded(), b.folded()))
	})
	return all.Err()
}

func unsigned(text []int8) []byte {
	b := make([]byte, len(text))
	for i, c := range text {
		b[i] = byte(c)
	}
	return b
}

// frames of a stack from the outermost; none where there is no stack.
func (s *sampler) frames(id int32) (addresses []uint64) {
	var f bpf.ProgramFrames
	if id < 0 || s.objects.Stacks.Lookup(uint32(id), &f) != nil {
		return nil
	}
	for _, address := range f.At {
		if address == 0 {
			break
		}
		addresses = append(addresses, address)
	}
	slices.Reverse(addresses)
	return addresses
}

// folded is a stack on a line, as tools for flame graphs read it, without its count.
func (s Stack) folded() string {
	frames := append([]string{cmp.Or(s.Hop, "elsewhere"), s.Command}, s.Frames...)
	for i := range frames {
		frames[i] = strings.ReplaceAll(frames[i], ";", ",")
	}
	return strings.Join(frames, ";")
}
