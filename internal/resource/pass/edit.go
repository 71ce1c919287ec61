package pass

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/passrules"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/pass/rules"
)

// A memory of rules has as many areas, each with room and counters for somewhat more than what is in the first: rules that
// fit in are replaced without a program. What is large, also by its counters, of which each core has its own, has fewer areas.
const (
	ruleAreas = 4
	leastRoom = 32 << 10
)

// areasFor rules of so many bytes and with so many counters, of which each takes so many bytes: the room of each, and
// the counters.
func areasFor(bytes int, counters uint32, each int) (areas, room int, counted uint32) {
	room, counted = held.Rounded(max(leastRoom, roomy(bytes))), roomy(counters)
	if areas = held.HowMany(ruleAreas, 1, room+int(counted)*each); areas > 1 {
		return areas, room, counted
	}
	return 1, held.Rounded(bytes), counters
}

// roomy is somewhat more than a number.
func roomy[N int | uint32](n N) N { return n + n/4 + 16 }

// areas of the memory of a pass's rules.
func (a attached) areas() held.Areas { return knowing{maps: a.Maps}.areas() }

// asks has the steps of a pass ask the rules that count.
func (a attached) asks(steps []Step) error {
	k := knowing{steps: steps, maps: a.Maps}
	if a.Maps[rulesAskedMap] == nil || !k.areas().Has() {
		return errors.New("it lacks maps")
	}
	return k.areas().Steadily(k.ask)
}

// ask has steps ask the rules of an area.
func (k knowing) ask(area int) error {
	for i, s := range k.steps {
		if s.Act != Rules {
			continue
		}
		var of asked
		if err := k.maps[rulesAskedMap].Lookup(uint32(area*Most)+s.Slot, &of); err != nil {
			return err
		}
		k.steps[i] = s.asking(of)
	}
	return nil
}

// edited is a pass at an interface, and what is to become of it.
type edited struct {
	attached
	has    contents
	wanted *Spec
	// numbers of the maps that passes have in common.
	memory, counted ebpf.MapID
}

// edit the rules of passes where nothing else of these changes: other rules are written beside those that are asked, and then
// are the ones that are, by all passes that have them in common, at once. It gives the changes that are left.
func edit(p resource.Place, changes []resource.Change) ([]resource.Change, error) {
	wanted := map[string]*Spec{}
	for _, c := range changes {
		if s, is := c.Spec.(Spec); is && c.Op != resource.Delete && asksRules(s.Steps) {
			wanted[c.Key] = &s
		}
	}
	if len(wanted) == 0 {
		return changes, nil
	}
	mine, err := p.Mine()
	if err != nil {
		return nil, err
	}
	var all []edited
	defer func() { held.CloseAll(all) }()
	for index, device := range mine {
		found, err := find(p, index)
		for _, a := range found {
			all = append(all, edited{attached: a})
		}
		if err != nil {
			return nil, err
		}
		for i := len(all) - len(found); i < len(all); i++ {
			if err := all[i].look(p, wanted[device], len(found) == 1); err != nil {
				return nil, failed(p, device, err)
			}
		}
	}
	done := map[string]bool{}
	for _, together := range sharing(all) {
		is, err := replaceRules(together)
		if err != nil {
			return nil, failed(p, together[0].wanted.Device, err)
		}
		for _, e := range together {
			done[e.wanted.Device] = is
		}
	}
	return slices.DeleteFunc(slices.Clone(changes), func(c resource.Change) bool { return done[c.Key] }), nil
}

// look at a pass: what it has in common with others, and whether it takes just other rules for it to become what is wanted.
func (e *edited) look(p resource.Place, wanted *Spec, alone bool) (err error) {
	if e.Maps[rulesMemoryMap] == nil || e.Maps[rulesCountedMap] == nil {
		return nil
	}
	if e.memory, err = held.NumberOf(e.Maps[rulesMemoryMap]); err != nil {
		return err
	}
	if e.counted, err = held.NumberOf(e.Maps[rulesCountedMap]); err != nil {
		return err
	}
	if e.has, err = e.read(); err != nil || wanted == nil || !alone {
		return nil // or it is another version's
	}
	if err := wanted.checkFirewalls(); err != nil {
		return err
	}
	taps, err := tapsIn(p, *wanted)
	if err != nil {
		return err
	}
	carries, err := e.carrying()
	if err == nil && e.has.differsByRules(*wanted, taps) && carries.of(e.has.steps).staysIn(wanted.carrying()) {
		e.wanted = wanted
	}
	return err
}

// differsByRules from a spec, and by nothing else.
func (c contents) differsByRules(s Spec, taps numbers) bool {
	differs := false
	alike := slices.EqualFunc(c.steps, s.named(), func(a, b Step) bool {
		if a.Act == Rules && b.Act == Rules {
			differs = differs || a.digest() != b.digest()
			a, b = a.asking(asked{}), b.asking(asked{})
		}
		return a == b
	})
	return differs && alike && (!hasBuckets(c.steps) || c.flows == s.Flows) && c.connections == s.Connections && c.taps == taps && c.copied == s.copied()
}

// sharing gives the passes that have rules in common, each with all others of which that is so, where all are to ask the same,
// and no other pass has these rules that they could have them in common with.
func sharing(all []edited) (groups [][]edited) {
	byMemory := map[ebpf.MapID][]edited{}
	for _, e := range all {
		if e.memory != 0 {
			byMemory[e.memory] = append(byMemory[e.memory], e)
		}
	}
	for _, memory := range slices.Sorted(maps.Keys(byMemory)) {
		group := byMemory[memory]
		first := group[0]
		if slices.ContainsFunc(group, func(e edited) bool { return e.wanted == nil || !e.asksAs(first) }) || !first.hasRegions() {
			continue
		}
		apart := func(e edited) bool {
			return (e.memory == first.memory) != (e.counted == first.counted) || e.memory != first.memory && e.mayJoin(first.wanted.named())
		}
		if !slices.ContainsFunc(all, apart) {
			groups = append(groups, group)
		}
	}
	return groups
}

// mayJoin tells whether a pass asks the same rules as some steps, or is to: they are to have these in common then.
func (e edited) mayJoin(steps []Step) bool {
	own := e.has.steps
	if e.wanted != nil {
		own = append(slices.Clone(own), e.wanted.named()...)
	}
	return slices.ContainsFunc(steps, func(s Step) bool {
		_, same := knowing{steps: own}.same(s)
		return s.Act == Rules && same
	})
}

// asksAs tells whether two are to ask the same.
func (e edited) asksAs(other edited) bool {
	if other.wanted == nil {
		return false
	}
	return maps.Equal(e.wanted.digests(), other.wanted.digests())
}

// digests of the rules that are asked, by slots.
func (s Spec) digests() map[uint32]uint64 {
	all := map[uint32]uint64{}
	for _, step := range s.named() {
		if step.Act == Rules {
			all[step.Slot] = step.digest()
		}
	}
	return all
}

// regions are the counters of one area.
func (e edited) regions() uint32 {
	return e.Maps[rulesCountedMap].MaxEntries() / uint32(e.areas().Len())
}

// hasRegions tells whether each area has counters of its own, those that count too, to the last.
func (e edited) hasRegions() bool {
	area, err := e.areas().Counting()
	if err != nil || e.areas().Len() < 2 {
		return false
	}
	begin := uint32(area) * e.regions()
	end := begin + e.regions()
	return !slices.ContainsFunc(e.has.steps, func(s Step) bool {
		if s.Act != Rules {
			return false
		}
		n, err := e.rulesOf(s)
		return err != nil || s.first() < begin || s.first()+n+1 > end
	})
}

// rulesOf a step are so many; behind them is the policy.
func (e edited) rulesOf(s Step) (n uint32, err error) {
	err = held.InPlace(e.areas().Memory, int(s.base()), binary.Size(n), func(memory []byte) error {
		n = rules.NumberIn(memory)
		return nil
	})
	return n, err
}

// replaceRules of passes that have them in common, if there is room for the wanted ones.
func replaceRules(all []edited) (done bool, err error) {
	e := all[0]
	f := furnishing{Spec: *e.wanted, steps: e.wanted.named()}
	made, err := f.compiled()
	if err != nil {
		return false, err
	}
	memory, at := rules.Join(made...)
	memory = memory[:len(memory)-held.Behind]
	if len(memory) > e.areas().Room() || f.counted() > e.regions() {
		return false, nil
	}
	first := f.firsts()
	return true, e.areas().Replace(len(memory), func(area int, into []byte) error {
		copy(into, memory)
		base, counters := uint32(area*e.areas().Room()), uint32(area)*e.regions()
		f.ask(func(number int) asked { return asked{Base: base + at[number], First: counters + first(number)} })
		for _, s := range f.steps {
			if s.Act != Rules {
				continue
			}
			if err := e.Maps[rulesAskedMap].Put(uint32(area*Most)+s.Slot, s.asked()); err != nil {
				return fmt.Errorf("have a step ask other rules: %w", err)
			}
		}
		return held.Zero[passrules.ProgramTally](e.Maps[rulesCountedMap], counters, f.counted())
	})
}
