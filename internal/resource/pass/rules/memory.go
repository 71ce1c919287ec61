package rules

import "encoding/binary"

// behind the last table there are as many bytes as programs take from any place.
const behind = 128

// Join puts tables one behind the other, as a program in the kernel has them, and tells where each begins.
func Join(tables ...*Table) (memory []byte, at []uint32) {
	for _, t := range tables {
		at = append(at, uint32(len(memory)))
		memory = append(memory, t.memory...)
		memory = append(memory, make([]byte, t.Size()-len(t.memory))...)
	}
	return append(memory, make([]byte, behind)...), at
}

// NumberIn is how many rules a table has of which the memory begins here, which is 4 bytes at least.
func NumberIn(memory []byte) uint32 { return binary.LittleEndian.Uint32(memory) }
