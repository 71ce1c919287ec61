package rules

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
