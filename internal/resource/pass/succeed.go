package pass

import (
	"errors"
	"fmt"
	"os"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// A pass that takes the place of another, with counters of its own, takes it at one interface after the other. Before the first it
// notes of each place in which of the other's what it goes on with is counted, and holds those counters, so that they are told with its own
// all the while. When the other is nowhere any more, the sum is written in place of that, in one step. Who is killed
// in between leaves either, and neither loses a packet or tells of one twice.

// goesOnFrom tells whether a pass has begun to take another's place.
func (l *Loaded) goesOnFrom(old *attached) (bool, error) {
	own, err := carriedIn(l.carried)
	if err != nil {
		return false, err
	}
	number, err := held.NumberOf(old.Maps[countedMap])
	return own.goesOnFrom(number), err
}

func (c carrying) goesOnFrom(number ebpf.MapID) bool {
	return c.before()[uint32(number)]
}

// goOnFrom what another pass counts of the same functions, and from what it carried on.
func (l *Loaded) goOnFrom(s Spec, before carrying, old *attached) error {
	own, err := carriedIn(l.carried)
	if err != nil {
		return err
	}
	from, err := held.NumberOf(old.Maps[countedMap])
	if err != nil {
		return err
	}
	mine, err := held.NumberOf(l.maps[countedMap])
	if err != nil {
		return err
	}
	if own, err = own.summed(0); err != nil { // what is there yet of a third is told no other way
		return err
	}
	if before, err = before.summed(mine); err != nil {
		return err
	}
	if err := l.Program.BindMap(old.Maps[countedMap]); err != nil {
		return fmt.Errorf("have a pass hold the counters of the one in whose place it comes: %w", err)
	}
	whose := s.carrying()
	for i := range own {
		if place, has := whose.from(i, before); has {
			own[i].Packets, own[i].Bytes = own[i].Packets+before[place].Packets, own[i].Bytes+before[place].Bytes
			own[i].Before, own[i].From = uint32(from), uint32(place)
		}
	}
	return l.note(own)
}

// carry on what the other pass counted that this one now is in the place of: no packet comes by that
// any more, so that nothing is lost or told twice.
func (l *Loaded) carry(old *attached) error {
	own, err := carriedIn(l.carried)
	if err != nil {
		return err
	}
	number, err := held.NumberOf(old.Maps[countedMap])
	if err != nil || !own.goesOnFrom(number) {
		return err
	}
	if own, err = own.summed(0); err != nil {
		return err
	}
	return l.note(own)
}

// summed is what is carried on with what those counted that are being replaced, of which one may be left out: it is told elsewhere.
func (c carrying) summed(but ebpf.MapID) (carrying, error) {
	read := map[uint32]*Counts{}
	for i, t := range c {
		if t.Before == 0 {
			continue
		}
		if c[i].Before, c[i].From = 0, 0; t.Before == uint32(but) {
			continue
		}
		if read[t.Before] == nil {
			counted, err := countedBefore(t.Before)
			if err != nil && !errors.Is(err, os.ErrNotExist) { // went with a pass of a version that did not hold it
				return c, err
			}
			read[t.Before] = &counted
		}
		more := read[t.Before].tally(int(t.From))
		c[i].Packets, c[i].Bytes = t.Packets+more.Packets, t.Bytes+more.Bytes
	}
	return c, nil
}

// countedBefore is what a pass counted in a map that another one holds.
func countedBefore(number uint32) (Counts, error) {
	m, err := countersOf(number)
	if err != nil {
		return Counts{}, err
	}
	defer func() { _ = m.Close() }()
	return talliesIn(m)
}

// countersOf a pass that was replaced, by their number.
func countersOf(number uint32) (*ebpf.Map, error) {
	m, err := ebpf.NewMapFromID(ebpf.MapID(number))
	if err != nil {
		return nil, fmt.Errorf("open the counters of a pass that was replaced: %w", err)
	}
	return m, nil
}

// holdsBefore has a pass hold the counters that are told with its own.
func (l *Loaded) holdsBefore() error {
	own, err := carriedIn(l.carried)
	if err != nil {
		return err
	}
	for number := range own.before() {
		m, err := countersOf(number)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		err = l.Program.BindMap(m)
		if err := errors.Join(err, m.Close()); err != nil {
			return fmt.Errorf("have a pass hold the counters of the one before: %w", err)
		}
	}
	return nil
}

// before are the numbers of the maps whose counters are told as well.
func (c carrying) before() map[uint32]bool {
	all := map[uint32]bool{}
	for _, t := range c {
		if t.Before != 0 {
			all[t.Before] = true
		}
	}
	return all
}

// finish what somebody began and did not end who was killed: a pass that is at some of these interfaces was about to take the place of
// others there.
func (r *ready) finish(p resource.Place, n *neighbours) error {
	finished := false
	for _, at := range r.sites {
		if len(at.all) == 0 {
			continue
		}
		by := at.all[0]
		carries, err := by.carrying()
		if err != nil {
			return err
		}
		c, err := by.read()
		if err != nil {
			continue // another version's
		}
		for i := range r.sites {
			did, err := r.sites[i].finish(p, by.again(c), carries, n)
			if err != nil {
				return err
			}
			finished = finished || did
		}
	}
	if finished {
		held.ReadersEnded() // the others count no more
	}
	return nil
}

// finish putting a pass at an interface, if it goes on from what is there.
func (s *site) finish(p resource.Place, by *Loaded, carries carrying, n *neighbours) (did bool, err error) {
	if len(s.all) == 0 || s.all[0].Maps[countedMap] == nil {
		return false, nil
	}
	old := s.all[0]
	number, err := held.NumberOf(old.Maps[countedMap])
	if err != nil || !carries.goesOnFrom(number) {
		return false, err
	}
	if err := n.takeOver(by, old, func() error { return by.takePlaces(p, []site{*s}) }); err != nil {
		return false, err
	}
	held.CloseAll(s.all)
	s.all, err = find(p, s.index)
	return true, err
}
