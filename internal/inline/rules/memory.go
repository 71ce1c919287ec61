package rules

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
)

// Memory of a program that searches tables.
type Memory struct{ bytes []byte }

// behind the last place that a program looks at there are as many bytes as it takes from there.
const behind = 128

// Join puts tables one behind the other, and tells where each begins.
func Join(tables ...*Table) (*Memory, []uint32) {
	m, at := &Memory{}, make([]uint32, len(tables))
	for i, t := range tables {
		at[i] = uint32(len(m.bytes))
		m.bytes = append(m.bytes, t.memory...)
		m.bytes = append(m.bytes, make([]byte, -len(m.bytes)&(bytesOfBlock-1))...)
	}
	m.bytes = append(m.bytes, make([]byte, behind)...)
	return m, at
}

// Load gives the memory to a program that is to be loaded and includes bpf/include/flows.h, and room for so
// many connections.
func (m *Memory) Load(spec *ebpf.CollectionSpec, connections uint32) error {
	if len(m.bytes) > mostBytes {
		return fmt.Errorf("the tables of all rules would take %d MB of memory, and may take %d; use the namespace function for some", len(m.bytes)>>20, mostBytes>>20)
	}
	spec.Maps["rules_flows"].MaxEntries = max(1, connections)
	held := spec.Maps["rules_memory"]
	held.ValueSize = uint32(len(m.bytes))
	held.Contents = []ebpf.MapKV{{Key: uint32(0), Value: m.bytes}}
	if err := spec.Variables["rules_last"].Set(uint32(len(m.bytes) - behind)); err != nil {
		return fmt.Errorf("set the size of the tables: %w", err)
	}
	return nil
}

// Flows tells how many connections a program's table holds, how many had to make room for others, and about
// how many packets the rules were asked, since the program was loaded.
type Flows struct{ Held, Evicted, Asked uint64 }

// connection and flow are as large as a key and a value of the table.
type (
	connection [48]byte
	flow       [32]byte
)

// ReadFlows counts the connections, so it takes time with their number. Those that come or go meanwhile
// may be missed.
func ReadFlows(table, tallies *ebpf.Map) (Flows, error) {
	var f Flows
	var cursor ebpf.MapBatchCursor
	connections, flows := make([]connection, 4096), make([]flow, 4096)
	for {
		n, err := table.BatchLookup(&cursor, connections, flows, nil)
		f.Held += uint64(n)
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			break
		}
		if err != nil {
			return f, fmt.Errorf("read the table of connections: %w", err)
		}
	}
	var ofCores []struct{ Made, Asked uint64 }
	if err := tallies.Lookup(uint32(0), &ofCores); err != nil {
		return f, fmt.Errorf("read how many connections were made: %w", err)
	}
	made := uint64(0)
	for _, c := range ofCores {
		made += c.Made
		f.Asked += c.Asked
	}
	f.Evicted = made - min(made, f.Held)
	return f, nil
}
