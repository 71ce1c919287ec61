package held

import (
	"errors"
	"runtime"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// LeavingAtTCX are the programs that an interface of the thread's namespace has at tcx for what it
// sends, in the order in which they are run: none where the kernel has no tcx, or the interface has
// gone meanwhile.
func LeavingAtTCX(index int) (ids []ebpf.ProgramID, err error) {
	found, err := link.QueryPrograms(link.QueryOptions{Target: index, Attach: ebpf.AttachTCXEgress})
	if errors.Is(err, unix.EINVAL) || errors.Is(err, ebpf.ErrNotSupported) || errors.Is(err, unix.ENODEV) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, at := range found.Programs {
		ids = append(ids, at.ID)
	}
	return ids, nil
}

// PutLeaving puts a program at tcx for what an interface sends, behind those that are there, or at
// once in the place of one. It goes with the interface.
func PutLeaving(index int, program, old *ebpf.Program) error {
	attr := progAttach{target: uint32(index), program: uint32(program.FD()), attachType: uint32(ebpf.AttachTCXEgress)}
	if old != nil {
		attr.flags, attr.replaced = unix.BPF_F_REPLACE, uint32(old.FD())
	}
	_, _, errno := unix.Syscall(unix.SYS_BPF, unix.BPF_PROG_ATTACH, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	runtime.KeepAlive(program)
	runtime.KeepAlive(old)
	if errno != 0 {
		return errno
	}
	return nil
}

// TakeLeaving takes one away, unless it is not there any more.
func TakeLeaving(index int, program *ebpf.Program) error {
	err := link.RawDetachProgram(link.RawDetachProgramOptions{Target: index, Program: program, Attach: ebpf.AttachTCXEgress})
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}
