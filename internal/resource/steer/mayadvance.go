package steer

import (
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// mayAdvance tells whether flows can stay on their path where changes turn ports, and which they turn: none where only replicas of the same
// functions, or their weights, are others. None stays while packets are led past what fails, or kept from a replica that does: what stands
// before the programs that know of it does not.
func (k Kind) mayAdvance(p resource.Place, changes []resource.Change) (turned map[string]Spec, may bool, err error) {
	if k.Turn == nil || k.Turn.AtOnce || len(changes) == 0 {
		return nil, false, nil
	}
	turned = map[string]Spec{}
	for _, c := range changes {
		s, is := c.Spec.(Spec)
		if !is || s.Stay == nil || c.Op != resource.Update {
			return nil, false, nil
		}
		front, rest := s.apart()
		turns, fits, err := turnedAt(p, *rest, front)
		if err != nil || !fits {
			return nil, false, err
		}
		if turns {
			turned[s.Device] = *rest
		}
	}
	may, err = k.Turn.may(p)
	return turned, may, err
}

// may tells whether flows can stay at whichever port.
func (t *Turn) may(p resource.Place) (bool, error) {
	ports, err := everywhere(p, func(*attached) bool { return true })
	defer held.CloseAll(ports)
	if err != nil {
		return false, err
	}
	for _, a := range ports {
		if !a.leadsOne() && !a.takesOut() {
			return false, nil
		}
		if keeps, err := a.mayKeep(t.Labels[a.port]); err != nil || !keeps {
			return false, err
		}
	}
	return t.tellsOlder(p)
}

// mayKeep tells whether flows can go on as a program leads them while others go another way: it leads none past what fails, and where ways part packets
// need no number of a path, and are led by their new labels as by those that they had.
func (a *attached) mayKeep(labels []Label) (bool, error) {
	if led, err := a.diverts(); led || err != nil {
		return false, err
	}
	if a.Name != BranchName {
		return true, nil
	}
	made, err := a.parting()
	if err != nil {
		return false, err
	}
	nodes, planned := made.labelled()
	return made.path == 0 && (made.back != 0 || tells(labels, nodes, planned)), nil
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

// takesOut tells whether a program is one of this version's that stand before others and take out what is on other paths than those lead.
// Whichever version a flow is of, it is on the path of these, so that the two know nothing of each other.
func (a *attached) takesOut() bool { return a.front && a.Name == FrontName }

// turnedAt tells whether a port is turned by a spec, and not only by which replicas there are, and whether flows may stay at it: what
// stands before others there, or is to, may be another, but where flows are given paths.
func turnedAt(p resource.Place, s Spec, front *Spec) (turned, fits bool, err error) {
	dev, err := p.Device(s.Device)
	if err != nil || s.Paths != nil {
		return false, false, err
	}
	all, err := findAll(p, dev.Attrs().Index)
	defer held.CloseAll(all)
	if err != nil {
		return false, false, err
	}
	now, programs := presentAt(all, s.Hook), 0
	for _, a := range []*attached{now.front, now.rest} {
		if a != nil {
			programs++
		}
	}
	if len(all) != programs || now.rest == nil || !now.rest.leadsOne() || !now.takesOutAs(front) {
		return false, false, nil
	}
	for name, room := range s.rooms() {
		if m := now.rest.Maps[name]; m != nil && m.MaxEntries() != room {
			return false, false, nil // flows are handed over from one table to another
		}
	}
	turned, err = now.rest.turnsBy(p, s)
	return turned, true, err
}

// takesOutAs tells whether what stands before others at a port can be as a spec says without that flows come to be on other tables, or that
// they are given paths no more, or for the first time.
func (now present) takesOutAs(front *Spec) bool {
	gives := front != nil && front.Paths.Choice != nil
	if now.front == nil {
		return !gives
	}
	if !now.front.takesOut() || now.front.begins() != gives {
		return false
	}
	return front == nil || now.front.keepsMembers(front.Paths.Flows)
}

// asideAlone tells whether nothing is changed but what stands before others at ports: flows stay where they are there, whichever version of
// the path of those they are on.
func (k Kind) asideAlone(p resource.Place, changes []resource.Change) (bool, error) {
	if k.Turn.AtOnce {
		return false, nil
	}
	for _, c := range changes {
		s, is := c.Spec.(Spec)
		if !is || c.Op != resource.Update {
			return false, nil
		}
		front, rest := s.apart()
		if front == nil {
			return false, nil
		}
		dev, err := p.Device(s.Device)
		if err != nil {
			return false, err
		}
		all, err := findAll(p, dev.Attrs().Index)
		now, same := presentAt(all, s.Hook), false
		if err == nil && now.front != nil && now.front.takesOut() && now.rest != nil {
			var is string
			is, err = now.rest.observed(p)
			same = is == rest.Fingerprint()
		}
		held.CloseAll(all)
		if err != nil || !same {
			return false, err
		}
	}
	return true, nil
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
