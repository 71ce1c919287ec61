package pass

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// carriedMap has what the passes counted in whose place a pass is. The program holds it and does not
// look at it: it is added where counters are read.
const carriedMap = "carried"

// carried is what was counted before of one function, or of none.
type carried struct {
	Packets, Bytes uint64
	// Whose step it is, a sum of the function's name, and the Act.
	Whose, Act uint64
	// Before is the number of the map in which a pass counts, or did, that is being replaced by this one, if there is such a one: what it counted
	// in place From is to be told as well. Whoever is killed meanwhile leaves this, and nothing is lost or told twice.
	Before, From uint32
}

// earlier is how versions before had it, which noted nothing of one that is being replaced.
type earlier struct{ Packets, Bytes, Whose, Act uint64 }

// What is no step's stands behind the slots.
const (
	ofCame = Most + iota
	ofOther
	ofMalformed
	ofUnwritten
	allCarried
)

type carrying [allCarried]carried

// carrying nothing yet, but by the spec's steps.
func (s Spec) carrying() (all carrying) {
	for i, step := range s.Steps {
		all[step.Slot].Act = uint64(step.Act)
		if i < len(s.Of) {
			all[step.Slot].Whose = WhoseStep(s.Of[i])
		}
	}
	return all
}

// of the steps that a pass has: what is noted of others is of those that were there before.
func (c carrying) of(steps []Step) carrying {
	has := [Most]bool{}
	for _, s := range steps {
		has[s.Slot] = true
	}
	for i := range has {
		if !has[i] {
			c[i] = carried{}
		}
	}
	return c
}

// staysIn tells whether no slot is another step's in what comes next, and no function in another slot.
func (c carrying) staysIn(next carrying) bool {
	for i := range Most {
		was, is := c[i], next[i]
		if was.Act != 0 && is.Act != 0 && (was.Whose != is.Whose || was.Act != is.Act) {
			return false
		}
		if from, has := next.from(i, c); has && is.Act != 0 && from != i {
			return false
		}
	}
	return true
}

// from is the place of what another has in common with a place of this.
func (c carrying) from(place int, other carrying) (from int, has bool) {
	own := c[place]
	if same := other[place]; own.Whose == same.Whose && own.Act == same.Act {
		return place, true
	}
	for i, at := range other {
		if own.Whose != 0 && own.Whose == at.Whose && own.Act == at.Act {
			return i, true
		}
	}
	return 0, false
}

// tally of a place.
func (c *Counts) tally(place int) *Tally {
	switch place {
	case ofCame:
		return &c.Came
	case ofOther:
		return &c.Other
	case ofMalformed:
		return &c.Malformed
	case ofUnwritten:
		return &c.Unwritten
	}
	return &c.Slots[place]
}

// carries tells whether a pass carries on what others counted, as this version does.
func (a attached) carries() bool {
	m := a.Maps[carriedMap]
	return m != nil && m.ValueSize() == uint32(binary.Size(carrying{}))
}

// carrying of a pass, which has nothing if it is of a version that carried nothing.
func (a attached) carrying() (all carrying, err error) {
	if m := a.Maps[carriedMap]; !a.carries() && (m == nil || m.ValueSize() != uint32(binary.Size([allCarried]earlier{}))) {
		return all, nil
	}
	return carriedIn(a.Maps[carriedMap])
}

func carriedIn(m *ebpf.Map) (all carrying, err error) {
	if m.ValueSize() == uint32(binary.Size([allCarried]earlier{})) {
		var before [allCarried]earlier
		err = m.Lookup(uint32(0), &before)
		for i, e := range before {
			all[i] = carried{Packets: e.Packets, Bytes: e.Bytes, Whose: e.Whose, Act: e.Act}
		}
	} else {
		err = m.Lookup(uint32(0), &all)
	}
	if err != nil {
		return all, fmt.Errorf("read what passes counted before this one: %w", err)
	}
	return all, nil
}

// holds a table for what is carried on: that of a pass whose counters it has too, or one of its own. Of one that was put by who was
// killed before the sum was written it holds the counters of the pass before, too, which else would go with that one.
func (l *Loaded) holds(s Spec, shared *ebpf.Map) error {
	if l.carried = shared; shared != nil {
		if err := l.holdsBefore(); err != nil {
			return err
		}
	} else {
		made, err := ebpf.NewMap(&ebpf.MapSpec{Name: carriedMap, Type: ebpf.Array, KeySize: 4, ValueSize: uint32(binary.Size(carrying{})), MaxEntries: 1})
		if err != nil {
			return fmt.Errorf("make a table for what a pass carries on: %w", err)
		}
		l.carried, l.maps[carriedMap] = made, made
		if err := made.Put(uint32(0), s.carrying()); err != nil {
			return fmt.Errorf("note whose steps a pass has: %w", err)
		}
	}
	if err := l.Program.BindMap(l.carried); err != nil {
		return fmt.Errorf("have a pass hold what it carries on: %w", err)
	}
	return nil
}

// replace a pass at the interfaces where it is by this one, which goes on with what both have in common. The other may stay for a
// while where this one comes later.
func (l *Loaded) replace(p resource.Place, at []site, s Spec, old *attached, stays bool) error {
	c, err := old.read()
	if err != nil {
		return l.takePlaces(p, at) // another version's
	}
	before, err := old.carrying()
	if err != nil {
		return err
	}
	before = before.of(slices.Concat(c.steps, old.also))
	if sameMap(l.carried, old.Maps[carriedMap]) {
		if err := l.refill(s, before, c.steps, old); err != nil {
			return err
		}
		return l.replaceBeside(p, at, s, before, old)
	}
	begun, err := l.goesOnFrom(old)
	if err != nil {
		return err
	}
	if !begun {
		if err := l.refill(s, before, c.steps, old); err != nil {
			return err
		}
		if err := l.remember(s, before, c.steps, old); err != nil {
			return err
		}
		if err := l.goOnFrom(s, before, old); err != nil {
			return err
		}
	}
	if err := l.takePlaces(p, at); err != nil || stays {
		return err
	}
	held.ReadersEnded() // the other runs on no core any more
	return l.carry(old)
}

// replaceBeside replaces a pass that has the same counters, in which steps that come have slots that no step
// has. What was counted there by others, which have gone, is taken off. Those are gone since before
// another program was put in their place, so that none of them counts any more.
func (l *Loaded) replaceBeside(p resource.Place, at []site, s Spec, before carrying, old *attached) error {
	counted, err := countsIn(old.Maps[countedMap], old.Maps[memoriesMap])
	if err != nil {
		return err
	}
	both, own, comes := before, s.carrying(), false
	for _, step := range s.Steps {
		if both[step.Slot].Act != 0 {
			continue
		}
		t := counted.Slots[step.Slot]
		own[step.Slot].Packets, own[step.Slot].Bytes = -t.Packets, -t.Bytes
		both[step.Slot], comes = own[step.Slot], true
		if err := l.maps[memoriesMap].Put(step.Slot, make([]byte, l.maps[memoriesMap].ValueSize())); err != nil {
			return fmt.Errorf("have a step remember nothing: %w", err)
		}
	}
	if comes {
		if err := l.note(both); err != nil {
			return err
		}
	}
	if err := l.takePlaces(p, at); err != nil {
		return err
	}
	return l.note(both.of(s.Steps))
}

// note what is carried on, and whose.
func (l *Loaded) note(all carrying) error {
	if err := l.carried.Put(uint32(0), all); err != nil {
		return fmt.Errorf("carry on what a pass counted: %w", err)
	}
	return nil
}

// remember what the steps remembered that a pass has in common with the one in whose place it will be.
func (l *Loaded) remember(s Spec, before carrying, steps []Step, old *attached) error {
	own, had := s.carrying(), limitsOf(steps)
	now, err := ticksNow()
	if err != nil {
		return err
	}
	for _, step := range s.Steps {
		from, has := own.from(int(step.Slot), before)
		if !has {
			continue
		}
		value, err := old.Maps[memoriesMap].LookupBytes(uint32(from))
		if was, limits := had[uint32(from)]; err == nil && value != nil && step.Act == Limit && limits {
			full := binary.NativeEndian.Uint64(value) // which comes first
			binary.NativeEndian.PutUint64(value, step.inPlaceOf(was, full, now))
		}
		if err == nil && value != nil {
			err = l.maps[memoriesMap].Put(step.Slot, value)
		}
		if err != nil {
			return fmt.Errorf("remember what a step did: %w", err)
		}
	}
	return nil
}
