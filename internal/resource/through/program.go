package through

import (
	"fmt"

	"github.com/cilium/ebpf"

	bpf "nfchain.dev/nfchain/bpf/through"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// The maps of a program, by the names that the kernel knows them by.
const (
	nextMap   = "next"
	passedMap = "passed"
)

// The programs of an object.
const (
	behindDriver = "through_skb"
	inDriver     = "through"
)

// attached is a program of nfchain's at an interface.
type attached struct{ *held.Program }

// atTC finds the programs behind an interface's driver. What others put there is not among them.
// It is called in the interface's namespace.
func atTC(p resource.Place, index int) (all []attached, err error) {
	found, err := held.Find(p, index, held.Throughs)
	for _, a := range found {
		all = append(all, attached{a})
	}
	return all, err
}

// whither packets go: the name of one of the owner's interfaces.
func (a attached) whither(mine map[int]string) string {
	m := a.Maps[nextMap]
	if m == nil {
		return "where another version had it"
	}
	var to uint32
	if err := m.Lookup(uint32(0), &to); err != nil {
		return err.Error()
	}
	if mine[int(to)] == "" {
		return fmt.Sprintf("interface %d, which is not the function's", to)
	}
	return mine[int(to)]
}

// put this version's program behind an interface's driver, in the place of another if there is
// one.
func put(p resource.Place, index int, to uint32, old *attached) error {
	program, err := load(behindDriver, to, old)
	if err != nil {
		return err
	}
	defer func() { _ = program.Close() }()
	if old != nil {
		return old.Replace(p, index, program)
	}
	return held.Put(p, index, held.Throughs, program)
}

// load a program that sends packets to an interface, and counts on where another stopped.
func load(name string, to uint32, old *attached) (*ebpf.Program, error) {
	taken := map[string]*ebpf.Map{}
	if old != nil && old.Maps[passedMap] != nil {
		taken[passedMap] = old.Maps[passedMap]
	}
	loaded, err := loadWith(name, taken)
	if err != nil {
		return nil, err
	}
	defer loaded.Close()
	if err := loaded.Maps[nextMap].Put(uint32(0), to); err != nil {
		return nil, err
	}
	return loaded.DetachProgram(name), nil
}

// loadBeside another program one that has its maps.
func loadBeside(name string, maps map[string]*ebpf.Map) (*ebpf.Program, error) {
	loaded, err := loadWith(name, map[string]*ebpf.Map{nextMap: maps[nextMap], passedMap: maps[passedMap]})
	if err != nil {
		return nil, err
	}
	defer loaded.Close()
	return loaded.DetachProgram(name), nil
}

// object that this version's programs are loaded from.
var object = held.Once(bpf.LoadProgram)

// loadWith maps of another program's, where they are as this version's are.
func loadWith(name string, maps map[string]*ebpf.Map) (*ebpf.Collection, error) {
	spec, err := object()
	if err != nil {
		return nil, err
	}
	program := spec.Programs[name]
	program.Name = Name
	spec.Programs = map[string]*ebpf.ProgramSpec{name: program}
	for of, m := range maps {
		if m == nil || spec.Maps[of].Compatible(m) != nil {
			delete(maps, of)
		}
	}
	loaded, err := ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{MapReplacements: maps})
	if err != nil {
		return nil, fmt.Errorf("load the program that passes packets through: %w", err)
	}
	return loaded, nil
}

// Counts is what came in at an interface and was passed through, since the interface is there.
// What the kernel cuts up or joins later is one packet.
type Counts struct {
	Packets uint64
	Bytes   uint64
}

// CountAt reads what was passed through at an interface; nothing where there is no program.
func CountAt(p resource.Place, device string) (c Counts, found bool, err error) {
	dev, err := p.Device(device)
	if err != nil {
		return c, false, nil
	}
	err = p.Do(func() error {
		all, err := atTC(p, dev.Attrs().Index)
		defer held.CloseAll(all)
		for _, a := range all {
			if err == nil && a.Maps[passedMap] != nil {
				found = true
				err = c.add(a.Maps[passedMap])
			}
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("read what passed through at %s of namespace %q: %w", device, p.Ref, err)
	}
	return c, found, err
}

// add what all cores counted.
func (c *Counts) add(passed *ebpf.Map) error {
	var each []bpf.ProgramCount
	if err := passed.Lookup(uint32(0), &each); err != nil {
		return err
	}
	for _, cpu := range each {
		c.Packets += cpu.Packets
		c.Bytes += cpu.Bytes
	}
	return nil
}

// Hands tells whether a program at an interface of a place, by its index, hands packets on behind
// the driver of the interface's far end.
func Hands(p resource.Place, index int) (is bool, err error) {
	err = p.Do(func() error {
		all, err := atTC(p, index)
		defer held.CloseAll(all)
		if err != nil || len(all) == 0 {
			return err
		}
		frames, err := atXDP(p, index)
		if is = frames == nil; !is {
			frames.Close()
		}
		return err
	})
	return is && err == nil, err
}
