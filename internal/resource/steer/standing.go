package steer

import (
	"github.com/cilium/ebpf"

	program "nfchain.dev/nfchain/bpf/versions"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// goal is where a way leads on to: a port, by its number, or one of several replicas, by the table of their flows.
type goal struct {
	port uint32
	of   string
}

// goal that stands in the place of a port at a program.
func (a *attached) goal(number uint32) goal {
	if seat, shared := seatOf(number); shared {
		for name, at := range a.taken {
			if at == seat {
				return goal{of: name}
			}
		}
	}
	return goal{port: number}
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

// table of flows of that name which a program has that leads on; nil where none has.
func (s *standing) table(name string) *ebpf.Map {
	for _, a := range []*attached{s.rest, s.kept} {
		if a.hasTable(name) {
			return a.Maps[name]
		}
	}
	return nil
}

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
	if err != nil || others || !rest.leadsOne() {
		return s, err
	}
	past, err := rest.diverts()
	if err == nil && !past {
		s.rest = rest
	}
	return s, err
}

// onward is how flows of a version go on from a port.
type onward struct {
	// at is the program that leads them, and aside tells that it leads them aside.
	at    *attached
	aside bool
	// to is a port, or what stands in the place of one there.
	to uint32
	// parts are the ways where they part, and courses such of an older version.
	parts   *parting
	courses map[uint32]program.ProgramCourse
}

// goals are where that is.
func (w onward) goals() (all []goal) {
	switch {
	case w.parts != nil:
		for _, way := range w.parts.ways {
			all = append(all, w.at.goal(way.Port))
		}
	case w.courses != nil:
		for _, c := range w.courses {
			all = append(all, w.at.goal(c.Port))
		}
	default:
		all = []goal{w.at.goal(w.to)}
	}
	return all
}

// way that flows of a version go from the port.
func (s *standing) way(version uint32) (w onward, err error) {
	for _, a := range []*attached{s.led, s.kept} {
		if a == nil {
			continue
		}
		w = onward{at: a, aside: a.leads()}
		w.to, err = a.wayOf(version)
		if err == nil && (w.to == 0 || w.to == behind) {
			continue
		}
		if w.to == byCourses {
			w.courses, err = coursesOf(a.Maps[coursesMap], version)
		}
		return w, err
	}
	w = onward{at: s.rest}
	if !s.rest.keeps() {
		c, err := s.rest.course()
		w.to, w.parts = c.to, c.parts
		return w, err
	}
	if w.to, err = s.rest.wayOf(version); err != nil || w.to != 0 {
		return w, err
	}
	w.to, err = s.rest.newestWay()
	return w, err
}
