package pass

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	program "nfchain.dev/nfchain/bpf/pass"
	"nfchain.dev/nfchain/internal/resource"
)

// attached is a pass at an interface. All that is to be known of it is read from its maps.
type attached struct {
	name    string
	program *ebpf.Program
	maps    map[string]*ebpf.Map
}

// The maps of a program, by the names that the kernel knows them by.
const (
	constantsMap = ".rodata"
	countedMap   = "counted"
	memoriesMap  = "memories"
	bucketsMap   = "buckets"
)

// find the passes at an interface, first to last; what others put there is not among them.
// It is called in the interface's namespace.
func find(p resource.Place, index int) (all []*attached, err error) {
	found, err := link.QueryPrograms(link.QueryOptions{Target: index, Attach: ebpf.AttachTCXIngress})
	if errors.Is(err, unix.EINVAL) || errors.Is(err, ebpf.ErrNotSupported) || errors.Is(err, unix.ENODEV) {
		return nil, nil // a kernel without tcx, or an interface that has gone meanwhile
	}
	if err != nil {
		return nil, fmt.Errorf("ask for the programs of interface %d in namespace %q: %w", index, p.Ref, err)
	}
	for _, at := range found.Programs {
		a, err := open(at.ID)
		if err != nil {
			closeAll(all)
			return nil, err
		}
		if a != nil {
			all = append(all, a)
		}
	}
	return all, nil
}

// open a program by its number; nil if it is no pass, or has gone meanwhile.
func open(id ebpf.ProgramID) (*attached, error) {
	opened, err := ebpf.NewProgramFromID(id)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open program %d: %w", id, err)
	}
	a := &attached{program: opened, maps: map[string]*ebpf.Map{}}
	info, err := opened.Info()
	if err != nil || !strings.HasPrefix(info.Name, mark) {
		a.close()
		return nil, err
	}
	a.name = info.Name
	if err := a.openMaps(info); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *attached) openMaps(info *ebpf.ProgramInfo) error {
	ids, _ := info.MapIDs()
	for _, id := range ids {
		m, err := ebpf.NewMapFromID(id)
		if err != nil {
			return fmt.Errorf("open map %d of program %s: %w", id, a.name, err)
		}
		about, err := m.Info()
		if err != nil {
			_ = m.Close()
			return err
		}
		a.maps[about.Name] = m
	}
	return nil
}

func (a *attached) close() {
	for _, m := range a.maps {
		_ = m.Close()
	}
	_ = a.program.Close()
}

func closeAll(all []*attached) {
	for _, a := range all {
		a.close()
	}
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
func (a *attached) read() (steps []Step, flows uint32, err error) {
	if a.name != name || a.maps[constantsMap] == nil || a.maps[bucketsMap] == nil {
		return nil, 0, fmt.Errorf("program %s is of another version of nfchain", a.name)
	}
	offset, err := stepsAt()
	if err != nil {
		return nil, 0, err
	}
	constants, err := a.maps[constantsMap].LookupBytes(uint32(0))
	if err != nil || uint64(len(constants)) < offset {
		return nil, 0, fmt.Errorf("read the constants of program %s: %w", a.name, err)
	}
	var all [Most]Step
	if _, err := binary.Decode(constants[offset:], binary.NativeEndian, &all); err != nil {
		return nil, 0, fmt.Errorf("read the steps of program %s: %w", a.name, err)
	}
	for _, s := range all {
		if s.Act == End {
			break
		}
		steps = append(steps, s)
	}
	return steps, a.maps[bucketsMap].MaxEntries(), nil
}

// counts of all cores.
func (a *attached) counts() (Counts, error) {
	m := a.maps[countedMap]
	if m == nil {
		return Counts{}, fmt.Errorf("program %s has no map %q", a.name, countedMap)
	}
	return countsIn(m)
}
