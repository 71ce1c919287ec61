package health

import (
	"fmt"
	"slices"

	"github.com/cilium/ebpf"

	bpf "nfchain.dev/nfchain/bpf/probe"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// name of this version's program.
var name = held.Name(held.ProbeMark, bpf.Object())

// Taker takes probes out at a port, where they have come through the function behind it. It is
// before all other programs there, so that nothing counts, changes or sends a probe on.
type Taker struct {
	program *ebpf.Program
	id      ebpf.ProgramID
}

// Take puts the table's program at a port, which takes out the table's probes and notes in rows of the port's those
// that should come out there. What is there of another supervisor's goes, and what that has seen is kept, row by row.
// Where had, which is the port's, is still the first program there, it is given back.
func (t *Table) Take(p resource.Place, port string, rows []int, had *Taker) (taker *Taker, err error) {
	dev, err := p.Device(port)
	if err != nil {
		return nil, err
	}
	err = p.Do(func() error {
		taker, err = t.take(p, dev.Attrs().Index, rows, had)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("take probes out at port %s of namespace %q: %w", port, p.Ref, err)
	}
	return taker, nil
}

func (t *Table) take(p resource.Place, index int, rows []int, had *Taker) (*Taker, error) {
	if had != nil {
		if first, err := had.IsFirst(p, index); first || err != nil {
			return had, err
		}
	}
	old, err := held.Find(p, index, held.Probes)
	defer held.CloseAll(old)
	if err != nil {
		return nil, err
	}
	if err := t.goOn(rows, index, old); err != nil {
		return nil, err
	}
	taker, err := t.taker(old)
	if err != nil {
		return nil, err
	}
	if err := held.PutFirst(p, index, held.Probes, taker.program, old); err != nil {
		taker.Close()
		return nil, err
	}
	return taker, nil
}

// taker for a port where there are others. An interface takes no program twice, so that where the table's is
// among them it has another one from now on.
func (t *Table) taker(others []*held.Program) (*Taker, error) {
	is := func(id ebpf.ProgramID) func(*held.Program) bool {
		return func(p *held.Program) bool {
			info, err := p.Info()
			own, _ := info.ID()
			return err == nil && own == id
		}
	}
	if t.program == nil || slices.ContainsFunc(others, is(t.id)) {
		if err := t.load(); err != nil {
			return nil, err
		}
	}
	own, err := t.program.Clone()
	if err != nil {
		return nil, err
	}
	return &Taker{own, t.id}, nil
}

// IsFirst of the programs at an interface of the place, of those that are nfchain's at clsact. It is called in the
// place's namespace.
func (t *Taker) IsFirst(p resource.Place, index int) (bool, error) {
	first, err := held.First(p, index, held.Probes)
	return first == t.id, err
}

// object that this version's program is loaded from.
var object = held.Once(bpf.LoadProgram)

// load a program with the table.
func (t *Table) load() error {
	spec, err := object()
	if err != nil {
		return err
	}
	if err := spec.Variables["signature"].Set(t.signature); err != nil {
		return err
	}
	spec.Programs["probe"].Name = name
	for _, name := range []string{seenMap, wokenMap} {
		spec.Maps[name].MaxEntries = t.maps[name].MaxEntries()
	}
	var loaded struct {
		Probe *ebpf.Program `ebpf:"probe"`
	}
	if err := spec.LoadAndAssign(&loaded, &ebpf.CollectionOptions{MapReplacements: t.maps}); err != nil {
		return fmt.Errorf("load the program that takes probes out: %w", err)
	}
	info, err := loaded.Probe.Info()
	if err != nil {
		_ = loaded.Probe.Close()
		return err
	}
	t.forget()
	t.program = loaded.Probe
	t.id, _ = info.ID()
	return nil
}

// forget the program, which stays where it is.
func (t *Table) forget() {
	if t.program != nil {
		_ = t.program.Close()
	}
}

// Close what was opened; the port keeps its program.
func (t *Taker) Close() { _ = t.program.Close() }
