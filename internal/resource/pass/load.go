package pass

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"

	program "nfchain.dev/nfchain/bpf/pass"
	"nfchain.dev/nfchain/bpf/passnat"
	"nfchain.dev/nfchain/bpf/passrules"
	"nfchain.dev/nfchain/internal/resource/held"
)

// objects that this version's programs are loaded from, by what the kernel calls the programs.
var objects = map[string]func() (*ebpf.CollectionSpec, error){
	name: held.Once(program.LoadProgram), rulesName: held.Once(passrules.LoadProgram), natName: held.Once(passnat.LoadProgram),
}

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
	// maps of the program, by their names in it; what is carried on of passes before may be another's.
	maps    map[string]*ebpf.Map
	carried *ebpf.Map
	steps   []Step
	// counters of all rules.
	counters uint32
}

// Load makes a program of a spec's steps. Of more flows and prefixes than it has buckets
// for, the ones not seen for longest lose theirs, and begin with a full one when they come
// again.
func Load(s Spec) (*Loaded, error) { return replacing(s, numbers{}, nil, nil) }

// replacing is Load for a pass in another's place, or beside others: where no function that both have
// counts in another slot than in that one, it has the same counters and remembers what that did. Firewalls and NATs have their connections in common with those of others.
func replacing(s Spec, taps numbers, old *attached, n *neighbours) (*Loaded, error) {
	kept := old.keeps(s)
	l, err := s.loaded(taps, kept, old, n)
	if err != nil {
		return nil, err
	}
	var shared *ebpf.Map
	if kept != nil {
		shared = old.Maps[carriedMap]
	}
	if err := l.holds(s, shared); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// loaded has the program of a spec loaded with the maps that are kept.
func (s Spec) loaded(taps numbers, kept map[string]*ebpf.Map, old *attached, n *neighbours) (*Loaded, error) {
	if err := errors.Join(s.checkFirewalls(), s.checkNATs()); err != nil {
		return nil, err
	}
	var others []knowing
	if knows(s.Steps) {
		var err error
		if others, err = n.beside(old); err != nil {
			return nil, err
		}
	}
	spec, called, err := s.program()
	if err != nil {
		return nil, err
	}
	return s.furnished(spec, called, taps, kept, others)
}

// program that can take the steps, and what the kernel is to call it.
func (s Spec) program() (spec *ebpf.CollectionSpec, called string, err error) {
	switch {
	case translates(s.Steps):
		called = natName
	case asksRules(s.Steps):
		called = rulesName
	default:
		called = name
	}
	spec, err = objects[called]()
	return spec, called, err
}

// keeps are the maps of what was counted and remembered, if other steps can go on with them. A pass that
// carries nothing is not known to have the same functions' steps.
func (a *attached) keeps(s Spec) map[string]*ebpf.Map {
	if a == nil || !a.carries() {
		return nil
	}
	c, err := a.read()
	if err != nil {
		return nil
	}
	before, err := a.carrying()
	if err != nil || !before.of(slices.Concat(c.steps, a.also)).staysIn(s.carrying()) || s.limitsChain(c.steps) {
		return nil
	}
	kept := map[string]*ebpf.Map{countedMap: a.Maps[countedMap], memoriesMap: a.Maps[memoriesMap]}
	if hasBuckets(s.Steps) && c.flows == s.Flows && s.limitsAsIn(before.of(c.steps), c.steps) {
		kept[bucketsMap], kept[bucketsMadeMap] = a.Maps[bucketsMap], a.Maps[bucketsMadeMap]
	}
	return kept
}

// prepare writes the steps into a program's constants.
func prepare(spec *ebpf.CollectionSpec, steps []Step, flows uint32) error {
	if err := check(steps); err != nil {
		return err
	}
	if _, can := spec.Maps[rulesMemoryMap]; !can && need(steps)&needsRules != 0 {
		return errors.New("a pass with a firewall that is loaded without tables")
	}
	if _, can := spec.Maps[natFlowsMap]; !can && translates(steps) {
		return errors.New("a pass with a nat that is loaded without tables")
	}
	var all [Most]Step
	copy(all[:], steps)
	for i, s := range steps {
		if s.Act == Rules { // which are replaced without the program
			all[i] = s.asking(asked{})
		}
	}
	needs := need(steps)
	if hasBuckets(steps) {
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
		case s.Act == Translate:
			needs |= needsClock
		case s.Act == Mirror && s.filters():
			needs |= needsFlow
		case s.HasBuckets():
			needs |= needsClock | needsFlow
		case s.Act == Limit:
			needs |= needsClock
		}
	}
	return needs
}

// hasBuckets tells whether flows or prefixes have any.
func hasBuckets(steps []Step) bool { return slices.ContainsFunc(steps, Step.HasBuckets) }

// Close lets go of the program; where it is attached it stays.
func (l *Loaded) Close() error {
	err := l.Program.Close()
	for _, m := range l.maps {
		err = errors.Join(err, m.Close())
	}
	return err
}
