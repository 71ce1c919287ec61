// Package profile samples what every core executes while a chain carries load: the
// stacks of the kernel and of programs, many times a second, and for which node of the
// chain it was. It says where the time went, not how long one packet took (package
// trace does). Its perf events, and the programs beside them, go with their
// descriptors, however this process ends. It offers no load and changes no chain.
package profile

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
)

// Chain is what is sampled.
type Chain struct {
	Name, Wiring string
	// Nodes in path order, both ends included.
	Nodes []Node
	// Arrivals are the nodes whose packets those are which come in by an interface that is
	// not in the node's namespace.
	Arrivals map[resource.Interface]string
}

// Node is an endpoint or a function.
type Node struct{ Name, Kind, Namespace string }

// MaxFrequency of sampling; above it the kernel slows itself down
// (kernel.perf_event_max_sample_rate).
const MaxFrequency = 10000

// Options are how to sample.
type Options struct {
	// Frequency is samples a second on each core. One that is odd keeps clear of what
	// the machine does at round frequencies.
	Frequency int
	// Softirq finds the node whose packets a softirq has, by programs at the kernel's
	// tracepoints. Where the kernel refuses them that is a warning.
	Softirq bool
}

// Sampler samples every core until it is stopped.
type Sampler struct {
	options Options
	nodes   map[uint32]string // by the inode of their namespaces
	// arrivals are nodes by the interface that their packets come in by elsewhere.
	arrivals map[device]string
	events   *events
	hops     *hops // nil without programs
	table    *table
	kernel   *kernelSymbols
	began    time.Time
	stop     chan struct{}
	ended    chan struct{}
	// warnings of what could not be had.
	warnings []string
}

// drainEvery is how often the kernel's buffers are read: a process whose programs
// are to be named must still be there.
const drainEvery = 20 * time.Millisecond

// Start begins to sample; [Sampler.Stop] must follow.
func Start(c Chain, o Options) (*Sampler, error) { return start(c, o, ringPages) }

// start with rings of so many pages.
func start(c Chain, o Options, pages int) (*Sampler, error) {
	s := &Sampler{options: o, nodes: map[uint32]string{}, arrivals: map[device]string{}, stop: make(chan struct{}), ended: make(chan struct{})}
	for _, n := range c.Nodes {
		var st unix.Stat_t
		if err := unix.Stat(netns.Path(n.Namespace), &st); err != nil {
			return nil, fmt.Errorf("look at the namespace of %s: %w", n.Name, err)
		}
		s.nodes[uint32(st.Ino)] = n.Name
	}
	if err := s.locate(c.Arrivals); err != nil {
		return nil, err
	}
	s.kernel = readKernelSymbols()
	s.table = newTable(s.kernel)
	if err := s.open(pages); err != nil {
		s.close()
		return nil, err
	}
	s.began = time.Now()
	if err := s.events.enable(true); err != nil {
		s.close()
		return nil, err
	}
	go s.drain()
	return s, nil
}

// open makes the events, with the programs where they can be had.
func (s *Sampler) open(pages int) (err error) {
	if s.options.Softirq {
		if s.hops, err = newHops(); err != nil {
			s.warnings = append(s.warnings, fmt.Sprintf("softirqs are not told by hop: %v", err))
		}
	}
	s.events, err = openEvents(s.options.Frequency, pages, s.hops)
	return err
}

func (s *Sampler) drain() {
	defer close(s.ended)
	tick := time.NewTicker(drainEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
			s.events.read(s.table.take)
			s.table.look()
		}
	}
}

// Stop ends sampling and gives what was seen. It is called once.
func (s *Sampler) Stop() (Samples, error) {
	err := s.events.enable(false)
	took := time.Since(s.began)
	close(s.stop)
	<-s.ended
	s.events.read(s.table.take)
	s.table.look()
	out := s.samples(took)
	s.close()
	return out, err
}

func (s *Sampler) close() {
	if s.events != nil {
		s.events.close()
	}
	s.hops.close()
	s.table.close()
}
