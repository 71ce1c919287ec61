package steer

import (
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
	formerMap  = "former"
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
	return a != nil && a.isByPaths() && a.begins() && a.keepsMembers(flows)
}

// keepsMembers tells whether a program, of any version, has the table of a chain's flows.
func (a *attached) keepsMembers(flows uint32) bool {
	m := a.Maps[membersMap]
	return m != nil && m.MaxEntries() == flows
}

// begins tells whether flows are to begin by rules at a port that is changed.
func begins(c resource.Change) bool {
	s, is := c.Spec.(Spec)
	return is && s.Paths != nil && s.Paths.Choice != nil
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
func (k Kind) keepPaths(p resource.Place, s Spec, at hook, index int, to []uint32, was before) error {
	if s.Paths.Choice != nil {
		return k.keepEntering(p, s, at, index, to, was)
	}
	old := was.old
	if old != nil && old.isByPaths() && old.Maps[habitMap] != nil && old.keepsMembers(s.Paths.Flows) && old.sits(s.Paths.Among) {
		ways := old.Maps[waysMap]
		leads, err := k.seat(p, s.Paths.Among, s.Paths.shared(), old.seats(), to)
		if err != nil {
			return err
		}
		return errors.Join(k.older.carry(old, ways), lead(ways, old.Maps[formerMap], s.Paths.Ways, leads), old.Maps[habitMap].Put(uint32(0), s.Paths.habit()), old.Maps[detoursMap].Put(uint32(0), classify.ProgramWay{}))
	}
	var o struct {
		Program *ebpf.Program `ebpf:"between"`
		Ways    *ebpf.Map     `ebpf:"ways"`
		Former  *ebpf.Map     `ebpf:"former"`
		Habit   *ebpf.Map     `ebpf:"habit"`
		Seats   seatMaps
	}
	if err := loadPaths(p, at, "between", s.Paths.Flows, s.Paths.Among, was, nil, &o); err != nil {
		return err
	}
	defer o.Seats.close()
	defer closeAll(o.Program, o.Ways, o.Former, o.Habit)
	leads, err := k.sit(p, s.Paths, o.Seats, to, was.seats())
	if err != nil {
		return err
	}
	if err := errors.Join(k.leadFormer(s, was, o.Ways, o.Former), k.older.carry(old, o.Ways), lead(o.Ways, nil, s.Paths.Ways, leads), o.Habit.Put(uint32(0), s.Paths.habit())); err != nil {
		return err
	}
	return at.put(p, index, o.Program, old.program())
}

// keepEntering does so where flows begin.
func (k Kind) keepEntering(p resource.Place, s Spec, at hook, index int, to []uint32, was before) error {
	old := was.old
	compiled, err := k.choices.compiled(s.Paths)
	if err != nil {
		return err
	}
	if old.enters(s.Paths.Flows) && old.hasRoom(compiled) && old.sits(s.Paths.Among) {
		leads, err := k.seat(p, s.Paths.Among, s.Paths.shared(), old.seats(), to)
		if err != nil {
			return err
		}
		return errors.Join(k.older.carry(old, old.Maps[waysMap]), lead(old.Maps[waysMap], old.Maps[formerMap], s.Paths.Ways, leads))
	}
	var o struct {
		Program *ebpf.Program `ebpf:"enter"`
		Ways    *ebpf.Map     `ebpf:"ways"`
		Former  *ebpf.Map     `ebpf:"former"`
		Side    *ebpf.Map     `ebpf:"side"`
		Seats   seatMaps
	}
	set := func(spec *ebpf.CollectionSpec, maps map[string]*ebpf.Map, others []*attached) error {
		return furnish(spec, maps, others, compiled)
	}
	if err := loadPaths(p, at, "enter", s.Paths.Flows, s.Paths.Among, was, set, &o); err != nil {
		return err
	}
	defer o.Seats.close()
	defer closeAll(o.Program, o.Ways, o.Former, o.Side)
	leads, err := k.sit(p, s.Paths, o.Seats, to, was.seats())
	if err != nil {
		return err
	}
	if err := errors.Join(k.leadFormer(s, was, o.Ways, o.Former), k.older.carry(old, o.Ways), lead(o.Ways, nil, s.Paths.Ways, leads), o.Side.Put(uint32(0), uint32(s.Paths.End-FirstEnd))); err != nil {
		return err
	}
	return at.put(p, index, o.Program, old.program())
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
func loadPaths(p resource.Place, at hook, program string, flows uint32, among []Among, was before, set furnishing, to any) error {
	old := was.counted()
	spec, err := pathsObject()
	if err != nil {
		return err
	}
	spec.Programs[program].Name = PathsName
	if at.rank == held.Fronts {
		spec.Programs[program].Name = FrontName
	}
	spec.Maps[membersMap].MaxEntries, spec.Maps[waysMap].Flags, spec.Maps[formerMap].Flags = flows, unix.BPF_F_MMAPABLE, unix.BPF_F_MMAPABLE
	makeRoom(spec, roomFor(was.seats().needs(among)))
	o := ebpf.CollectionOptions{MapReplacements: counting(spec, old)}
	delete(o.MapReplacements, failingMap) // of each function at its seat
	others, err := everywhere(p, func(a *attached) bool { return a.keepsMembers(flows) })
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
	if old != nil && old.isByPaths() && old.Maps[becameMap] != nil {
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
	olds, err := everywhere(p, func(a *attached) bool { return a.lists(spec) })
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

// sit does so at the seats of a program that is to come in the place of another.
func (k Kind) sit(p resource.Place, s *Paths, m seatMaps, to []uint32, old *attached) (leads []uint32, err error) {
	t := m.seats()
	if err := t.follow(old); err != nil {
		return nil, err
	}
	return k.seat(p, s.Among, s.shared(), t, to)
}

// lead paths to ports of these indexes, and leave others, to which those belong that had a number which another has now: they are led where
// they were until then.
func lead(ways, former *ebpf.Map, all []Way, to []uint32) error {
	for i, w := range all {
		var was classify.ProgramWay
		next := w.of(to[i])
		if former != nil {
			if err := ways.Lookup(uint32(w.Number), &was); err != nil {
				return err
			}
		}
		if was.Port != 0 && was.Check != next.Check {
			if err := former.Put(uint32(w.Number), was); err != nil {
				return err
			}
		}
		if err := ways.Put(uint32(w.Number), next); err != nil {
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
	former, wrong := waysIn(a.Maps[formerMap])
	for n, w := range former {
		if w.Port != 0 {
			err = errors.Join(err, a.Maps[formerMap].Put(uint32(n), classify.ProgramWay{}))
		}
	}
	return errors.Join(err, wrong)
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
	all, err := findAll(p, dev.Attrs().Index)
	defer held.CloseAll(all)
	for _, a := range all {
		if err != nil || !a.isByPaths() {
			continue
		}
		if s.Paths.Choice != nil {
			err = a.choose(s.Paths, k.choices)
		}
		if err == nil && !k.Settled {
			err = s.Paths.forget(a, k.older)
		}
		if err == nil {
			err = a.sitOnly(s.Paths.Among)
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
	if members == nil || a.Maps[waysMap] == nil || a.Maps[formerMap] == nil {
		return "", fmt.Errorf("program %s lacks maps", a.Name)
	}
	all, err := a.allWays()
	if err != nil {
		return "", err
	}
	among, shared, err := a.sharedBy(p)
	if err != nil {
		return "", err
	}
	former, err := waysIn(a.Maps[formerMap])
	if err != nil {
		return "", err
	}
	ways := map[int]string{}
	for n, w := range former {
		if w.Port != 0 { // somebody was killed before it was forgotten
			ways[-n] = wayText(w.Check, "where it led")
		}
	}
	for n, w := range all {
		if n == 0 || w.Port == 0 || w.Older != 0 { // what older paths need is no difference
			continue
		}
		if w.Port == behind {
			ways[n] = wayText(w.Check, behindText)
			continue
		}
		if seat, is := seatOf(w.Port); is {
			ways[n] = wayText(w.Check, shared[seat])
			continue
		}
		ways[n] = wayText(w.Check, called(p, int(w.Port)))
	}
	if a.Maps[habitMap] != nil {
		var h classify.ProgramHabit
		err := a.Maps[habitMap].Lookup(uint32(0), &h)
		return sharedText(betweenText(ways, h, members.MaxEntries()), among), err
	}
	_, h, err := a.counting()
	if err != nil {
		return "", err
	}
	var side uint32
	err = a.Maps[sideMap].Lookup(uint32(0), &side)
	return sharedText(enterText(ways, int(side)+FirstEnd, digestText(h.Digest), members.MaxEntries()), among), err
}
