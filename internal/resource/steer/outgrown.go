package steer

import (
	"slices"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/branch"
	"nfchain.dev/nfchain/bpf/classify"
	"nfchain.dev/nfchain/bpf/spread"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// outgrown are tables of flows in whose place others of another size come. Ports are changed one by one: what those enter in the
// old table which are changed later, the new one gets when the last of them was.
type outgrown struct {
	began uint64 // when ports were first changed, as programs read the time
	left  []leftTable
}

// leftTable is one that a port had.
type leftTable struct {
	name   string
	number ebpf.MapID
	flows  *ebpf.Map
	// room that there is to be in the new one.
	room uint32
	// since then flows may have been entered that the new table does not have.
	since uint64
}

func (o *outgrown) close() {
	for _, t := range o.left {
		_ = t.flows.Close()
	}
}

// rooms for flows that a spec wants, by the names of tables.
func (s Spec) rooms() map[string]uint32 {
	all := map[string]uint32{}
	if s.Paths != nil {
		all[membersMap] = s.Paths.Flows
	}
	if s.Branch != nil {
		all[jointsMap] = s.Branch.Flows
	}
	for _, a := range s.Shared() {
		all[table(a.Of)] = a.Flows
	}
	return all
}

// note the tables of programs at a port that is to be changed, where there are to be ones of other sizes.
func (o *outgrown) note(p resource.Place, all []*attached, wanted map[string]uint32) error {
	for _, a := range all {
		for name, room := range wanted {
			if m := a.Maps[name]; m != nil && m.MaxEntries() != room {
				if err := o.add(p, name, m, room); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// add a table, unless it is known. Where ports have the new one already, somebody else began to change them.
func (o *outgrown) add(p resource.Place, name string, m *ebpf.Map, room uint32) error {
	number, err := held.NumberOf(m)
	if err != nil || slices.ContainsFunc(o.left, func(t leftTable) bool { return t.number == number }) {
		return err
	}
	others, err := everywhere(p, func(a *attached) bool { return a.Maps[name] != nil && a.Maps[name].MaxEntries() == room })
	held.CloseAll(others)
	if err != nil {
		return err
	}
	clone, err := m.Clone()
	if err != nil {
		return err
	}
	t := leftTable{name, number, clone, room, o.began}
	if len(others) > 0 {
		t.since = 0
	}
	o.left = append(o.left, t)
	return nil
}

// handOver to the tables that ports have now what was entered in those that they had.
func (o *outgrown) handOver(p resource.Place) error {
	if len(o.left) == 0 {
		return nil
	}
	ports, err := everywhere(p, func(*attached) bool { return true })
	defer held.CloseAll(ports)
	if err != nil {
		return err
	}
	held.ReadersEnded() // no core enters a flow in the old ones any more
	for _, t := range o.left {
		for _, a := range ports {
			m := a.Maps[t.name]
			if m == nil || m.MaxEntries() != t.room || m.KeySize() != t.flows.KeySize() || m.ValueSize() != t.flows.ValueSize() {
				continue
			}
			if err := t.handOver(m); err != nil {
				return err
			}
			break // all have the same
		}
	}
	return nil
}

func (t leftTable) handOver(to *ebpf.Map) error {
	switch t.name {
	case membersMap:
		return overtake[classify.ProgramFlow](t.flows, to, t.since, func(m classify.ProgramMember) uint64 { return m.Seen })
	case jointsMap:
		return join(t.flows, to)
	}
	return overtake[spread.ProgramFlow](t.flows, to, t.since, func(s spread.ProgramStay) uint64 { return s.Seen })
}

// overtake what a table knows of flows with what another knew that saw them later.
func overtake[Flow, Known any](from, to *ebpf.Map, since uint64, seen func(Known) uint64) error {
	return eachOf(from, func(f Flow, k Known) {
		if seen(k) < since {
			return
		}
		var now Known
		if to.Lookup(f, &now) != nil || seen(now) < seen(k) {
			_ = to.Put(f, k) // without room it is a flow that is not known
		}
	})
}

// join to a table the flows of another that it does not know. Nobody notes when those were seen: where it has no room for all
// of them they would push out others.
func join(from, to *ebpf.Map) error {
	flows := uint32(0)
	if err := eachOf(from, func(branch.ProgramFlow, uint32) { flows++ }); err != nil || flows > to.MaxEntries() {
		return err
	}
	return eachOf(from, func(f branch.ProgramFlow, node uint32) {
		_ = to.Update(f, node, ebpf.UpdateNoExist)
	})
}
