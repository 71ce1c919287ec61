package pass

import (
	"fmt"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/passrules"
	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/pass/rules"
)

// Tables are what a program searches that includes bpf/include/flows.h.
type Tables struct {
	// Memory of all tables, as [nfchain.dev/nfchain/internal/resource/pass/rules] joins them.
	Memory []byte
	// Connections that are remembered at once: of more, those not seen for longest are forgotten.
	Connections uint32
}

// mostMemory is as much as all tables of a pass may take, in bytes.
const mostMemory = rules.MostBytes

// Prepare gives the tables to a program that is to be loaded.
func (t Tables) Prepare(spec *ebpf.CollectionSpec) error {
	spec.Maps[rulesFlowsMap].MaxEntries = max(1, t.Connections)
	spec.Maps[rulesMemoryMap].Contents = []ebpf.MapKV{{Key: uint32(0), Value: t.Memory}}
	return sized(spec, len(t.Memory))
}

// sized tells a program how much memory its tables take.
func sized(spec *ebpf.CollectionSpec, bytes int) error {
	if bytes < held.Behind || bytes > mostMemory {
		return fmt.Errorf("the tables of all rules of a pass take %d MB of memory, and may take %d; use the namespace function for some", bytes>>20, mostMemory>>20)
	}
	spec.Maps[rulesMemoryMap].ValueSize = uint32(bytes)
	return spec.Variables["rules_last"].Set(uint32(bytes - held.Behind))
}

// Decided reads what the rules that it was loaded with decided, by their counters.
func (l *Loaded) Decided() ([]Tally, error) {
	return decided(l.maps[rulesCountedMap], 0, l.counters)
}

// decided reads some counters of rules, from the first on.
func decided(counters *ebpf.Map, first, n uint32) ([]Tally, error) {
	all := make([]Tally, n)
	for i := range all {
		var cores []passrules.ProgramTally
		if err := counters.Lookup(first+uint32(i), &cores); err != nil {
			return nil, fmt.Errorf("read the counter of rule %d of a firewall: %w", i+1, err)
		}
		for _, c := range cores {
			all[i].add(c.Packets, c.Bytes)
		}
	}
	return all, nil
}

// Connections tells how many a table holds, how many had to make room for others, and about how many packets
// the rules were asked, since the table was made. What a table took over from another stands in for as many
// that made room.
type Connections struct{ Held, Evicted, Asked uint64 }

// ReadConnections counts them, so it takes time with their number. Those that come or go meanwhile may be
// missed; how many were made is read first, so that one that comes is not taken for one that made room.
func ReadConnections(table, tallies *ebpf.Map) (Connections, error) {
	var c Connections
	var cores []passrules.ProgramRulesTally
	if err := tallies.Lookup(uint32(0), &cores); err != nil {
		return c, fmt.Errorf("read how many connections were made: %w", err)
	}
	err := eachConnection(table, func(*passrules.ProgramRulesConnection, *passrules.ProgramRulesFlow) error {
		c.Held++
		return nil
	})
	if err != nil {
		return c, err
	}
	made := uint64(0)
	for _, of := range cores {
		made += of.Made
		c.Asked += of.Asked
	}
	c.Evicted = made - min(made, c.Held)
	return c, nil
}
