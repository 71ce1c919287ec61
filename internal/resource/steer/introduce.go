package steer

import (
	"slices"
	"strings"
	"time"

	"nfchain.dev/nfchain/bpf/classify"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Where a chain is given a classifier, nobody knows which flows there are: no port looked at any. So its ends first get one without
// rules, which leads all packets as the chain does, by one path that no function is called like, and what comes in a while is known to
// be on that. Then ports are turned as they are where rules are edited, and that path is an older one (older.go).

// unclassified is the path of flows that there are before a chain has a classifier. No other is called so, as functions have no commas.
const unclassified = "all, unclassified"

// unclassified is the number of that path, and where it leads, at a port that leads by it alone, but for older paths; 0 where one does not.
func (a *attached) unclassified() (number int, port uint32, err error) {
	if is, err := a.unruled(); err != nil || !is {
		return 0, 0, err
	}
	ways, err := a.allWays()
	for n, w := range ways {
		switch {
		case w.Port == 0 || w.Older != 0:
		case number != 0 || w.Check != checkOf(unclassified):
			return 0, 0, err
		default:
			number, port = n, w.Port
		}
	}
	return number, port, err
}

// unruled tells whether that may be so: it is quick, as to read all ways is not.
func (a *attached) unruled() (bool, error) {
	switch {
	case !a.leadsByPath():
		return false, nil
	case a.begins():
		_, h, err := a.counting()
		return h.Rules == 0, err
	case a.Maps[habitMap] == nil:
		return false, nil
	}
	var h classify.ProgramHabit
	err := a.Maps[habitMap].Lookup(uint32(0), &h)
	return h.Usual != 0 && h.Check == checkOf(unclassified), err
}

// Introduces tells whether flows are to be known at the owner's ports before these are given rules by which flows get their paths: they
// have none yet, or who gave them some was stopped amid that.
func Introduces(p resource.Place, specs []Spec) (is bool, err error) {
	err = p.Do(func() error {
		for _, s := range specs {
			if front, _ := s.apart(); front != nil || !begins(resource.Change{Spec: s}) || is || err != nil {
				continue
			}
			is, err = introduces(p, s)
		}
		return err
	})
	return is, err
}

// introduces tells it of one port.
func introduces(p resource.Place, s Spec) (is bool, err error) {
	dev, err := p.Device(s.Device)
	if err != nil {
		return false, nil // whoever makes it has it begin with rules
	}
	all, err := find(p, dev.Attrs().Index)
	defer held.CloseAll(all)
	for _, a := range all {
		if err != nil {
			break
		}
		var number int
		number, _, err = a.unclassified()
		is = is || number != 0 || a.leadsPlainly()
	}
	return is, err
}

// leadsPlainly tells whether a program sends all packets one way, be it to replicas.
func (a *attached) leadsPlainly() bool { return !a.front && (a.Name == Name || a.Name == SpreadName) }

// introduction of the flows of a chain to a classifier that it is given.
type introduction struct {
	// number of the path that they are on.
	number int
	census time.Duration
	// ports where they are entered that do not know them yet.
	ports []unaware
	// opened programs.
	opened []*attached
}

// unaware is a port, where its packets go, and what is there.
type unaware struct {
	spec  Spec
	index int
	to    uint32
	old   *attached
}

// introduce the flows that there are, at the ports where changes have them given paths. Nothing is turned.
func (k Kind) introduce(p resource.Place, changes []resource.Change) error {
	i := &introduction{}
	defer func() { held.CloseAll(i.opened) }()
	fits, err := i.prepare(p, k.Turn, changes)
	if err != nil || !fits {
		return err
	}
	for _, u := range i.ports {
		if err := k.keepPaths(p, i.spec(u.spec), hooks[u.spec.Hook], u.index, []uint32{u.to}, before{old: u.old}); err != nil {
			return failed(p, u.spec.Device, err)
		}
	}
	k.Turn.Census = i.census
	return nil
}

// spec of a port as long as there are no rules.
func (i *introduction) spec(s Spec) Spec {
	on := &Paths{Ways: []Way{{Path: unclassified, Number: i.number}}, End: s.Paths.End, Learns: s.Paths.Learns, Flows: s.Paths.Flows, Idle: s.Paths.Idle}
	if s.Paths.Choice != nil {
		on.Choice = &Choice{Otherwise: unclassified}
	} else {
		on.Usual = unclassified
	}
	return Spec{Device: s.Device, Hook: s.Hook, Paths: on}
}

// prepare it; false where flows cannot stay, so that they need not be known.
func (i *introduction) prepare(p resource.Place, t *Turn, changes []resource.Change) (fits bool, err error) {
	if t == nil || t.AtOnce {
		return false, nil
	}
	if fits, err := t.untold(p); err != nil || !fits {
		return false, err
	}
	wanted, gives := map[int]bool{}, false
	for _, c := range changes {
		s, is := c.Spec.(Spec)
		if !is || s.Stay == nil || c.Op != resource.Update {
			return false, nil
		}
		if s.Paths != nil {
			gives, i.census = gives || s.Paths.Choice != nil, time.Duration(s.Stay.Census)
			for _, w := range s.Paths.Ways {
				wanted[w.Number] = true
			}
		}
		if fits, err := i.at(p, s); err != nil || !fits {
			return false, err
		}
	}
	for n := MostPaths; i.number == 0 && n > 0; n-- {
		if !wanted[n] {
			i.number = n
		}
	}
	return gives && !wanted[i.number], nil
}

// untold tells whether none of the owner's ports but new ones knows of paths, versions of the path or ways that part, and none leads
// packets past what fails.
func (t *Turn) untold(p resource.Place) (bool, error) {
	all, err := everywhere(p, func(*attached) bool { return true })
	defer held.CloseAll(all)
	if err != nil {
		return false, err
	}
	for _, a := range all {
		led, err := a.diverts()
		if err != nil || led {
			return false, err
		}
		if is, err := a.tellsNone(); err != nil || !is && !t.New[a.port] {
			return false, err
		}
	}
	kept, err := ahead(p)
	held.CloseAll(kept)
	return err == nil && len(kept) == 0, err
}

// tellsNone tells whether no flow can be on one of several paths at a port, as ends that have no rules give none: it leads one way, or
// by paths that none was given yet.
func (a *attached) tellsNone() (bool, error) {
	if a.leadsPlainly() {
		return true, nil
	}
	if number, _, err := a.unclassified(); number != 0 || err != nil {
		return err == nil, err
	}
	if !a.leadsByPath() || a.Maps[habitMap] == nil {
		return false, nil
	}
	var h classify.ProgramHabit
	if err := a.Maps[habitMap].Lookup(uint32(0), &h); err != nil || h.Usual == 0 {
		return false, err
	}
	ways, err := a.allWays()
	return !slices.ContainsFunc(ways, func(w classify.ProgramWay) bool { return w.Older != 0 }), err
}

// at a port that is changed flows are entered if they are given paths there, or if what leaves the function before has other headers
// than what comes to it.
func (i *introduction) at(p resource.Place, s Spec) (fits bool, err error) {
	dev, err := p.Device(s.Device)
	if err != nil {
		return false, nil // whoever turns it says so
	}
	all, err := findAll(p, dev.Attrs().Index)
	i.opened = append(i.opened, all...)
	if err != nil || len(all) != 1 || all[0].hook != s.Hook || sends(s) {
		return false, err
	}
	number, _, err := all[0].unclassified()
	if err != nil || number != 0 { // who began was stopped
		i.number = number
		return err == nil, err
	}
	if !all[0].leadsPlainly() {
		return false, nil
	}
	to, err := all[0].next()
	if err != nil {
		return false, err
	}
	ports, err := all[0].inPlace(to)
	if err != nil || slices.ContainsFunc(ports, func(to uint32) bool { return to == 0 || to&byDevice != 0 }) {
		return false, err
	}
	if s.Paths != nil && (s.Paths.Choice != nil || s.Paths.Learns) {
		i.ports = append(i.ports, unaware{s, dev.Attrs().Index, to, all[0]})
	}
	return true, nil
}

// sends tells whether what goes on from a port bears the number of its path: that is known, then, to what puts headers on.
func sends(s Spec) bool {
	return s.Paths != nil && s.Paths.Headed || slices.ContainsFunc(s.ports(), func(to string) bool { return strings.HasPrefix(to, Sending) || strings.HasPrefix(to, Beside) })
}
