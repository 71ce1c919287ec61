package pass

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/passnat"
	"nfchain.dev/nfchain/internal/resource"
)

// Translated is what the NATs of an owner know in a namespace.
type Translated struct {
	// Held are entries of connections, two each, and Evicted those that had to make room for others.
	Held, Evicted uint64
	// Taken are the connections that each target of each rule of a NAT got since the rules of all NATs
	// in its pass are these, in their order.
	Taken []uint64
}

// TranslatedAt tells what the NAT of a slot did at the interface of a spec, where packets open connections;
// nothing where it is not there. It takes time with the number of connections that are known. Those that come
// or go meanwhile may be missed.
func TranslatedAt(p resource.Place, s Spec, slot uint32) (t Translated, found bool, err error) {
	err = knownAt(p, s.Device, func(k knowing) error {
		if found = k.translatesAlike(s.named()); !found {
			return nil
		}
		if t, err = translatedIn(k.maps[natFlowsMap], k.maps[natMadeMap]); err != nil {
			return err
		}
		t.Taken, err = takenIn(k.maps[natTargetsMap])
		first, n := s.targets(slot)
		t.Taken = t.Taken[min(first, len(t.Taken)):min(first+n, len(t.Taken))]
		return err
	})
	if err != nil {
		err = fmt.Errorf("read what was translated at %s of namespace %q: %w", s.Device, p.Ref, err)
	}
	return t, found, err
}

// targets of a NAT among those of all.
func (s Spec) targets(slot uint32) (first, n int) {
	for _, of := range s.NATs {
		first, n = first+n, 0
		for _, r := range of.Rules {
			n += len(r.Targets)
		}
		if of.Slot == slot {
			break
		}
	}
	return first, n
}

// Translated reads what the NATs of the pass know, and all those that it has this in common with.
func (l *Loaded) Translated() (t Translated, err error) {
	return translatedIn(l.maps[natFlowsMap], l.maps[natMadeMap])
}

func translatedIn(table, counter *ebpf.Map) (t Translated, err error) {
	made, err := madeIn(counter) // first, so that one that comes made no room
	if err != nil {
		return t, fmt.Errorf("read how many connections were translated: %w", err)
	}
	var cursor ebpf.MapBatchCursor
	keys, values := make([]passnat.ProgramFlow, 4096), make([]passnat.ProgramNatFlow, 4096)
	for ended := error(nil); ended == nil; {
		var n int
		n, ended = table.BatchLookup(&cursor, keys, values, nil)
		if ended != nil && !errors.Is(ended, ebpf.ErrKeyNotExist) {
			return t, fmt.Errorf("read the table of translated connections: %w", ended)
		}
		t.Held += uint64(n)
	}
	t.Evicted = made - min(made, t.Held)
	return t, nil
}

// madeIn a table are as many entries as all cores counted.
func madeIn(counter *ebpf.Map) (made uint64, err error) {
	var cores []uint64
	err = counter.Lookup(uint32(0), &cores)
	for _, n := range cores {
		made += n
	}
	return made, err
}

// Taken are the connections that each target of each rule got, in the order of the spec's.
func (l *Loaded) Taken() ([]uint64, error) { return takenIn(l.maps[natTargetsMap]) }

func takenIn(table *ebpf.Map) (all []uint64, err error) {
	for i := range table.MaxEntries() {
		var t passnat.ProgramNatTarget
		if err := table.Lookup(i, &t); err != nil {
			return nil, fmt.Errorf("read the connections of target %d of a nat: %w", i, err)
		}
		all = append(all, t.Taken)
	}
	return all, nil
}
