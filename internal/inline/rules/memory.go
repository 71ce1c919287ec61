package rules

import (
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

// Load gives the memory to a program that is to be loaded and includes bpf/include/rules.h.
func (m *Memory) Load(spec *ebpf.CollectionSpec) error {
	if len(m.bytes) > mostBytes {
		return fmt.Errorf("the tables of all rules would take %d MB of memory, and may take %d; use the namespace function for some", len(m.bytes)>>20, mostBytes>>20)
	}
	held := spec.Maps["rules_memory"]
	held.ValueSize = uint32(len(m.bytes))
	held.Contents = []ebpf.MapKV{{Key: uint32(0), Value: m.bytes}}
	if err := spec.Variables["rules_last"].Set(uint32(len(m.bytes) - behind)); err != nil {
		return fmt.Errorf("set the size of the tables: %w", err)
	}
	return nil
}
