package pass

import (
	"encoding/binary"
	"fmt"
	"sync"

	program "nfchain.dev/nfchain/bpf/pass"
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

// stepsAt is where the steps stand among this version's constants.
var stepsAt = sync.OnceValues(func() (offset uint64, err error) {
	spec, err := program.LoadProgram()
	if err != nil {
		return 0, err
	}
	return spec.Variables["steps"].Offset(), nil
})

// read the steps of a pass of this version, and for how many flows it has buckets.
func (a attached) read() (steps []Step, flows uint32, err error) {
	if a.Name != name || a.Maps[constantsMap] == nil || a.Maps[bucketsMap] == nil {
		return nil, 0, fmt.Errorf("program %s is of another version of nfchain", a.Name)
	}
	offset, err := stepsAt()
	if err != nil {
		return nil, 0, err
	}
	constants, err := a.Maps[constantsMap].LookupBytes(uint32(0))
	if err != nil || uint64(len(constants)) < offset {
		return nil, 0, fmt.Errorf("read the constants of program %s: %w", a.Name, err)
	}
	var all [Most]Step
	if _, err := binary.Decode(constants[offset:], binary.NativeEndian, &all); err != nil {
		return nil, 0, fmt.Errorf("read the steps of program %s: %w", a.Name, err)
	}
	for _, s := range all {
		if s.Act == End {
			break
		}
		steps = append(steps, s)
	}
	return steps, a.Maps[bucketsMap].MaxEntries(), nil
}

// counts of all cores.
func (a attached) counts() (Counts, error) {
	m := a.Maps[countedMap]
	if m == nil {
		return Counts{}, fmt.Errorf("program %s has no map %q", a.Name, countedMap)
	}
	return countsIn(m)
}
