package held

import (
	"bytes"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// What is asked of programs and maps is their names, and which maps programs have. The library's own
// way (v0.20.0) also has the kernel write down all of a program's instructions, and reads /proc, which
// takes ten times as long as all else here.

// most maps that a program of nfchain's may have.
const most = 64

// programInfo and mapInfo begin as the kernel's struct bpf_prog_info and bpf_map_info do; it tells as
// much as there is room for.
type programInfo struct {
	_       [2]uint32 // type, number
	_       [8]byte   // tag
	_       [2]uint32 // lengths of what is not asked for
	_       [3]uint64
	_       uint32
	maps    uint32
	numbers uint64 // of the maps
	name    [unix.BPF_OBJ_NAME_LEN]byte
}

type mapInfo struct {
	_      uint32 // type
	number uint32
	_      [4]uint32
	name   [unix.BPF_OBJ_NAME_LEN]byte
}

// infoByFD is the BPF_OBJ_GET_INFO_BY_FD part of the kernel's union bpf_attr.
type infoByFD struct {
	fd, size uint32
	info     uint64
}

// aboutProgram is its name, and the numbers of its maps.
func aboutProgram(p *ebpf.Program) (name string, maps []ebpf.MapID, err error) {
	var pinned runtime.Pinner
	defer pinned.Unpin()
	maps = make([]ebpf.MapID, most)
	pinned.Pin(&maps[0])
	info := programInfo{maps: most, numbers: uint64(uintptr(unsafe.Pointer(&maps[0])))}
	if err := about(p.FD(), unsafe.Pointer(&info), unsafe.Sizeof(info)); err != nil {
		return "", nil, fmt.Errorf("ask for a program: %w", err)
	}
	return text(info.name[:]), maps[:min(info.maps, most)], nil
}

// nameOf a map.
func nameOf(m *ebpf.Map) (string, error) {
	info, err := aboutMap(m)
	return text(info.name[:]), err
}

// NumberOf a map in the kernel, which no other has or has had.
func NumberOf(m *ebpf.Map) (ebpf.MapID, error) {
	info, err := aboutMap(m)
	return ebpf.MapID(info.number), err
}

func aboutMap(m *ebpf.Map) (info mapInfo, err error) {
	if err := about(m.FD(), unsafe.Pointer(&info), unsafe.Sizeof(info)); err != nil {
		return info, fmt.Errorf("ask for a map: %w", err)
	}
	return info, nil
}

func about(fd int, info unsafe.Pointer, size uintptr) error {
	var pinned runtime.Pinner
	defer pinned.Unpin()
	pinned.Pin(info)
	attr := infoByFD{fd: uint32(fd), size: uint32(size), info: uint64(uintptr(info))}
	_, _, errno := unix.Syscall(unix.SYS_BPF, unix.BPF_OBJ_GET_INFO_BY_FD, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	if errno != 0 {
		return errno
	}
	return nil
}

func text(name []byte) string {
	before, _, _ := bytes.Cut(name, []byte{0})
	return string(before)
}
