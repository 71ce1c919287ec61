package steer

import (
	"slices"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// late is what ports of a chain do only when those know other rules by which ends give flows their paths: until then each leads the
// paths that are given as it did. Without that their packets would go on as is planned for others, past functions that they are to
// come to, or end.
type late struct {
	// ends tells that flows are given paths by other rules than before, or are given none any more.
	ends bool
	// begins are the ports where they are, or were.
	begins map[string]bool
	// former paths are given until then and no longer wanted, by their numbers: what tells each from others of its number.
	former map[int]uint32
	// flows that are known at once.
	flows uint32
	// fronted tells that programs give them that stand before others, and parts that there are to be no ways any more that part behind
	// those.
	fronted, parts bool
	// ports before whose programs nothing is to stand any more, and others that are turned only then.
	ports   []string
	waiting []Spec
}

// look how flows are given paths before ports are changed.
func (l *late) look(p resource.Place, changes []resource.Change) error {
	l.begins, l.former = map[string]bool{}, map[int]uint32{}
	wanted, fronts := map[int]uint32{}, false
	for _, c := range changes {
		if !begins(c) {
			continue
		}
		s := c.Spec.(Spec)
		front, _ := s.apart()
		l.ends, l.begins[s.Device], fronts = true, true, front != nil
		for _, w := range s.Paths.Ways {
			wanted[w.Number] = checkOf(w.Path)
		}
	}
	for _, c := range changes {
		if s, is := c.Spec.(Spec); is && c.Op == resource.Update && (!l.ends || l.begins[s.Device]) {
			if err := l.lookAt(p, s.Device, wanted, fronts); err != nil {
				return err
			}
		}
	}
	l.ends = l.ends || len(l.begins) > 0
	return nil
}

// lookAt a port, if flows are given paths there.
func (l *late) lookAt(p resource.Place, port string, wanted map[int]uint32, fronts bool) error {
	dev, err := p.Device(port)
	if err != nil {
		return nil // whoever turns it says so
	}
	all, err := findNamed(p, dev.Attrs().Index, func(name string) bool { return name == PathsName })
	defer held.CloseAll(all)
	if err != nil {
		return err
	}
	before, err := findFronts(p, dev.Attrs().Index)
	defer held.CloseAll(before)
	if err != nil {
		return err
	}
	for _, a := range slices.Concat(before, all) {
		if !a.isByPaths() || !a.begins() || a.Maps[membersMap] == nil {
			continue
		}
		l.begins[port], l.fronted, l.flows = true, a.front, a.Maps[membersMap].MaxEntries()
		ways, err := a.allWays()
		if err != nil {
			return err
		}
		for n, w := range ways {
			if check, is := wanted[n]; w.Port != 0 && w.Older == 0 && (!is || check != w.Check) {
				l.former[n] = w.Check
				l.parts = l.parts || w.Port == behind && len(wanted) > 0 && !fronts
			}
		}
	}
	return nil
}

// leave paths on which flows stay: others see to those.
func (l *late) leave(staying older) {
	for n := range staying {
		delete(l.former, n)
	}
}

// last are the ports where flows begin, after all others, which then know each path before a flow is on it.
func (l *late) last(changes []resource.Change) []resource.Change {
	late := func(c resource.Change) int {
		if s, is := c.Spec.(Spec); is && l.begins[s.Device] {
			return 1
		}
		return 0
	}
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b resource.Change) int { return late(a) - late(b) })
	return changes
}

// keeps tells whether a superfluous program at a port is taken later.
func (l *late) keeps(s Spec, a *attached) bool {
	if !l.ends || !a.front || a.hook != s.Hook || a.Maps[habitMap] == nil || s.Paths != nil {
		return false
	}
	l.ports = append(l.ports, s.Device)
	return true
}

// takeLate what stands before others at ports, and turn those that waited.
func (k Kind) takeLate(p resource.Place) error {
	for _, port := range k.late.ports {
		if err := takeFronts(p, port); err != nil {
			return failed(p, port, err)
		}
	}
	k.late.ends = false
	for _, s := range k.late.waiting {
		if err := k.set(p, s); err != nil {
			return err
		}
	}
	return nil
}

func takeFronts(p resource.Place, port string) error {
	dev, err := p.Device(port)
	if err != nil {
		return err
	}
	all, err := findFronts(p, dev.Attrs().Index)
	defer held.CloseAll(all)
	for _, a := range all {
		if err == nil {
			err = a.at().take(p, dev.Attrs().Index, a.Program.Program)
		}
	}
	return err
}
