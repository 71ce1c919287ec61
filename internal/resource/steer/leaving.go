package steer

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"nfchain.dev/nfchain/bpf/spread"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Leaving are replicas that are no longer wanted, and get no new flows.
type Leaving struct {
	// Of are their numbers, by the names of their functions.
	Of map[string][]int
	// Idle is a flow that had no packet for so long.
	Idle time.Duration
	busy int
}

// Flows of all of them that are not idle. A nil one has none.
func (l *Leaving) Flows() int {
	if l == nil {
		return 0
	}
	return l.busy
}

// LeavingAt reads which replicas some port knows, of those functions to which these specs lead, that are no longer wanted; nil where there are none. It
// is quick then, as to read flows is not.
func LeavingAt(p resource.Place, specs []Spec) (l *Leaving, err error) {
	wanted := map[string]Among{}
	for _, s := range specs {
		for _, among := range s.Shared() {
			wanted[among.Of] = among
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	err = p.Do(func() error {
		all, err := portsThat(p, func(a *attached) bool { return a.sharesAny(wanted) })
		defer held.CloseAll(all)
		if err != nil {
			return err
		}
		var ports []*attached
		for _, a := range all {
			if !strings.HasPrefix(a.port, Bygone) { // out of which flows come that older paths lead
				ports = append(ports, a)
			}
		}
		for of, among := range wanted {
			f, err := leavingOf(ports, among)
			if err != nil {
				return fmt.Errorf("read the replicas of %s at the ports of namespace %q: %w", of, p.Ref, err)
			}
			if len(f.Leaving) == 0 {
				continue
			}
			if l == nil {
				l = &Leaving{Of: map[string][]int{}}
			}
			l.Idle = max(l.Idle, time.Duration(among.Idle))
			l.Of[of] = f.Leaving
			for _, n := range f.Leaving {
				l.busy += f.Busy[n]
			}
		}
		return nil
	})
	return l, err
}

// sharesAny tells whether a program, of whatever version, shares flows out to one of these functions.
func (a *attached) sharesAny(functions map[string]Among) bool {
	for of := range functions {
		if a.seated() && a.hasSeat(of) {
			return true
		}
	}
	return false
}

// leavingOf a function are the numbers that some port knows and new flows do not get, and, where there are such, its flows. Those which older paths
// alone lead to are none of them.
func leavingOf(ports []*attached, among Among) (f Flows, err error) {
	f = Flows{Known: map[int]int{}, Busy: map[int]int{}}
	var known *attached
	for _, a := range ports {
		if !a.hasSeat(among.Of) {
			continue
		}
		older, err := a.leadsOlder(among.Of)
		if err == nil && !older {
			known, err = a, f.leave(a, among)
		}
		if err != nil {
			return f, err
		}
	}
	if len(f.Leaving) == 0 {
		return f, nil
	}
	slices.Sort(f.Leaving)
	m := known.Maps[table(among.Of)]
	if int(m.KeySize()) != binary.Size(spread.ProgramFlow{}) || int(m.ValueSize()) != binary.Size(spread.ProgramStay{}) {
		return f, nil // another version's, until ports are turned
	}
	return f, f.read(m, time.Duration(among.Idle))
}

// leadsOlder tells whether older paths alone lead from a port to a function that has a seat there.
func (a *attached) leadsOlder(of string) (bool, error) {
	seat := a.taken[table(of)]
	if older, err := a.seats().at(seat).noted(); older || err != nil {
		return older, err
	}
	number, _, err := a.unclassified()
	if number != 0 || err != nil {
		return false, err
	}
	all, err := a.leadsAll()
	return all != 0 && all != Replicas-seat, err
}

// WithReplicas gives the spec with more replicas behind the others of each function, by the port of the first one.
func (s Spec) WithReplicas(more func(port string) []Replica) Spec {
	all := func(among []Among) (with []Among) {
		for _, a := range among {
			a.Replicas = append(slices.Clone(a.Replicas), more(a.Replicas[0].Port)...)
			with = append(with, a)
		}
		return with
	}
	if s.Among != nil {
		s.Among = &all([]Among{*s.Among})[0]
	}
	if s.Paths != nil {
		paths := *s.Paths
		paths.Among, s.Paths = all(paths.Among), &paths
	}
	if s.Branch != nil {
		branch := *s.Branch
		branch.Among, s.Branch = all(branch.Among), &branch
	}
	return s
}
