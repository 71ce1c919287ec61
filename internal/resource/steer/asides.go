package steer

import (
	"slices"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Aside is how flows that stay are led past what is at a port.
type Aside struct {
	// Port that they come in at.
	Port string
	// Into is the end of the pair that they are led into, and Out the other one; "" where they are led on at once.
	Into, Out string

	goal goal
	// of is the version alone that is led so; 0 is all that go there.
	of uint32
}

// Asides are how flows are to be led past what is at some ports. It tells whether they can be: past nobody else's programs, where none are led past
// what fails, and where all flows go on by versions of the path. Where addresses are translated, what is at a port knows flows by
// the headers behind that: if those of older versions go another way than those of the newest, they are led past it only if they were noted before it.
func Asides(p resource.Place, ports, translating []string) (all []Aside, can bool, err error) {
	err = p.Do(func() error {
		if by, err := byVersions(p); err != nil || !by {
			return err
		}
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
			some, is, err := asidesAt(p, port, lives, slices.Contains(translating, port))
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

// byVersions tells whether flows go on by versions of the path, or its only one, at all of a place's ports.
func byVersions(p resource.Place) (bool, error) {
	all, err := everywhere(p, func(*attached) bool { return true })
	defer held.CloseAll(all)
	for _, a := range all {
		if err != nil || !a.leadsOne() {
			return false, err
		}
		if keeps, err := a.mayKeep(nil); err != nil || !keeps {
			return false, err
		}
	}
	return err == nil, err
}

// lives are the versions that lead anywhere, the newest first.
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
func asidesAt(p resource.Place, port string, lives []uint32, translated bool) (all []Aside, can bool, err error) {
	s, err := standsAt(p, port)
	defer s.close()
	if err != nil || s.rest == nil {
		return nil, false, err
	}
	if translated {
		if noted, err := s.notes(lives); err != nil || !noted {
			return nil, false, err
		}
	}
	for _, n := range lives {
		w, err := s.way(n)
		if err != nil {
			return nil, false, err
		}
		if w.aside {
			continue
		}
		one := Aside{Port: port}
		if translated {
			one.of = n
		}
		for _, one.goal = range w.goals() {
			if !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	return all, true, nil
}

// notes tells whether older versions' flows are known before what is at the port, or go the way of the newest, so that nobody need know them.
func (s *standing) notes(lives []uint32) (bool, error) {
	if s.led != nil {
		return true, nil
	}
	newest, err := s.way(lives[0])
	for _, n := range lives[1:] {
		if err != nil {
			break
		}
		var w onward
		if w, err = s.way(n); !slices.Equal(w.goals(), newest.goals()) {
			return false, err
		}
	}
	return err == nil, err
}
