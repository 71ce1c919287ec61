package held

import (
	"runtime"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Cell is a value of a map that is looked at all the time. The library's own way of looking (v0.20.0) takes several
// times as long: it allocates, reflects, and has a thread of Go's woken in case the kernel takes its time.
type Cell struct {
	table *ebpf.Map
	// asked is what the kernel is given, which points to the key and to value.
	asked mapElement
	key   uint32
	value []byte
}

// mapElement is the part of union bpf_attr for elements of maps (linux/bpf.h).
type mapElement struct {
	table, _          uint32
	key, value, flags uint64
}

// NewCell of a map whose keys are numbers. It is always on the heap, for nothing moves there.
//
//go:noinline
func NewCell(m *ebpf.Map, key uint32) (*Cell, error) {
	size := int(m.ValueSize())
	if m.Type() == ebpf.PerCPUArray {
		cores, err := ebpf.PossibleCPU()
		if err != nil {
			return nil, err
		}
		size = (size + 7) / 8 * 8 * cores
	}
	c := &Cell{table: m, key: key, value: make([]byte, size)}
	c.asked = mapElement{table: uint32(m.FD()), key: address(&c.key), value: address(&c.value[0])}
	return c, nil
}

// address of something, as the kernel takes it.
func address[T any](of *T) uint64 { return uint64(uintptr(unsafe.Pointer(of))) }

// Look at the value: where each core has its own, at one after the other, each at a multiple of 8 bytes. It is the
// cell's, and good until it is looked at again.
func (c *Cell) Look() ([]byte, error) {
	_, _, errno := unix.RawSyscall(unix.SYS_BPF, unix.BPF_MAP_LOOKUP_ELEM, uintptr(unsafe.Pointer(&c.asked)), unsafe.Sizeof(c.asked))
	runtime.KeepAlive(c)
	if errno != 0 {
		return nil, errno
	}
	return c.value, nil
}
