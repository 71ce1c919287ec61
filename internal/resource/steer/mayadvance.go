package steer

import (
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// mayAdvance tells which ports are turned by changes so that flows can stay on their path; none where those cannot. None stays while packets
// are led past what fails, or kept from a replica that does: what stands before the programs that know of it does not.
func (k Kind) mayAdvance(p resource.Place, changes []resource.Change) (turned map[string]Spec, err error) {
	if k.Turn == nil || k.Turn.AtOnce || len(changes) == 0 {
		return nil, nil
	}
	turned = map[string]Spec{}
	for _, c := range changes {
		s, is := c.Spec.(Spec)
		if !is || s.Stay == nil || s.Paths != nil || c.Op != resource.Update {
			return nil, nil
		}
		turns, fits, err := turnedAt(p, s)
		if err != nil || !fits {
			return nil, err
		}
		if turns {
			turned[s.Device] = s
		}
	}
	if may, err := k.Turn.may(p); !may || err != nil {
		return nil, err
	}
	return turned, nil
}

// may tells whether flows can stay at whichever port.
func (t *Turn) may(p resource.Place) (bool, error) {
	ports, err := everywhere(p, func(*attached) bool { return true })
	defer held.CloseAll(ports)
	if err != nil {
		return false, err
	}
	for _, a := range ports {
		if !a.leadsOne() {
			return false, nil
		}
		if led, err := a.diverts(); led || err != nil {
			return false, err
		}
		if a.Name != BranchName {
			continue
		}
		made, err := a.parting()
		if err != nil {
			return false, err
		}
		if nodes, planned := made.labelled(); made.path != 0 || made.back == 0 && !tells(t.Labels[a.port], nodes, planned) {
			return false, nil
		}
	}
	return t.tellsOlder(p)
}

// tellsOlder tells whether that is so of all older versions, too.
func (t *Turn) tellsOlder(p resource.Place) (bool, error) {
	kept, err := ahead(p)
	defer held.CloseAll(kept)
	if err != nil {
		return false, err
	}
	for _, a := range kept {
		for n := uint32(1); n <= mostVersions; n++ {
			if to, err := a.wayOf(n); err != nil || to != byCourses {
				if err != nil {
					return false, err
				}
				continue
			}
			all, err := coursesOf(a.Maps[coursesMap], n)
			if err != nil {
				return false, err
			}
			nodes := map[uint32]uint32{}
			for label, c := range all {
				nodes[label] = c.Node
			}
			if all[0].Back == 0 && !tells(t.Labels[a.port], nodes, all[0].Node) {
				return false, nil
			}
		}
	}
	return true, nil
}

// leadsOne tells whether a program is one of this version's that lead one version of the path alone, or that have flows stay by themselves.
func (a *attached) leadsOne() bool {
	return !a.front && (a.Name == Name || a.Name == SpreadName || a.Name == BranchName || a.keeps())
}

// turnedAt tells whether a port is turned by a spec, and not only by which replicas there are, and whether flows may stay at it.
func turnedAt(p resource.Place, s Spec) (turned, fits bool, err error) {
	dev, err := p.Device(s.Device)
	if err != nil {
		return false, false, err
	}
	all, err := findAll(p, dev.Attrs().Index)
	defer held.CloseAll(all)
	if err != nil || len(all) != 1 || all[0].hook != s.Hook || !all[0].leadsOne() {
		return false, false, err
	}
	for name, room := range s.rooms() {
		if m := all[0].Maps[name]; m != nil && m.MaxEntries() != room {
			return false, false, nil // flows are handed over from one table to another
		}
	}
	turned, err = all[0].turnsBy(p, s)
	return turned, true, err
}

func (a *attached) turnsBy(p resource.Place, s Spec) (bool, error) {
	to, err := indexes(p, s.ports())
	if err != nil {
		return false, err
	}
	if a.keeps() {
		was, err := a.newestWay()
		return s.Branch != nil || s.Among != nil && s.To == "" || was != to[0], err
	}
	c, err := a.course()
	switch {
	case err != nil:
		return false, err
	case s.Branch != nil:
		return c.parts == nil || !a.partsBy(*c.parts, s.Branch, to), nil
	case c.parts != nil:
		return true, nil
	case s.Among != nil && s.To == "":
		return c.to != Replicas || !a.hasSeat(s.Among.Of), nil
	}
	return c.to != to[0], nil
}

// partsBy tells whether ways part at a port as a spec says whose ways to ports lead to these.
func (a *attached) partsBy(had parting, b *Branch, to []uint32) bool {
	var leads []uint32
	for _, of := range b.shared() {
		if of == "" {
			leads, to = append(leads, to[0]), to[1:]
			continue
		}
		seat, has := a.taken[table(of)]
		if !has {
			return false
		}
		leads = append(leads, Replicas-seat)
	}
	wanted := b.parting(leads)
	return had.constant(wanted)
}
