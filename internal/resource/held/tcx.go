package held

import (
	"errors"
	"runtime"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// AtTCX are the programs that an interface of the thread's namespace has at tcx for what it
// takes in, in the order in which they are run: none where the kernel has no tcx, or the
// interface has gone meanwhile.
func AtTCX(index int) (ids []ebpf.ProgramID, err error) {
	found, err := link.QueryPrograms(link.QueryOptions{Target: index, Attach: ebpf.AttachTCXIngress})
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

// Detach a program from tcx, unless it is not there any more.
func Detach(index int, program *ebpf.Program) error {
	err := link.RawDetachProgram(link.RawDetachProgramOptions{Target: index, Program: program, Attach: ebpf.AttachTCXIngress})
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// progAttach begins as the BPF_PROG_ATTACH part of the kernel's union bpf_attr does.
type progAttach struct {
	target, program, attachType, flags, replaced, relative uint32
	revision                                               uint64
}

// Replace a program that an interface of the thread's namespace has for what it takes in by
// another, in its place and at once. The library's own way (v0.20.0) leaves out the flag that
// says so, and the kernel then attaches the other one too.
func Replace(index int, by, old *ebpf.Program) error {
	attr := progAttach{
		target: uint32(index), program: uint32(by.FD()), attachType: uint32(ebpf.AttachTCXIngress),
		flags: unix.BPF_F_REPLACE, replaced: uint32(old.FD()),
	}
	_, _, errno := unix.Syscall(unix.SYS_BPF, unix.BPF_PROG_ATTACH, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	runtime.KeepAlive(by)
	runtime.KeepAlive(old)
	if errno != 0 {
		return errno
	}
	return nil
}
