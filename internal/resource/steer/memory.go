package steer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/resource/held"
)

// furnish a program with the rules that others have, where there is room for the wanted ones too; else
// with memory of its own, in which those that count now are, or else the wanted ones.
func furnish(spec *ebpf.CollectionSpec, maps map[string]*ebpf.Map, others []*attached, compiled []byte) (err error) {
	live := compiled
	for _, a := range others {
		if !a.isByPaths() || !a.begins() {
			continue
		}
		if a.hasRoom(compiled) {
			for _, name := range []string{memoryMap, currentMap, talliesMap} {
				maps[name] = a.Maps[name]
			}
			spec.Maps[talliesMap].MaxEntries = a.Maps[talliesMap].MaxEntries()
			return laidOut(spec, a.areas().Len(), a.areas().Room())
		}
		if live, err = a.live(); err != nil {
			return err
		}
	}
	areas, room, counters, err := sizes(compiled, live, int(spec.Maps[talliesMap].ValueSize))
	if err != nil {
		return err
	}
	memory := make([]byte, areas*room+held.Behind)
	copy(memory, live)
	spec.Maps[memoryMap].Contents = []ebpf.MapKV{{Key: uint32(0), Value: memory}}
	spec.Maps[talliesMap].MaxEntries = uint32(areas) * counters
	return laidOut(spec, areas, room)
}

// sizes of a memory for rules that are wanted, and for those that count until then: how many areas there are, the room of
// each, and its counters, of which a core's take so many bytes.
func sizes(wanted, live []byte, counter int) (areas, room int, counters uint32, err error) {
	w, err := headerOf(wanted)
	l, wrong := headerOf(live)
	cores, lacking := ebpf.PossibleCPU()
	if err := errors.Join(err, wrong, lacking); err != nil {
		return 0, 0, 0, err
	}
	least, most := held.Rounded(max(len(wanted), len(live))), max(w.Rules, l.Rules)+2
	each := func() int { return room + int(counters)*counter*cores }
	room, counters = max(leastRoom, 2*held.Rounded(len(wanted)), least), max(leastCounters, 2*(w.Rules+2), most)
	if areas = held.HowMany(mostAreas, leastAreas, each()); areas*each() > held.AtEase {
		room, counters = least, most
		areas = held.HowMany(mostAreas, leastAreas, each())
	}
	if areas*room+held.Behind > mostMemory {
		return 0, 0, 0, fmt.Errorf("%d rules take %d MB of memory, and may take %d; leave some out", w.Rules, len(wanted)>>20, mostMemory/leastAreas>>20)
	}
	return areas, room, counters, nil
}

// laidOut gives a program's memory so many areas, each with so much room.
func laidOut(spec *ebpf.CollectionSpec, areas, room int) error {
	held.LayOut(spec.Maps[memoryMap], spec.Maps[currentMap], areas, room)
	return errors.Join(spec.Variables["rules_area"].Set(uint32(room)), spec.Variables["rules_last"].Set(uint32(areas*room)))
}

// A memory has as many areas, and fewer where they would take much; more do not get rules to count sooner.
const (
	mostAreas  = 4
	leastAreas = 2
)

// A memory that is made has room for so many bytes of rules in each area at least, and for so many counters, and for twice as
// much as it begins with where that is not much.
const (
	leastRoom     = 32 << 10
	leastCounters = 512
)

// areas of a program's memory, and how many counters each has.
func (a *attached) areas() held.Areas {
	return held.Areas{Memory: a.Maps[memoryMap], Current: a.Maps[currentMap]}
}
func (a *attached) counters() uint32 {
	return a.Maps[talliesMap].MaxEntries() / uint32(a.areas().Len())
}

func (a *attached) hasRoom(compiled []byte) bool {
	h, err := headerOf(compiled)
	return err == nil && a.areas().Has() && a.Maps[talliesMap] != nil && len(compiled) <= a.areas().Room() && h.Rules+2 <= a.counters()
}

// counting are the rules that count: the area that they are in, and what they begin with.
func (a *attached) counting() (area int, h choiceHeader, err error) {
	err = a.steadily(func(in int, begin choiceHeader) error {
		area, h = in, begin
		return nil
	})
	return area, h, err
}

// steadily has something read of the rules that count, as of one time.
func (a *attached) steadily(read func(area int, h choiceHeader) error) error {
	if !a.areas().Has() {
		return fmt.Errorf("program %s lacks maps", a.Name)
	}
	return a.areas().Steadily(func(area int) error {
		var h choiceHeader
		err := a.areas().In(area, binary.Size(h), func(memory []byte) (err error) {
			h, err = headerOf(memory)
			return err
		})
		if err != nil {
			return err
		}
		return read(area, h)
	})
}

// live are the rules that count, as they would be at the beginning of another memory.
func (a *attached) live() (live []byte, err error) {
	area, h, err := a.counting()
	if err != nil {
		return nil, err
	}
	err = a.areas().In(area, int(h.Size), func(memory []byte) error {
		live = slices.Clone(memory)
		return nil
	})
	h.First = 0
	return h.over(live), err
}
