package pass

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/cilium/ebpf"

	program "nfchain.dev/nfchain/bpf/pass"
	"nfchain.dev/nfchain/bpf/passrules"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// attached is a pass at an interface.
type attached struct{ *held.Program }

// The maps of a program, by the names that the kernel knows them by.
const (
	constantsMap = ".rodata"
	countedMap   = "counted"
	memoriesMap  = "memories"
	bucketsMap   = "buckets"
)

// find the passes at an interface, first to last; what others put there is not among them.
// It is called in the interface's namespace.
func find(p resource.Place, index int) (all []attached, err error) {
	ids, err := held.AtTCX(index)
	if err != nil {
		return nil, fmt.Errorf("ask for the programs of interface %d in namespace %q: %w", index, p.Ref, err)
	}
	for _, id := range ids {
		a, err := held.Open(id, mark)
		if err != nil {
			held.CloseAll(all)
			return nil, err
		}
		if a != nil {
			all = append(all, attached{a})
		}
	}
	return all, nil
}

// stepsAt is where the steps stand among the constants of this version's programs, by their names.
var stepsAt = sync.OnceValues(func() (map[string]uint64, error) {
	offsets := map[string]uint64{}
	for name, load := range map[string]func() (*ebpf.CollectionSpec, error){name: program.LoadProgram, rulesName: passrules.LoadProgram} {
		spec, err := load()
		if err != nil {
			return nil, err
		}
		offsets[name] = spec.Variables["steps"].Offset()
	}
	return offsets, nil
})

// contents are the steps of a pass, for how many flows it has buckets, and how many connections
// its firewalls remember.
type contents struct {
	steps              []Step
	flows, connections uint32
}

// read what a pass of this version has.
func (a attached) read() (c contents, err error) {
	offsets, err := stepsAt()
	if err != nil {
		return c, err
	}
	offset, ours := offsets[a.Name]
	if !ours || a.Maps[constantsMap] == nil || a.Maps[bucketsMap] == nil {
		return c, fmt.Errorf("program %s is of another version of nfchain", a.Name)
	}
	constants, err := a.Maps[constantsMap].LookupBytes(uint32(0))
	if err != nil || uint64(len(constants)) < offset {
		return c, fmt.Errorf("read the constants of program %s: %w", a.Name, err)
	}
	var all [Most]Step
	if _, err := binary.Decode(constants[offset:], binary.NativeEndian, &all); err != nil {
		return c, fmt.Errorf("read the steps of program %s: %w", a.Name, err)
	}
	for _, s := range all {
		if s.Act == End {
			break
		}
		c.steps = append(c.steps, s)
	}
	c.flows = a.Maps[bucketsMap].MaxEntries()
	if m := a.Maps[rulesFlowsMap]; m != nil {
		c.connections = m.MaxEntries()
	}
	return c, nil
}

// counts of all cores.
func (a attached) counts() (Counts, error) {
	m := a.Maps[countedMap]
	if m == nil {
		return Counts{}, fmt.Errorf("program %s has no map %q", a.Name, countedMap)
	}
	return countsIn(m)
}
