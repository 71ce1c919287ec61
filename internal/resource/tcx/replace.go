// Package tcx does at interfaces what kinds with programs there need and the library does
// not do.
package tcx

import (
	"runtime"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

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
