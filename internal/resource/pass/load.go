package pass

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	program "nfchain.dev/nfchain/bpf/pass"
	"nfchain.dev/nfchain/bpf/passrules"
)

// What steps need of a packet, as bpf/include/pass.h has it.
const (
	needsClock = 1
	needsFlow  = 2
	needsMark  = 4
	needsRules = 8
)

// LeastFlows and MostFlows bound how many flows and prefixes have buckets at once: fewer
// than the least and those of one core would push out those of another.
const (
	LeastFlows = 4096
	MostFlows  = 1 << 22
)

// Loaded is a pass in the kernel, attached nowhere.
type Loaded struct {
	// Program decides about packets: TCX_NEXT, or TCX_DROP.
	Program *ebpf.Program
	counted *ebpf.Map
	rest    []*ebpf.Map
	rules   *passrules.ProgramMaps // of firewalls, if there are any
}

// Load makes a program of the steps. Flows is how many flows and prefixes have buckets
// at once, where steps limit those: of more, the ones not seen for longest lose theirs,
// and begin with a full one when they come again.
func Load(steps []Step, flows uint32) (*Loaded, error) {
	spec, err := program.LoadProgram()
	if err != nil {
		return nil, err
	}
	return load(spec, steps, flows)
}

func load(spec *ebpf.CollectionSpec, steps []Step, flows uint32) (*Loaded, error) {
	if err := prepare(spec, steps, flows); err != nil {
		return nil, err
	}
	var objects program.ProgramObjects
	if err := spec.LoadAndAssign(&objects, nil); err != nil {
		return nil, fmt.Errorf("load a pass of %d steps: %w", len(steps), err)
	}
	return &Loaded{Program: objects.Pass, counted: objects.Counted, rest: []*ebpf.Map{objects.Memories, objects.Buckets}}, nil
}

// prepare writes the steps into a program's constants.
func prepare(spec *ebpf.CollectionSpec, steps []Step, flows uint32) error {
	if err := check(steps); err != nil {
		return err
	}
	if _, can := spec.Maps["rules_memory"]; !can && need(steps)&needsRules != 0 {
		return errors.New("a pass with a firewall that is loaded without tables")
	}
	var all [Most]Step
	copy(all[:], steps)
	needs := need(steps)
	if needs&needsFlow != 0 {
		if flows < LeastFlows || flows > MostFlows {
			return fmt.Errorf("buckets for %d flows: %d to %d can have them", flows, LeastFlows, MostFlows)
		}
		spec.Maps["buckets"].MaxEntries = flows
	}
	return errors.Join(spec.Variables["steps"].Set(all), spec.Variables["needs"].Set(needs))
}

// need tells what steps want to know of packets.
func need(steps []Step) (needs uint32) {
	for _, s := range steps {
		switch {
		case s.Act == Mark:
			needs |= needsMark
		case s.Act == Rules:
			needs |= needsClock | needsRules
		case s.Act == Limit && Per(s.Args[2]) == Chain:
			needs |= needsClock
		case s.Act == Limit:
			needs |= needsClock | needsFlow
		}
	}
	return needs
}

// Close lets go of the program; where it is attached it stays.
func (l *Loaded) Close() error {
	err := errors.Join(l.Program.Close(), l.counted.Close())
	for _, m := range l.rest {
		err = errors.Join(err, m.Close())
	}
	return err
}
