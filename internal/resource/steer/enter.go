package steer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/bpf/classify"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// The maps of the programs that send packets on by paths.
const (
	waysMap    = "ways"
	detoursMap = "detours"
	membersMap = "members"
	becameMap  = "became"
	memoryMap  = "rules_memory"
	currentMap = "current"
	talliesMap = "tallies"
	habitMap   = "habit"
	sideMap    = "side"
)

// enters tells whether a program is this version's and chooses paths, of so many flows.
func (a *attached) enters(flows uint32) bool {
	return a != nil && a.Name == PathsName && a.Maps[currentMap] != nil && a.keepsMembers(flows)
}

// keepsMembers tells whether a program, of any version, has the table of a chain's flows.
func (a *attached) keepsMembers(flows uint32) bool {
	m := a.Maps[membersMap]
	return m != nil && m.MaxEntries() == flows
}

// enteringLast has ports where flows begin after all others, which then know each path before a flow is on it.
func enteringLast(changes []resource.Change) []resource.Change {
	late := func(c resource.Change) int {
		if s, is := c.Spec.(Spec); is && s.Paths != nil && s.Paths.Choice != nil {
			return 1
		}
		return 0
	}
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b resource.Change) int { return late(a) - late(b) })
	return changes
}

// choices are the rules of a chain being put into the kernel: compiled once, whatever ports there are.
type choices map[[digestSize]byte][]byte

func (c choices) compiled(p *Paths) ([]byte, error) {
	numbers := p.numbers()
	digest := p.Choice.digest(numbers)
	if c[digest] == nil {
		compiled, err := p.Choice.compile(numbers, time.Duration(p.Idle))
		if err != nil {
			return nil, err
		}
		c[digest] = compiled
	}
	return c[digest], nil
}

// keepPaths keeps a program of this version, or puts one in the place of what is there. Ways of paths that are no
// longer wanted are for classifyBy.
func (k Kind) keepPaths(p resource.Place, s Spec, index int, to []uint32, old *attached) error {
	if s.Paths.Choice != nil {
		return k.keepEntering(p, s, index, to, old)
	}
	if old != nil && old.Name == PathsName && old.Maps[habitMap] != nil && old.keepsMembers(s.Paths.Flows) {
		ways := old.Maps[waysMap]
		return errors.Join(k.older.carry(old, ways), lead(ways, s.Paths.Ways, to), old.Maps[habitMap].Put(uint32(0), s.Paths.habit()))
	}
	var o struct {
		Program *ebpf.Program `ebpf:"between"`
		Ways    *ebpf.Map     `ebpf:"ways"`
		Habit   *ebpf.Map     `ebpf:"habit"`
	}
	if err := loadPaths(p, "between", s.Paths.Flows, old, nil, &o); err != nil {
		return err
	}
	defer closeAll(o.Program, o.Ways, o.Habit)
	if err := errors.Join(k.older.carry(old, o.Ways), lead(o.Ways, s.Paths.Ways, to), o.Habit.Put(uint32(0), s.Paths.habit())); err != nil {
		return err
	}
	return hooks[s.Hook].put(p, index, o.Program, old.program())
}

// keepEntering does so where flows begin.
func (k Kind) keepEntering(p resource.Place, s Spec, index int, to []uint32, old *attached) error {
	compiled, err := k.choices.compiled(s.Paths)
	if err != nil {
		return err
	}
	if old.enters(s.Paths.Flows) && old.hasRoom(compiled) {
		return errors.Join(k.older.carry(old, old.Maps[waysMap]), lead(old.Maps[waysMap], s.Paths.Ways, to))
	}
	var o struct {
		Program *ebpf.Program `ebpf:"enter"`
		Ways    *ebpf.Map     `ebpf:"ways"`
		Side    *ebpf.Map     `ebpf:"side"`
	}
	set := func(spec *ebpf.CollectionSpec, maps map[string]*ebpf.Map, others []*attached) error {
		return furnish(spec, maps, others, compiled)
	}
	if err := loadPaths(p, "enter", s.Paths.Flows, old, set, &o); err != nil {
		return err
	}
	defer closeAll(o.Program, o.Ways, o.Side)
	if err := errors.Join(k.older.carry(old, o.Ways), lead(o.Ways, s.Paths.Ways, to), o.Side.Put(uint32(0), uint32(s.Paths.End-FirstEnd))); err != nil {
		return err
	}
	return hooks[s.Hook].put(p, index, o.Program, old.program())
}

func closeAll(all ...interface{ Close() error }) {
	for _, c := range all {
		_ = c.Close()
	}
}

// furnishing gives a program that is to be loaded maps of other ports' programs, or what its own begin with.
type furnishing func(spec *ebpf.CollectionSpec, maps map[string]*ebpf.Map, others []*attached) error

// loadPaths loads one of this version's programs that send packets on by paths. It counts on where
// another stopped, and knows the flows that other ports know.
func loadPaths(p resource.Place, program string, flows uint32, old *attached, set furnishing, to any) error {
	spec, err := pathsObject()
	if err != nil {
		return err
	}
	spec.Programs[program].Name = PathsName
	spec.Maps[membersMap].MaxEntries, spec.Maps[waysMap].Flags = flows, unix.BPF_F_MMAPABLE
	o := ebpf.CollectionOptions{MapReplacements: counting(spec, old)}
	others, err := portsThat(p, func(a *attached) bool { return a.keepsMembers(flows) })
	defer held.CloseAll(others)
	if err != nil {
		return err
	}
	for _, a := range others {
		if spec.Maps[membersMap].Compatible(a.Maps[membersMap]) == nil {
			o.MapReplacements[membersMap] = a.Maps[membersMap]
		}
	}
	if o.MapReplacements[membersMap] == nil {
		table, err := takeOver[classify.ProgramFlow, classify.ProgramMember](p, spec.Maps[membersMap])
		if err != nil {
			return err
		}
		defer func() { _ = table.Close() }()
		o.MapReplacements[membersMap] = table
	}
	if old != nil && old.Name == PathsName && old.Maps[becameMap] != nil {
		o.MapReplacements[becameMap] = old.Maps[becameMap]
	}
	if set != nil {
		if err := set(spec, o.MapReplacements, others); err != nil {
			return err
		}
	}
	if err := spec.LoadAndAssign(to, &o); err != nil {
		return fmt.Errorf("load the program that sends packets on by paths: %w", err)
	}
	return nil
}

// takeOver makes a table of a chain's flows with those of a table of another size, if the chain has one.
// What is seen for the first time meanwhile is new again.
func takeOver[Flow, Known any](p resource.Place, spec *ebpf.MapSpec) (*ebpf.Map, error) {
	table, err := ebpf.NewMap(spec)
	if err != nil {
		return nil, fmt.Errorf("make a table of flows: %w", err)
	}
	olds, err := portsThat(p, func(a *attached) bool { return a.lists(spec) })
	defer held.CloseAll(olds)
	if err == nil && len(olds) > 0 { // all have the same
		err = eachOf(olds[0].Maps[spec.Name], func(f Flow, k Known) {
			_ = table.Put(f, k) // without room it is a flow that is not known
		})
	}
	if err != nil {
		_ = table.Close()
		return nil, fmt.Errorf("take known flows over: %w", err)
	}
	return table, nil
}

// lists tells whether a program, of whatever version, has a table by that name of such flows, as many as there may be.
func (a *attached) lists(like *ebpf.MapSpec) bool {
	m := a.Maps[like.Name]
	return m != nil && m.Type() == like.Type && m.KeySize() == like.KeySize && m.ValueSize() == like.ValueSize
}

// furnish a program with the rules that others have, where there is room for the wanted ones too; else
// with memory of its own, in which those that count now are, or else the wanted ones.
func furnish(spec *ebpf.CollectionSpec, maps map[string]*ebpf.Map, others []*attached, compiled []byte) (err error) {
	live := compiled
	for _, a := range others {
		if a.Name != PathsName || a.Maps[currentMap] == nil {
			continue
		}
		if a.hasRoom(compiled) {
			for _, name := range []string{memoryMap, currentMap, talliesMap} {
				maps[name] = a.Maps[name]
			}
			spec.Maps[talliesMap].MaxEntries = a.Maps[talliesMap].MaxEntries()
			return laidOut(spec, a.areas().Len(), a.areas().Room())
		}
		if live, err = a.live(); err != nil {
			return err
		}
	}
	h, err := headerOf(compiled)
	if err != nil {
		return err
	}
	areas, room := mostAreas, max(leastRoom, 2*held.Rounded(len(compiled)), held.Rounded(len(live)))
	if areas*room+held.Behind > mostMemory {
		room = held.Rounded(max(len(compiled), len(live)))
	}
	if areas*room+held.Behind > mostMemory {
		areas = leastAreas
	}
	if areas*room+held.Behind > mostMemory {
		return fmt.Errorf("%d rules take %d MB of memory, and may take %d; leave some out", h.Rules, len(compiled)>>20, mostMemory/leastAreas>>20)
	}
	memory := make([]byte, areas*room+held.Behind)
	copy(memory, live)
	spec.Maps[memoryMap].Contents = []ebpf.MapKV{{Key: uint32(0), Value: memory}}
	spec.Maps[talliesMap].MaxEntries = uint32(areas) * max(leastCounters, 2*(h.Rules+2))
	return laidOut(spec, areas, room)
}

// laidOut gives a program's memory so many areas, each with so much room.
func laidOut(spec *ebpf.CollectionSpec, areas, room int) error {
	held.LayOut(spec.Maps[memoryMap], spec.Maps[currentMap], areas, room)
	return errors.Join(spec.Variables["rules_area"].Set(uint32(room)), spec.Variables["rules_last"].Set(uint32(areas*room)))
}

// A memory has as many areas, unless there is no room for more than the least; more do not get rules to count sooner.
const (
	mostAreas  = 4
	leastAreas = 2
)

// A memory that is made has room for so many bytes of rules in each area, and for so many counters.
const (
	leastRoom     = 32 << 10
	leastCounters = 512
)

// areas of a program's memory, and how many counters each has.
func (a *attached) areas() held.Areas {
	return held.Areas{Memory: a.Maps[memoryMap], Current: a.Maps[currentMap]}
}
func (a *attached) counters() uint32 {
	return a.Maps[talliesMap].MaxEntries() / uint32(a.areas().Len())
}

func (a *attached) hasRoom(compiled []byte) bool {
	h, err := headerOf(compiled)
	return err == nil && a.areas().Has() && a.Maps[talliesMap] != nil && len(compiled) <= a.areas().Room() && h.Rules+2 <= a.counters()
}

// counting are the rules that count: the area that they are in, and what they begin with.
func (a *attached) counting() (area int, h choiceHeader, err error) {
	if !a.areas().Has() {
		return 0, h, fmt.Errorf("program %s lacks maps", a.Name)
	}
	if area, err = a.areas().Counting(); err != nil {
		return 0, h, err
	}
	err = a.areas().In(area, binary.Size(h), func(memory []byte) error {
		h, err = headerOf(memory)
		return err
	})
	return area, h, err
}

// live are the rules that count, as they would be at the beginning of another memory.
func (a *attached) live() (live []byte, err error) {
	area, h, err := a.counting()
	if err != nil {
		return nil, err
	}
	err = a.areas().In(area, int(h.Size), func(memory []byte) error {
		live = slices.Clone(memory)
		return nil
	})
	h.First = 0
	return h.over(live), err
}

// lead paths to ports of these indexes, and leave others.
func lead(ways *ebpf.Map, all []Way, to []uint32) error {
	for i, w := range all {
		if err := ways.Put(uint32(w.Number), w.of(to[i])); err != nil {
			return err
		}
	}
	return nil
}

// forget the ways of all other paths but older ones that flows stay on.
func (p *Paths) forget(a *attached, stay older) error {
	wanted := map[int]bool{}
	for _, w := range p.Ways {
		wanted[w.Number] = true
	}
	ways, err := a.allWays()
	for n, w := range ways {
		if w.Port == 0 || wanted[n] || w.Older != 0 && stay[n].Check == w.Check {
			continue
		}
		err = errors.Join(err, a.Maps[waysMap].Put(uint32(n), classify.ProgramWay{}))
	}
	return err
}

// classifyBy the wanted rules where flows begin, at all ends at once: until then by those before. Then paths that
// are no longer wanted end there, and their flows are on others at their next packet; and between functions last.
func (k Kind) classifyBy(p resource.Place, changes []resource.Change) error {
	for _, entering := range []bool{true, false} {
		for _, change := range changes {
			s, is := change.Spec.(Spec)
			if !is || s.Paths == nil || (s.Paths.Choice != nil) != entering {
				continue
			}
			if err := k.only(p, s); err != nil {
				return failed(p, s.Device, err)
			}
		}
	}
	return nil
}

// only the wanted rules, and ways of the wanted paths and of those that flows stay on, are at a port from then on.
func (k Kind) only(p resource.Place, s Spec) error {
	dev, err := p.Device(s.Device)
	if err != nil {
		return err
	}
	all, err := find(p, dev.Attrs().Index)
	defer held.CloseAll(all)
	for _, a := range all {
		if err != nil || a.Name != PathsName {
			continue
		}
		if s.Paths.Choice != nil {
			err = a.choose(s.Paths, k.choices)
		}
		if err == nil {
			err = s.Paths.forget(a, k.older)
		}
	}
	return err
}

// choose paths by other rules: they are written beside those that count, and then are the ones that do.
func (a *attached) choose(s *Paths, c choices) error {
	compiled, err := c.compiled(s)
	if err != nil {
		return err
	}
	_, now, err := a.counting()
	if err != nil {
		return err
	}
	next, err := headerOf(compiled)
	if err != nil || now.Digest == next.Digest {
		return err
	}
	if next.Generation = now.Generation + 1; next.Generation == 0 {
		next.Generation = 1
	}
	return a.areas().Replace(len(compiled), func(area int, memory []byte) error {
		next.First = uint32(area) * a.counters()
		copy(memory, next.over(slices.Clone(compiled)))
		return held.Zero[classify.ProgramTally](a.Maps[talliesMap], next.First, next.Rules+2)
	})
}

// byPaths is where a program sends packets on by paths, in words.
func (a *attached) byPaths(p resource.Place) (string, error) {
	members := a.Maps[membersMap]
	if members == nil || a.Maps[waysMap] == nil {
		return "", fmt.Errorf("program %s lacks maps", a.Name)
	}
	all, err := a.allWays()
	if err != nil {
		return "", err
	}
	ways := map[int]string{}
	for n, w := range all {
		if n > 0 && w.Port != 0 && w.Older == 0 { // what older paths need is no difference
			ways[n] = wayText(w.Check, called(p, int(w.Port)))
		}
	}
	if a.Maps[habitMap] != nil {
		var h classify.ProgramHabit
		err := a.Maps[habitMap].Lookup(uint32(0), &h)
		return betweenText(ways, h, members.MaxEntries()), err
	}
	_, h, err := a.counting()
	if err != nil {
		return "", err
	}
	var side uint32
	err = a.Maps[sideMap].Lookup(uint32(0), &side)
	return enterText(ways, int(side)+FirstEnd, digestText(h.Digest), members.MaxEntries()), err
}
