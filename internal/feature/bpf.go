package feature

import (
	"context"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

var (
	tcxPart = part{"tcx (Linux 6.6 and later)", "", "CONFIG_BPF_SYSCALL and CONFIG_NET_XGRESS"}
	xdpPart = part{"native XDP on veth (Linux 5.9 and later)", "", "CONFIG_BPF_SYSCALL"}
)

// tracePart needs what kfree_skb tells since Linux 5.17.
var tracePart = part{"BPF programs at the tracepoint kfree_skb (Linux 5.17 and later)", "", "CONFIG_BPF_SYSCALL and CONFIG_DEBUG_INFO_BTF"}

// kernelTypes is where a kernel describes its types.
const kernelTypes = "sys/kernel/btf/vmlinux"

func askTrace(ctx context.Context, env Env) answer {
	if !env.Files.Exists(kernelTypes) {
		return no("this kernel does not describe its types: there is no /"+kernelTypes, "a kernel built with CONFIG_DEBUG_INFO_BTF")
	}
	return tracePart.try(ctx, env, attachTracepoint)
}

// attachTracepoint puts a program that does nothing but read its third argument at
// kfree_skb, which kernels that tell no reason refuse.
func attachTracepoint() error {
	readThird := []instruction{{code: 0x79, registers: 0x10, offset: 16}, {code: 0xb7}, {code: 0x95}} // r0 = args[2]; r0 = 0; exit
	prog, err := load(unix.BPF_PROG_TYPE_RAW_TRACEPOINT, readThird)
	if err != nil {
		return fmt.Errorf("load a BPF program: %w", err)
	}
	defer func() { _ = unix.Close(prog) }()
	name := []byte("kfree_skb\x00")
	var pinned runtime.Pinner
	defer pinned.Unpin()
	pinned.Pin(&name[0])
	attr := rawTracepoint{name: uint64(uintptr(unsafe.Pointer(&name[0]))), progFD: uint32(prog)}
	fd, err := bpf(unix.BPF_RAW_TRACEPOINT_OPEN, unsafe.Pointer(&attr), unsafe.Sizeof(attr))
	if err != nil {
		return fmt.Errorf("attach a BPF program: %w", err)
	}
	return unix.Close(fd)
}

// xdpDriverMode asks for XDP in the driver (XDP_FLAGS_DRV_MODE); the generic mode
// is too slow to be worth having.
const xdpDriverMode = 1 << 2

func askTCX(ctx context.Context, env Env) answer {
	return tcxPart.try(ctx, env, func() error {
		return attach(unix.BPF_PROG_TYPE_SCHED_CLS, linkCreate{attachType: unix.BPF_TCX_INGRESS})
	})
}

func askXDP(ctx context.Context, env Env) answer {
	return xdpPart.try(ctx, env, func() error {
		return attach(unix.BPF_PROG_TYPE_XDP, linkCreate{attachType: unix.BPF_XDP, flags: xdpDriverMode})
	})
}

// attach loads a program that does nothing and attaches it to a veth. Both go
// with their descriptors.
func attach(progType uint32, link linkCreate) error {
	index, err := addVeth()
	if err != nil {
		return err
	}
	prog, err := loadNothing(progType)
	if err != nil {
		return fmt.Errorf("load a BPF program: %w", err)
	}
	defer func() { _ = unix.Close(prog) }()
	link.progFD, link.ifindex = uint32(prog), uint32(index)
	fd, err := bpf(unix.BPF_LINK_CREATE, unsafe.Pointer(&link), unsafe.Sizeof(link))
	if err != nil {
		return fmt.Errorf("attach a BPF program: %w", err)
	}
	return unix.Close(fd)
}

// instruction is struct bpf_insn of linux/bpf.h.
type instruction struct {
	code, registers uint8
	offset          int16
	immediate       int32
}

// progLoad and linkCreate begin as the BPF_PROG_LOAD and BPF_LINK_CREATE parts of
// union bpf_attr; the kernel takes what follows as zero.
type progLoad struct {
	progType, count       uint32
	instructions, license uint64
	logLevel, logSize     uint32
	logBuffer             uint64
}

// rawTracepoint begins as the BPF_RAW_TRACEPOINT_OPEN part.
type rawTracepoint struct {
	name   uint64
	progFD uint32
	_      uint32
}

type linkCreate struct{ progFD, ifindex, attachType, flags uint32 }

// loadNothing loads "return 0" (TC_ACT_OK, XDP_ABORTED; no packet meets it).
func loadNothing(progType uint32) (int, error) {
	return load(progType, []instruction{{code: 0xb7}, {code: 0x95}}) // r0 = 0; exit
}

func load(progType uint32, program []instruction) (int, error) {
	license := []byte("Apache-2.0\x00")
	var pinned runtime.Pinner
	defer pinned.Unpin()
	pinned.Pin(&program[0])
	pinned.Pin(&license[0])
	attr := progLoad{
		progType: progType, count: uint32(len(program)),
		instructions: uint64(uintptr(unsafe.Pointer(&program[0]))),
		license:      uint64(uintptr(unsafe.Pointer(&license[0]))),
	}
	return bpf(unix.BPF_PROG_LOAD, unsafe.Pointer(&attr), unsafe.Sizeof(attr))
}

// bpf is bpf(2). A program is loaded with no signal let through to this thread: Go's runtime sends its own some whenever cores are
// busy, and the kernel leaves off checking a program where one came, so that nothing might ever be loaded.
func bpf(command int, attr unsafe.Pointer, size uintptr) (int, error) {
	if command == unix.BPF_PROG_LOAD {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var all, before unix.Sigset_t
		for i := range all.Val {
			all.Val[i] = ^all.Val[i]
		}
		if err := unix.PthreadSigmask(unix.SIG_BLOCK, &all, &before); err != nil {
			return -1, err
		}
		defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) }()
	}
	fd, _, errno := unix.Syscall(unix.SYS_BPF, uintptr(command), uintptr(attr), size)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}
