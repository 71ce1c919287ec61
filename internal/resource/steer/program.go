package steer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	bpf "nfchain.dev/nfchain/bpf/steer"
	"nfchain.dev/nfchain/internal/resource"
)

// The maps of a program, by the names that the kernel knows them by.
const (
	nextMap   = "next"
	passedMap = "passed"
)

// attached is a program of nfchain's at a port, with its maps.
type attached struct {
	hook    string
	name    string
	program *ebpf.Program
	maps    map[string]*ebpf.Map
}

// find the programs of nfchain's at an interface. What others put there is left alone.
func find(p resource.Place, index int) (all []*attached, err error) {
	for name, at := range hooks {
		ids, err := at.programs(p, index)
		if err != nil {
			return all, err
		}
		for _, id := range ids {
			a, err := open(id)
			if err != nil {
				return all, err
			}
			if a != nil {
				a.hook = name
				all = append(all, a)
			}
		}
	}
	return all, nil
}

// open a program by its number; nil for one that is not nfchain's, or has gone meanwhile.
func open(id ebpf.ProgramID) (*attached, error) {
	program, err := ebpf.NewProgramFromID(id)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open program %d: %w", id, err)
	}
	a := &attached{program: program, maps: map[string]*ebpf.Map{}}
	info, err := program.Info()
	if err != nil || !strings.HasPrefix(info.Name, Mark) {
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
	if a == nil {
		return
	}
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

// next is the index of the port that packets go to.
func (a *attached) next() (index uint32, err error) {
	m := a.maps[nextMap]
	if m == nil {
		return 0, fmt.Errorf("program %s has no map %q", a.name, nextMap)
	}
	err = m.Lookup(uint32(0), &index)
	return index, err
}

// load this version's program with the index of the port that packets go to. It counts on
// where an older one stopped.
func load(next uint32, old *attached) (*bpf.ProgramObjects, error) {
	spec, err := bpf.LoadProgram()
	if err != nil {
		return nil, err
	}
	spec.Programs["steer"].Name = Name
	var o ebpf.CollectionOptions
	if old != nil && old.maps[passedMap] != nil && spec.Maps[passedMap].Compatible(old.maps[passedMap]) == nil {
		o.MapReplacements = map[string]*ebpf.Map{passedMap: old.maps[passedMap]}
	}
	loaded := &bpf.ProgramObjects{}
	if err := spec.LoadAndAssign(loaded, &o); err != nil {
		return nil, fmt.Errorf("load the program that steers: %w", err)
	}
	if err := loaded.Next.Put(uint32(0), next); err != nil {
		_ = loaded.Close()
		return nil, err
	}
	return loaded, nil
}
