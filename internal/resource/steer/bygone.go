package steer

import (
	"errors"
	"slices"
	"strings"

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

// Aside is how flows that stay are led past what is at a port.
type Aside struct {
	// Port that they come in at.
	Port string
	// To is the port that they go on to, by its number.
	To uint32
	// Into is the end of the pair that they are led into, and Out the other one; "" where they are led to the port at once.
	Into, Out string
}

// Asides are how flows are to be led past what is at some ports. It tells whether they can be: to one port at a time, past nobody else's
// programs, and where none are led past what fails.
func Asides(p resource.Place, ports []string) (all []Aside, can bool, err error) {
	err = p.Do(func() error {
		o, v, err := olderOf(p)
		switch {
		case err != nil:
			return err
		case o != nil:
			held.CloseAll(o.at)
			return nil
		case v != nil:
			defer held.CloseAll(v.at)
		}
		lives, err := v.lives()
		if err != nil {
			return err
		}
		for _, port := range ports {
			some, is, err := asidesAt(p, port, lives)
			if err != nil {
				return failed(p, port, err)
			}
			if !is {
				return nil
			}
			all = append(all, some...)
		}
		can = true
		return nil
	})
	return all, can, err
}

// lives are the versions that lead anywhere.
func (v *versions) lives() ([]uint32, error) {
	if v == nil {
		return []uint32{1}, nil
	}
	all := []uint32{v.newest()}
	for n := uint32(1); n <= mostVersions; n++ {
		if n == v.newest() {
			continue
		}
		_, from, err := v.leadsTo(n)
		if err != nil {
			return nil, err
		}
		if from > 0 {
			all = append(all, n)
		}
	}
	return all, nil
}

// asidesAt one port, for flows of some versions.
func asidesAt(p resource.Place, port string, lives []uint32) (all []Aside, can bool, err error) {
	s, err := standsAt(p, port)
	defer s.close()
	if err != nil || s.rest == nil {
		return nil, false, err
	}
	for _, n := range lives {
		aside, to, err := s.way(n)
		if err != nil {
			return nil, false, err
		}
		if _, shared := seatOf(to); shared || to == byCourses {
			return nil, false, nil
		}
		if !aside && !slices.ContainsFunc(all, func(a Aside) bool { return a.To == to }) {
			all = append(all, Aside{Port: port, To: to})
		}
	}
	return all, true, nil
}

// standing is what stands at a port past which flows can be led.
type standing struct {
	// rest is what leads on from there; nil where flows cannot be.
	rest *attached
	// kept has flows stay before that, and led leads such aside; nil where there is none.
	kept, led *attached
	index     int
	opened    []*attached
}

func (s *standing) close() { held.CloseAll(s.opened) }

func standsAt(p resource.Place, port string) (s *standing, err error) {
	s = &standing{}
	dev, err := p.Device(port)
	if err != nil {
		return s, err
	}
	s.index = dev.Attrs().Index
	if s.opened, err = findAll(p, s.index); err != nil || len(s.opened) != 1 || s.opened[0].front {
		return s, err
	}
	rest := s.opened[0]
	rest.port = port
	before, err := findKeeping(p, s.index)
	s.opened = append(s.opened, before...)
	if err != nil {
		return s, err
	}
	for _, a := range before {
		if a.leads() {
			s.led = a
		} else {
			s.kept = a
		}
	}
	others, err := held.Others(p, s.index)
	if err != nil || others || rest.Name != Name && !rest.keeps() {
		return s, err
	}
	past, err := rest.ledPast()
	if err == nil && !past {
		s.rest = rest
	}
	return s, err
}

// way that flows of a version go from the port, and whether they are led aside there.
func (s *standing) way(version uint32) (aside bool, to uint32, err error) {
	for _, a := range []*attached{s.led, s.kept} {
		if a == nil {
			continue
		}
		if to, err = a.wayOf(version); err != nil || to != 0 && to != behind {
			return a.leads(), to, err
		}
	}
	if !s.rest.keeps() {
		to, err = s.rest.next()
		return false, to, err
	}
	if to, err = s.rest.wayOf(version); err != nil || to != 0 {
		return false, to, err
	}
	to, err = s.rest.newestWay()
	return false, to, err
}

// Lead flows aside from now on, all that there are, as [Asides] tells. They stay so as a port's do that says for how long.
func Lead(p resource.Place, asides []Aside, stay Stay, t *Turn) error {
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
		return nil
	})
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
	into := map[uint32]uint32{}
	for _, one := range asides {
		if one.Port != port {
			continue
		}
		if into[one.To], err = s.lay(p, one); err != nil {
			return err
		}
	}
	ways := map[uint32]uint32{}
	for _, n := range a.lives {
		aside, to, err := s.way(n)
		if err != nil {
			return err
		}
		if !aside {
			to = into[to]
		}
		ways[n] = to
	}
	if s.led != nil {
		for n, to := range ways {
			err = errors.Join(err, s.led.Maps[waysMap].Put(n, to))
		}
		return err
	}
	made, _, err := a.loadAhead(LeadsName, s.rest, nil)
	if err != nil {
		return err
	}
	defer func() { _ = made.Close() }()
	for n, to := range ways {
		err = errors.Join(err, made.Ways.Put(n, to))
	}
	if err != nil {
		return err
	}
	return held.Put(p, s.index, held.Leads, made.Stay) // where those are that it is to be before
}

// lay a way aside, and tell where flows are led into it.
func (s *standing) lay(p resource.Place, one Aside) (into uint32, err error) {
	if one.Into == "" {
		return one.To, nil
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
	loaded, err := load(one.To, nil, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = loaded.Close() }()
	return number(first), hooks[s.rest.hook].put(p, out.Attrs().Index, loaded.Steer, nil)
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
	a.beyond = map[uint32]uint32{}
	for n := uint32(1); n <= mostVersions; n++ {
		to, err := a.wayOf(n)
		if err != nil {
			return err
		}
		if to == 0 || to == behind || a.beyond[to] != 0 {
			continue
		}
		into, err := p.LinkByIndex(int(to &^ byDevice))
		if err != nil || !strings.HasPrefix(into.Attrs().Name, Bygone) {
			continue // it has gone, or is the port itself
		}
		all, err := find(p, into.Attrs().ParentIndex)
		for _, out := range all {
			if err == nil && out.Name == Name {
				a.beyond[to], err = out.next()
			}
		}
		held.CloseAll(all)
		if err != nil {
			return err
		}
	}
	return nil
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
			for n := uint32(1); err == nil && a.leads() && n <= mostVersions; n++ {
				var to uint32
				to, err = a.wayOf(n)
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

// LeadsTo tells to which port each of the owner's leads, of those that lead to one.
func LeadsTo(p resource.Place) (to map[string]string, err error) {
	to = map[string]string{}
	err = p.Do(func() error {
		all, err := portsThat(p, func(a *attached) bool { return a.Name == Name || a.keeps() })
		defer held.CloseAll(all)
		for _, a := range all {
			if err != nil {
				return err
			}
			var number uint32
			if a.keeps() {
				number, err = a.newestWay()
			} else {
				number, err = a.next()
			}
			to[a.port] = called(p, int(number))
		}
		return err
	})
	return to, err
}
