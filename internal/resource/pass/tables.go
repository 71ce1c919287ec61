package pass

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	rules "nfchain.dev/nfchain/bpf/passrules"
)

// Tables of a pass with firewalls.
type Tables struct {
	// Memory of all tables, as internal/inline/rules joins them.
	Memory []byte
	// Connections that are remembered at once: of more, those not seen for longest are forgotten.
	Connections uint32
	// Counters is how many rules and policies count.
	Counters uint32
}

// behind the last place that a program looks at there are as many bytes as it takes from there.
const behind = 128

// MostMemory is as much as all tables of a pass may take, in bytes: what the kernel's verifier lets a
// program reach, with room to spare.
const MostMemory = 1 << 28

// Prepare gives the tables to a program that is to be loaded and includes bpf/include/flows.h.
func (t Tables) Prepare(spec *ebpf.CollectionSpec) error {
	if len(t.Memory) < behind || len(t.Memory) > MostMemory {
		return fmt.Errorf("the tables of all rules of a pass take %d MB of memory, and may take %d; use the namespace function for some", len(t.Memory)>>20, MostMemory>>20)
	}
	spec.Maps["rules_flows"].MaxEntries = max(1, t.Connections)
	memory := spec.Maps["rules_memory"]
	memory.ValueSize = uint32(len(t.Memory))
	memory.Contents = []ebpf.MapKV{{Key: uint32(0), Value: t.Memory}}
	if counted, has := spec.Maps["rules_counted"]; has {
		counted.MaxEntries = max(1, t.Counters)
	}
	return spec.Variables["rules_last"].Set(uint32(len(t.Memory) - behind))
}

// LoadWithRules is [Load] for steps among which are firewalls.
func LoadWithRules(steps []Step, flows uint32, t Tables) (*Loaded, error) {
	spec, err := rules.LoadProgram()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(prepare(spec, steps, flows), t.Prepare(spec)); err != nil {
		return nil, err
	}
	var o rules.ProgramObjects
	if err := spec.LoadAndAssign(&o, nil); err != nil {
		return nil, fmt.Errorf("load a pass of %d steps with firewalls: %w", len(steps), err)
	}
	return &Loaded{Program: o.Pass, counted: o.Counted, rules: &o.ProgramMaps, rest: []*ebpf.Map{
		o.Memories, o.Buckets, o.RulesCounted, o.RulesFlows, o.RulesMemory, o.RulesTallies}}, nil
}

// Decided reads what rules decided, by their counters.
func (l *Loaded) Decided() ([]Tally, error) {
	all := make([]Tally, l.rules.RulesCounted.MaxEntries())
	for i := range all {
		var cores []rules.ProgramTally
		if err := l.rules.RulesCounted.Lookup(uint32(i), &cores); err != nil {
			return nil, fmt.Errorf("read the counter of rule %d of a pass: %w", i, err)
		}
		for _, c := range cores {
			all[i].add(c.Packets, c.Bytes)
		}
	}
	return all, nil
}

// Connections tells about those that the firewalls of the pass know.
func (l *Loaded) Connections() (Connections, error) {
	return ReadConnections(l.rules.RulesFlows, l.rules.RulesTallies)
}

// Connections tells how many a table holds, how many had to make room for others, and about how many packets
// the rules were asked, since the program was loaded.
type Connections struct{ Held, Evicted, Asked uint64 }

// ReadConnections counts them, so it takes time with their number. Those that come or go meanwhile may be
// missed.
func ReadConnections(table, tallies *ebpf.Map) (Connections, error) {
	var c Connections
	var cursor ebpf.MapBatchCursor
	keys, values := make([]rules.ProgramRulesConnection, 4096), make([]rules.ProgramRulesFlow, 4096)
	for {
		n, err := table.BatchLookup(&cursor, keys, values, nil)
		c.Held += uint64(n)
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			break
		}
		if err != nil {
			return c, fmt.Errorf("read the table of connections: %w", err)
		}
	}
	var cores []rules.ProgramRulesTally
	if err := tallies.Lookup(uint32(0), &cores); err != nil {
		return c, fmt.Errorf("read how many connections were made: %w", err)
	}
	made := uint64(0)
	for _, of := range cores {
		made += of.Made
		c.Asked += of.Asked
	}
	c.Evicted = made - min(made, c.Held)
	return c, nil
}
