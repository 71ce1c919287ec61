package steer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cilium/ebpf"

	bpf "nfchain.dev/nfchain/bpf/steer"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// The maps of a program, by the names that the kernel knows them by.
const (
	nextMap    = "next"
	insteadMap = "instead"
	passedMap  = "passed"
	endedMap   = "ended"
)

// attached is a program of nfchain's at a port, and what holds it.
type attached struct {
	*held.Program
	hook string
	// front tells that it stands before others there.
	front bool
	// port that it is at, where that was asked for.
	port string
	// taken are the seats of functions with replicas to which it leads, by the names of their tables.
	taken map[string]uint32
	// beyond are the ports to which flows come that it leads aside, by the ends of the pairs that they are led into.
	beyond map[uint32][]uint32
}

// find the programs of nfchain's at an interface, but those that stand before others. What others put there is left alone.
func find(p resource.Place, index int) (all []*attached, err error) {
	return findNamed(p, index, func(name string) bool { return strings.HasPrefix(name, Mark) })
}

// findFronts finds those that stand before others, but this version's that have flows stay, of which others know nothing.
func findFronts(p resource.Place, index int) (all []*attached, err error) {
	all, err = frontsNamed(fronts, p, index, func(name string) bool { return strings.HasPrefix(name, held.FrontMark) })
	if err != nil {
		return all, err
	}
	for _, its := range []struct {
		at         map[string]hook
		mark, this string
	}{{keeping, held.KeepMark, VersionsName}, {leading, held.LeadMark, LeadsName}} {
		others, err := frontsNamed(its.at, p, index, func(name string) bool { return strings.HasPrefix(name, its.mark) && name != its.this })
		if all = append(all, others...); err != nil {
			return all, err
		}
	}
	return all, nil
}

// findKeeping finds those of this version that stand before others and have flows stay, and those before them.
func findKeeping(p resource.Place, index int) (all []*attached, err error) {
	all, err = frontsNamed(keeping, p, index, func(name string) bool { return name == VersionsName })
	if err != nil {
		return all, err
	}
	led, err := frontsNamed(leading, p, index, func(name string) bool { return name == LeadsName })
	return append(all, led...), err
}

func frontsNamed(at map[string]hook, p resource.Place, index int, named func(string) bool) (all []*attached, err error) {
	all, err = findAt(at, p, index, named)
	for _, a := range all {
		a.front = true
	}
	return all, err
}

// findAll are those that stand before others, and then these.
func findAll(p resource.Place, index int) (all []*attached, err error) {
	all, err = findFronts(p, index)
	if err != nil {
		return all, err
	}
	behind, err := find(p, index)
	return append(all, behind...), err
}

// findNamed finds programs with names of some kind.
func findNamed(p resource.Place, index int, named func(string) bool) (all []*attached, err error) {
	return findAt(hooks, p, index, named)
}

func findAt(hooks map[string]hook, p resource.Place, index int, named func(string) bool) (all []*attached, err error) {
	for name, at := range hooks {
		ids, err := at.programs(p, index)
		if err != nil {
			return all, err
		}
		for _, id := range ids {
			a, err := held.OpenAt(p, id, named)
			if err != nil {
				return all, err
			}
			if a == nil {
				continue
			}
			found := &attached{Program: a, hook: name}
			all = append(all, found)
			if err := found.openTables(); err != nil {
				return all, err
			}
		}
	}
	return all, nil
}

// at is what holds it.
func (a *attached) at() hook {
	switch {
	case a.leads():
		return leading[a.hook]
	case a.between():
		return keeping[a.hook]
	case a.front:
		return fronts[a.hook]
	}
	return hooks[a.hook]
}

// between tells whether it is there to have flows stay, behind what else stands before others.
func (a *attached) between() bool { return strings.HasPrefix(a.Name, held.KeepMark) }

// leads tells whether it is there to lead such flows past all else.
func (a *attached) leads() bool { return strings.HasPrefix(a.Name, held.LeadMark) }

// program that is attached; nil where there is none.
func (a *attached) program() *ebpf.Program {
	if a == nil {
		return nil
	}
	return a.Program.Program
}

// has tells whether a program, of whatever version, has a map of that name with which one of this version can go on.
func (a *attached) has(name string, like *ebpf.MapSpec) bool {
	return a != nil && like != nil && a.Maps[name] != nil && like.Compatible(a.Maps[name]) == nil
}

// whither packets go, in words.
func (a *attached) whither(p resource.Place) (string, error) {
	switch a.Name {
	case Name:
		next, err := a.next()
		return called(p, int(next)), err
	case StayName:
		to, err := a.newestWay()
		return called(p, int(to)), err
	case BranchName:
		return a.parts(p)
	case SpreadName:
		return a.pastTo(p)
	case FrontName:
		return a.byPaths(p)
	case PathsName:
		to, err := a.leadsAll()
		if err != nil {
			return "", err
		}
		if to != 0 {
			return a.allTo(p, to)
		}
		return a.byPaths(p)
	}
	return "where another version had it", nil
}

// allTo is where a program sends all packets but those on older paths, in words: as one without paths would.
func (a *attached) allTo(p resource.Place, to uint32) (string, error) {
	table, err := a.dealsAll()
	if err != nil || table == "" {
		return called(p, int(to)), err
	}
	among, err := a.dealtText(p, a.seats().at(a.taken[table]), table)
	if _, shared := seatOf(to); shared || err != nil {
		return among, err
	}
	return pastText(called(p, int(to)), among), nil
}

// pastTo is where a program with replicas sends packets, in words.
func (a *attached) pastTo(p resource.Place) (string, error) {
	among, err := a.among(p)
	if err != nil {
		return "", err
	}
	next, err := a.next()
	if err != nil || next == Replicas {
		return among, err
	}
	return pastText(called(p, int(next)), among), nil
}

// next is the index of the port that packets go to, or Replicas.
func (a *attached) next() (index uint32, err error) {
	m := a.Maps[nextMap]
	if m == nil {
		return 0, fmt.Errorf("program %s has no map %q", a.Name, nextMap)
	}
	err = m.Lookup(uint32(0), &index)
	return index, err
}

// load this version's program with the index of the port that packets go to. It counts on
// where an older one stopped, and sends packets elsewhere if that did, or if they are to go there instead.
func load(next uint32, old *attached, instead uint32) (*bpf.ProgramObjects, error) {
	spec, err := steerObject()
	if err != nil {
		return nil, err
	}
	spec.Programs["steer"].Name = Name
	taken := counting(spec, old)
	if instead != 0 {
		delete(taken, insteadMap)
	}
	loaded := &bpf.ProgramObjects{}
	if err := spec.LoadAndAssign(loaded, &ebpf.CollectionOptions{MapReplacements: taken}); err != nil {
		return nil, fmt.Errorf("load the program that steers: %w", err)
	}
	err = errors.Join(loaded.Next.Put(uint32(0), next), leads(loaded.Instead))
	if instead != 0 {
		err = errors.Join(err, loaded.Instead.Put(uint32(0), instead))
	}
	if err != nil {
		_ = loaded.Close()
		return nil, err
	}
	return loaded, nil
}

// leads to a port, or as planned, whatever a program with replicas was told before.
func leads(instead *ebpf.Map) error {
	var to uint32
	if err := instead.Lookup(uint32(0), &to); err != nil || to != Replicas {
		return err
	}
	return instead.Put(uint32(0), uint32(0))
}

// counting are the maps that a program takes over: to count on where another stopped, and to
// send packets where that did while nodes fail.
func counting(spec *ebpf.CollectionSpec, old *attached) map[string]*ebpf.Map {
	taken := map[string]*ebpf.Map{}
	for _, name := range []string{passedMap, endedMap, insteadMap, detoursMap, failingMap, nodesMap, pastMap, asideMap, notesMap} {
		if old.has(name, spec.Maps[name]) {
			taken[name] = old.Maps[name]
		}
	}
	return taken
}
