package pass

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"net/netip"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/passnat"
	"nfchain.dev/nfchain/internal/resource/held"
)

// natName of this version's program with NATs.
var natName = held.Name(held.PassMark, passnat.Object())

// The maps that passes with the same NAT have in common.
const (
	natFlowsMap = "nat_flows"
	natPartsMap = "nat_parts"
	natMadeMap  = "nat_made"
)

// natParts is how many packets are known at once of which fragments come.
const natParts = 4096

// withNATs loads a pass that has some. Shared are the tables of one that has the same.
func withNATs(s Spec, taps numbers, kept, shared map[string]*ebpf.Map) (*Loaded, error) {
	spec, err := passnat.LoadProgram()
	if err != nil {
		return nil, err
	}
	return loadNATs(spec, s, taps, kept, shared)
}

func loadNATs(spec *ebpf.CollectionSpec, s Spec, taps numbers, kept, shared map[string]*ebpf.Map) (*Loaded, error) {
	if err := s.checkNATs(); err != nil {
		return nil, err
	}
	replaced := map[string]*ebpf.Map{}
	for _, from := range []map[string]*ebpf.Map{kept, shared} {
		for name, m := range from {
			replaced[name] = m
		}
	}
	s.Steps = s.translating()
	if err := errors.Join(prepare(spec, s.Steps, s.Flows), taps.wired(spec, s)); err != nil {
		return nil, err
	}
	spec.Maps[natFlowsMap].MaxEntries = 2 * s.Connections // an entry for each way
	spec.Maps[natPartsMap].MaxEntries = natParts
	s.fill(spec)
	spec.Programs["pass"].Name = natName
	var o passnat.ProgramObjects
	if err := spec.LoadAndAssign(&o, &ebpf.CollectionOptions{MapReplacements: replaced}); err != nil {
		return nil, fmt.Errorf("load a pass of %d steps with nats: %w", len(s.Steps), err)
	}
	return &Loaded{Program: o.Pass, counted: o.Counted, memories: o.Memories, nat: &o.ProgramMaps, rest: []*ebpf.Map{
		o.Memories, o.Buckets, o.NatFlows, o.NatMade, o.NatParts, o.NatRing, o.NatRules, o.NatTargets, o.NatWorks}}, nil
}

// fill the tables of rules, one NAT's behind the other's.
func (s Spec) fill(spec *ebpf.CollectionSpec) {
	var rules, ring, targets []any
	for _, n := range s.NATs {
		for _, r := range n.Rules {
			order := r.ring()
			rules = append(rules, r.laidOut(uint32(len(ring)), uint32(len(order))))
			for _, number := range order {
				ring = append(ring, uint32(len(targets))+number)
			}
			for _, t := range r.Targets {
				targets = append(targets, passnat.ProgramNatTarget{Address: raw(t.Address)})
			}
		}
	}
	for name, values := range map[string][]any{"nat_rules": rules, "nat_ring": ring, "nat_targets": targets} {
		m := spec.Maps[name]
		m.MaxEntries = max(1, uint32(len(values)))
		for i, v := range values {
			m.Contents = append(m.Contents, ebpf.MapKV{Key: uint32(i), Value: v})
		}
	}
}

// laidOut is a rule as the program reads it, whose targets are in a part of the ring.
func (r Translation) laidOut(ring, length uint32) passnat.ProgramNatRule {
	out := passnat.ProgramNatRule{
		Version: r.version(), Protocol: r.Protocol, First: r.First, Last: r.Last, Port: bits.ReverseBytes16(r.Port), Ring: ring, Length: length,
	}
	if r.Source {
		out.Kind = 1
	} else {
		out.Address = raw(r.Address)
	}
	if r.ByHash {
		out.By = 1
	}
	return out
}

// raw is an address as it stands in a packet; IPv4 is the first word.
func raw(a netip.Addr) (w [4]uint32) {
	for i, b := 0, a.AsSlice(); i < len(b); i += 4 {
		w[i/4] = binary.NativeEndian.Uint32(b[i:])
	}
	return w
}

// acquainted gives the tables of a pass that has one of a spec's NATs, and room for as many connections. They
// are open as long as the neighbours are.
func (n *neighbours) acquainted(s Spec) (shared map[string]*ebpf.Map, err error) {
	if n == nil {
		return nil, nil
	}
	mine, err := n.place.Mine()
	if err != nil {
		return nil, err
	}
	for index := range mine {
		all, err := find(n.place, index)
		if err != nil {
			return nil, err
		}
		for _, a := range all {
			if a.translatesFor(s) {
				n.ends = append(n.ends, func() { held.CloseAll(all) })
				return map[string]*ebpf.Map{natFlowsMap: a.Maps[natFlowsMap], natPartsMap: a.Maps[natPartsMap], natMadeMap: a.Maps[natMadeMap]}, nil
			}
		}
		held.CloseAll(all)
	}
	return nil, nil
}

// translatesFor tells whether a pass has one of a spec's NATs, and room for as many connections.
func (a attached) translatesFor(s Spec) bool {
	if a.Name != natName || a.Maps[natPartsMap] == nil || a.Maps[natMadeMap] == nil {
		return false
	}
	if m := a.Maps[natFlowsMap]; m == nil || m.MaxEntries() != 2*s.Connections {
		return false
	}
	c, err := a.read()
	if err != nil {
		return false
	}
	for _, step := range c.steps {
		for _, n := range s.NATs {
			if step.Act == Translate && step.translator() == n.whose() {
				return true
			}
		}
	}
	return false
}

// Translated is what the NATs of a pass know, with those that they have it in common with.
type Translated struct {
	// Held are entries of connections, two each, and Evicted those that had to make room for others.
	Held, Evicted uint64
}

// Translated reads it, which takes time with the number of connections. Those that come or go meanwhile may
// be missed.
func (l *Loaded) Translated() (t Translated, err error) {
	return translatedIn(l.nat.NatFlows, l.nat.NatMade)
}

func translatedIn(table, counter *ebpf.Map) (t Translated, err error) {
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
	var cores []uint64
	if err := counter.Lookup(uint32(0), &cores); err != nil {
		return t, fmt.Errorf("read how many connections were translated: %w", err)
	}
	made := uint64(0)
	for _, n := range cores {
		made += n
	}
	t.Evicted = made - min(made, t.Held)
	return t, nil
}

// Taken are the connections that each target of each rule got since the pass was loaded, in the order of the
// spec's.
func (l *Loaded) Taken() (all []uint64, err error) {
	for i := range l.nat.NatTargets.MaxEntries() {
		var t passnat.ProgramNatTarget
		if err := l.nat.NatTargets.Lookup(i, &t); err != nil {
			return nil, fmt.Errorf("read the connections of target %d of a nat: %w", i, err)
		}
		all = append(all, t.Taken)
	}
	return all, nil
}
