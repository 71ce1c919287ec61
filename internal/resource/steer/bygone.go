package steer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cilium/ebpf"

	program "nfchain.dev/nfchain/bpf/versions"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Where functions without a namespace change at a port while flows stay, these are to meet those that were there, and none that come. So
// before anything else is changed a program that stands before all others there leads all flows aside: into a pair, at whose other end is
// what was at the port, or, where there were no such functions, right to where it led. When the next version of the path begins, new flows go by
// what is at the port then.

// Bygone begins the names of such a pair's ends, and outEnd ends that of the other one.
const (
	Bygone = "was"
	outEnd = "-out"
)

// OutOf is the other end of a pair, by that which flows are led into.
func OutOf(into string) string { return into + outEnd }

// LeadsName of this version's program that does so. It is the one by which flows stay before others, before still more.
var LeadsName = held.Name(held.LeadMark, program.Object())

// Lead flows aside from now on, all that there are, as [Asides] tells, and note them before what is at some ports that they are not led past. They
// stay so as a port's do that says for how long.
func Lead(p resource.Place, asides []Aside, noted []string, stay Stay, t *Turn) error {
	return p.Do(func() error {
		a := &advancing{turn: t, stay: stay}
		defer a.close()
		if err := a.find(p); err != nil {
			return err
		}
		for i, first := range asides {
			if slices.ContainsFunc(asides[:i], func(o Aside) bool { return o.Port == first.Port }) {
				continue
			}
			if err := a.lead(p, first.Port, asides); err != nil {
				return failed(p, first.Port, err)
			}
		}
		for _, port := range noted {
			if err := a.note(p, port); err != nil {
				return failed(p, port, err)
			}
		}
		return nil
	})
}

// note flows before what is at a port, and have all go by that, where the flows of older versions need not be known yet.
func (a *advancing) note(p resource.Place, port string) error {
	s, err := standsAt(p, port)
	defer s.close()
	if err != nil || s.rest == nil || s.led != nil {
		return err
	}
	if notes, err := s.notes(a.lives); err != nil || !notes {
		return err
	}
	made, _, err := a.loadAhead(LeadsName, s.rest, nil, s.kept)
	if err != nil {
		return err
	}
	defer func() { _ = made.Close() }()
	ways := map[uint32]uint32{}
	for _, n := range a.lives {
		ways[n] = behind
	}
	if err := tellWays(made.Ways, ways); err != nil {
		return err
	}
	return held.Put(p, s.index, held.Leads, made.Stay)
}

// Begin the version of the path of which flows are to go by what is at the ports, if all were led aside and none has begun since: where no port
// was turned besides.
func Begin(p resource.Place, stay Stay, t *Turn) error {
	return p.Do(func() error {
		o, v, err := olderOf(p)
		if o != nil {
			held.CloseAll(o.at)
		}
		if err != nil || v == nil {
			return err
		}
		waits, err := v.unfinished()
		if held.CloseAll(v.at); err != nil || !waits {
			return err
		}
		a := &advancing{turn: t, stay: stay}
		defer a.close()
		if err := a.find(p); err != nil {
			return err
		}
		if err := a.stand(p, nil); err != nil {
			return err
		}
		return a.begin()
	})
}

// lead flows aside at a port.
func (a *advancing) lead(p resource.Place, port string, asides []Aside) error {
	s, err := standsAt(p, port)
	defer s.close()
	if err != nil {
		return err
	}
	if s.rest == nil {
		return errors.New("what leads on from there is another than before; run the command again")
	}
	made, t, err := a.loadAhead(LeadsName, s.rest, s.led, s.kept)
	if err != nil {
		return err
	}
	defer func() { _ = made.Close() }()
	into := map[Aside]uint32{}
	for _, one := range asides {
		if one.Port != port {
			continue
		}
		to, err := s.lay(p, one, t)
		if err == nil && one.of != 0 {
			err = a.comeOut(p, one)
		}
		if err != nil {
			return err
		}
		into[Aside{goal: one.goal, of: one.of}] = to
	}
	ways := map[uint32]uint32{}
	for _, n := range a.lives {
		w, err := s.way(n)
		if err != nil {
			return err
		}
		at := func(number uint32) uint32 {
			to := w.at.goal(number)
			return max(into[Aside{goal: to}], into[Aside{goal: to, of: n}]) // one of the two
		}
		switch {
		case w.aside:
			continue
		case w.parts != nil:
			ways[n], err = byCourses, lay(made.Courses, n, *w.parts, at)
		case w.courses != nil:
			ways[n], err = byCourses, clearCourses(made.Courses, n)
			for label, c := range w.courses {
				c.Port = at(c.Port)
				err = errors.Join(err, made.Courses.Put(program.ProgramLed{Version: n, Node: label}, c))
			}
		default:
			ways[n] = at(w.to)
		}
		if err != nil {
			return err
		}
	}
	if s.led == nil {
		if err := tellWays(made.Ways, ways); err != nil {
			return err
		}
		return held.Put(p, s.index, held.Leads, made.Stay) // where those are that it is to be before
	}
	if err := s.led.at().put(p, s.index, made.Stay, s.led.program()); err != nil { // others are led by the same ways already
		return err
	}
	return tellWays(made.Ways, ways)
}

// comeOut has all that comes out of a pair be of the version that is led into it. Behind what translates addresses flows have other headers, which
// nobody may have seen where packets go one way alone, or seldom the other one.
func (a *advancing) comeOut(p resource.Place, one Aside) error {
	out, err := p.Device(one.Out)
	if err != nil {
		return err
	}
	all, err := findAll(p, out.Attrs().Index)
	defer held.CloseAll(all)
	before, wrong := findKeeping(p, out.Attrs().Index)
	defer held.CloseAll(before)
	if err := errors.Join(err, wrong); err != nil || len(before) > 0 || len(all) != 1 {
		return err
	}
	rest := all[0]
	made, t, err := a.loadAhead(VersionsName, rest, nil, nil)
	if err != nil {
		return err
	}
	defer func() { _ = made.Close() }()
	c, err := rest.course()
	if err != nil {
		return err
	}
	ways := map[uint32]uint32{0: one.of}
	for _, n := range a.lives {
		ways[n] = t.number(rest, c.to)
	}
	if err := tellWays(made.Ways, ways); err != nil {
		return err
	}
	return keeping[rest.hook].put(p, out.Attrs().Index, made.Stay, nil)
}

// tellWays of versions to a program.
func tellWays(m *ebpf.Map, ways map[uint32]uint32) (err error) {
	for n, to := range ways {
		err = errors.Join(err, m.Put(n, to))
	}
	return err
}

// lay a way aside, and tell where flows are led into it by a program with these seats.
func (s *standing) lay(p resource.Place, one Aside, t seats) (into uint32, err error) {
	if one.Into == "" {
		if one.goal.of != "" {
			return Replicas - t.taken[one.goal.of], nil
		}
		return one.goal.port, nil
	}
	first, err := p.Device(one.Into)
	if err != nil {
		return 0, err
	}
	out, err := p.Device(one.Out)
	if err != nil {
		return 0, err
	}
	there, err := find(p, out.Attrs().Index)
	defer held.CloseAll(there)
	if err != nil || len(there) > 0 {
		return number(first), err
	}
	hook := hooks[s.rest.hook]
	if one.goal.of != "" {
		return number(first), s.spread(p, hook, out.Attrs().Index, one.goal.of, t)
	}
	loaded, err := load(one.goal.port, nil, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = loaded.Close() }()
	return number(first), hook.put(p, out.Attrs().Index, loaded.Steer, nil)
}

// spread what comes in at an interface over the replicas of a function that has one of these seats, which know those of all programs at the port.
func (s *standing) spread(p resource.Place, hook hook, index int, of string, t seats) error {
	flows := s.table(of)
	if flows == nil {
		return fmt.Errorf("table %s of the flows of a function with replicas has gone; run the command again", of)
	}
	loaded, err := loadSpread(p, of, flows.MaxEntries(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = loaded.Close() }()
	d := dealing{loaded.Next, loaded.Replicas, loaded.Shares, loaded.Failing, loaded.Dealt, 0}
	if err := errors.Join(d.dealAs(t.at(t.taken[of])), d.next.Put(uint32(0), uint32(Replicas))); err != nil {
		return err
	}
	return hook.put(p, index, loaded.Spread, nil)
}

// tellAside has flows of the version that is to begin go on by what is at a port where others are led aside, if they are, and tells whether all
// those that there are are.
func (a *advancing) tellAside(led *attached) (all bool, err error) {
	if led == nil {
		return false, nil
	}
	all = true
	for _, n := range a.lives {
		to, err := led.wayOf(n)
		if err != nil {
			return false, err
		}
		all = all && to != 0 && to != behind
	}
	return all, led.Maps[waysMap].Put(a.number, uint32(behind))
}

// lookBeyond the pairs that flows are led into.
func (a *attached) lookBeyond(p resource.Place) error {
	a.beyond = map[uint32][]uint32{}
	leads, err := a.leadsInto()
	if err != nil {
		return err
	}
	for to := range leads {
		into, err := p.LinkByIndex(int(to &^ byDevice))
		if err != nil || !strings.HasPrefix(into.Attrs().Name, Bygone) {
			continue // it has gone, or is the port itself
		}
		all, err := find(p, into.Attrs().ParentIndex)
		for _, out := range all {
			if err != nil {
				break
			}
			var c course
			if c, err = out.course(); err == nil {
				a.beyond[to], err = out.inPlace(c.to)
			}
		}
		held.CloseAll(all)
		if err != nil {
			return err
		}
	}
	return nil
}

// leadsInto are what versions are led into, or to at once, at a port where flows are led aside.
func (a *attached) leadsInto() (map[uint32]bool, error) {
	all := map[uint32]bool{}
	for n := uint32(1); n <= mostVersions; n++ {
		to, err := a.wayOf(n)
		if err != nil {
			return nil, err
		}
		if to != byCourses {
			all[to] = true
			continue
		}
		courses, err := coursesOf(a.Maps[coursesMap], n)
		if err != nil {
			return nil, err
		}
		for _, c := range courses {
			all[c.Port] = true
		}
	}
	delete(all, 0)
	delete(all, behind)
	return all, nil
}

// ends are the ports that a number leads to in the end: by a pair, if that leads into one.
func (a *attached) ends(number uint32) ([]uint32, error) {
	if ports, is := a.beyond[number]; is {
		return ports, nil
	}
	return a.inPlace(number)
}

// Unled are the pairs, by the ends that flows are led into, into which none are led any more.
func Unled(p resource.Place) (all []string, err error) {
	err = p.Do(func() error {
		mine, err := p.Mine()
		if err != nil {
			return err
		}
		kept, err := ahead(p)
		defer held.CloseAll(kept)
		led := map[int]bool{}
		for _, a := range kept {
			if err != nil || !a.leads() {
				continue
			}
			var leads map[uint32]bool
			leads, err = a.leadsInto()
			for to := range leads {
				led[int(to&^byDevice)] = true
			}
		}
		for index, name := range mine {
			if strings.HasPrefix(name, Bygone) && !strings.HasSuffix(name, outEnd) && !led[index] {
				all = append(all, name)
			}
		}
		slices.Sort(all)
		return err
	})
	return all, err
}

// LeadsTo tells to which ports each of the owner's leads.
func LeadsTo(p resource.Place) (to map[string][]string, err error) {
	to = map[string][]string{}
	err = p.Do(func() error {
		all, err := portsThat(p, (*attached).leadsOne)
		defer held.CloseAll(all)
		for _, a := range all {
			if err != nil {
				return err
			}
			var ports []uint32
			ports, err = a.leadsNow()
			for _, number := range ports {
				to[a.port] = append(to[a.port], called(p, int(number)))
			}
		}
		return err
	})
	return to, err
}
