package pass

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"slices"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/passnat"
)

// What passes with NATs know of connections. All of an owner's in a namespace have these maps in common, of
// whatever version they are, so that connections go on where a NAT comes to be at other interfaces.
const (
	natFlowsMap = "nat_flows"
	natPartsMap = "nat_parts"
	natMadeMap  = "nat_made"
)

// The rules of all NATs of a pass, and the connections that each target got.
const (
	natRulesMap   = "nat_rules"
	natRingMap    = "nat_ring"
	natTargetsMap = "nat_targets"
)

// natParts is how many packets are known at once of which fragments come.
const natParts = 4096

// translations gives NATs their tables. Whose turn it is, and what targets got, goes on where the rules of all
// are the same.
func (f *furnishing) translations() {
	f.spec.Maps[natFlowsMap].MaxEntries = 2 * f.Connections // an entry for each way
	f.spec.Maps[natPartsMap].MaxEntries = natParts
	for _, k := range f.others {
		if f.takes(k, natFlowsMap, natPartsMap, natMadeMap) {
			break
		}
	}
	for _, k := range f.others {
		if !k.translatesAlike(f.steps) {
			continue
		}
		for _, name := range []string{natRulesMap, natRingMap, natTargetsMap} {
			f.spec.Maps[name].MaxEntries = k.maps[name].MaxEntries()
			f.kept[name] = k.maps[name]
		}
		return
	}
	f.fill(f.spec)
}

// takes maps over from another pass, if it has them all, and they are as they are to be.
func (f *furnishing) takes(from knowing, names ...string) bool {
	for _, name := range names {
		if m := from.maps[name]; m == nil || f.spec.Maps[name].Compatible(m) != nil {
			return false
		}
	}
	for _, name := range names {
		f.kept[name] = from.maps[name]
	}
	return true
}

// translatesAlike tells whether a pass has the same NATs, in the same order, with the same rules.
func (k knowing) translatesAlike(steps []Step) bool {
	return slices.EqualFunc(translations(k.steps), translations(steps), func(a, b Step) bool {
		return a.Args[0] == b.Args[0] && a.whose() == b.whose() && a.digest() == b.digest()
	})
}

// translations are the steps that are NATs.
func translations(steps []Step) []Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return s.Act != Translate })
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

// sourceRule is the kind of a rule of [Translation.Source].
const sourceRule = 1

// laidOut is a rule as the program reads it, whose targets are in a part of the ring.
func (r Translation) laidOut(ring, length uint32) passnat.ProgramNatRule {
	out := passnat.ProgramNatRule{
		Version: r.version(), Protocol: r.Protocol, First: r.First, Last: r.Last, Port: bits.ReverseBytes16(r.Port), Ring: ring, Length: length,
	}
	if r.Source {
		out.Kind = sourceRule
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
