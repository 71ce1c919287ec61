package health

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	bpf "nfchain.dev/nfchain/bpf/probe"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// name of this version's program.
var name = held.Name(held.ProbeMark, bpf.Object())

// seenMap of a program, by the name that the kernel knows it by.
const seenMap = "seen"

// Taker takes probes out at a port, where they have come through the function behind it. It is
// before all other programs there, so that nothing counts, changes or sends a probe on.
type Taker struct {
	program *ebpf.Program
	seen    *ebpf.Map
	id      ebpf.ProgramID
}

// Seen is what has come through.
type Seen struct {
	// Number of the latest probe; 0 if none ever came.
	Number uint64
	// TookNS is how long that one took.
	TookNS uint64
}

// Take puts a program at a port which takes out the probes with a signature. What is there of
// another supervisor's goes, and what that has seen is kept. Where had is still the first
// program there, it is given back.
func Take(p resource.Place, port string, signature uint64, had *Taker) (t *Taker, err error) {
	dev, err := p.Device(port)
	if err != nil {
		return nil, err
	}
	err = p.Do(func() error {
		t, err = take(p, dev.Attrs().Index, signature, had)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("take probes out at port %s of namespace %q: %w", port, p.Ref, err)
	}
	return t, nil
}

func take(p resource.Place, index int, signature uint64, had *Taker) (*Taker, error) {
	first, err := held.First(p, index, held.Probes)
	if err != nil {
		return nil, err
	}
	if had != nil && first == had.id {
		return had, nil
	}
	old, err := held.Find(p, index, held.Probes)
	defer held.CloseAll(old)
	if err != nil {
		return nil, err
	}
	t, err := load(signature, old)
	if err != nil {
		return nil, err
	}
	if err := held.PutFirst(p, index, held.Probes, t.program, old); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// object that this version's program is loaded from.
var object = held.Once(bpf.LoadProgram)

// load a program that goes on with what the first of others has seen.
func load(signature uint64, old []*held.Program) (*Taker, error) {
	spec, err := object()
	if err != nil {
		return nil, err
	}
	if err := spec.Variables["signature"].Set(signature); err != nil {
		return nil, err
	}
	spec.Programs["probe"].Name = name
	o := ebpf.CollectionOptions{MapReplacements: map[string]*ebpf.Map{}}
	if len(old) > 0 && old[0].Maps[seenMap] != nil && spec.Maps[seenMap].Compatible(old[0].Maps[seenMap]) == nil {
		o.MapReplacements[seenMap] = old[0].Maps[seenMap]
	}
	var loaded bpf.ProgramObjects
	if err := spec.LoadAndAssign(&loaded, &o); err != nil {
		return nil, fmt.Errorf("load the program that takes probes out: %w", err)
	}
	t := &Taker{program: loaded.Probe, seen: loaded.Seen}
	info, err := t.program.Info()
	if err != nil {
		t.Close()
		return nil, err
	}
	t.id, _ = info.ID()
	return t, nil
}

// Seen by now.
func (t *Taker) Seen() (Seen, error) {
	var s bpf.ProgramSeen
	err := t.seen.Lookup(uint32(0), &s)
	return Seen{s.Number, s.Took}, err
}

// Close what was opened; the port keeps its program.
func (t *Taker) Close() { _ = errors.Join(t.program.Close(), t.seen.Close()) }
