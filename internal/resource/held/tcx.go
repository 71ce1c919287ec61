package held

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// tcx holds programs without a link of BPF's, which would have to be pinned somewhere or go
// with this process: so they go with their interface.
type tcx struct{}

func (tcx) Programs(p resource.Place, index int, _ Rank) ([]ebpf.ProgramID, error) {
	ids, err := resource.Once(p, at{index}, func() ([]ebpf.ProgramID, error) { return AtTCX(index) })
	if err != nil {
		return nil, fmt.Errorf("ask for the programs of interface %d in namespace %q: %w", index, p.Ref, err)
	}
	return ids, nil
}

// at is an interface of which is asked what it has for what it takes in.
type at struct{ index int }

func (tcx) Put(_ resource.Place, index int, r Rank, program, old *ebpf.Program) error {
	if old != nil {
		return Replace(index, program, old)
	}
	o := link.RawAttachProgramOptions{Target: index, Program: program, Attach: ebpf.AttachTCXIngress}
	switch r {
	case Probes:
		o.Anchor = link.Head()
	case Leads, Opens, Passes:
		behind := []string{ProbeMark}
		if r != Leads {
			behind = append(behind, LeadMark)
		}
		ahead, err := ahead(index, behind...)
		if err != nil {
			return err
		}
		o.Anchor = ahead
	case Fronts, Keeps:
		behind := []string{SteerMark}
		if r == Fronts {
			behind = append(behind, KeepMark)
		}
		first, err := firstNamed(index, behind...)
		if err != nil {
			return err
		}
		if first != 0 {
			o.Anchor = link.BeforeProgramByID(first)
		}
	}
	return link.RawAttachProgram(o)
}

func (tcx) Take(_ resource.Place, index int, _ Rank, program *ebpf.Program) error {
	err := link.RawDetachProgram(link.RawDetachProgramOptions{Target: index, Program: program, Attach: ebpf.AttachTCXIngress})
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// query the programs of an interface. How many there are is asked first, and then which: where more have come in
// between, for whom there is no room in the answer, it is asked again.
func query(index int, at ebpf.AttachType) (found *link.QueryResult, err error) {
	for range 100 {
		found, err = link.QueryPrograms(link.QueryOptions{Target: index, Attach: at})
		if !errors.Is(err, unix.ENOSPC) {
			break
		}
	}
	return found, err
}

// AtTCX are the programs that an interface of the thread's namespace has at tcx for what it
// takes in, in the order in which they are run: none where the kernel has no tcx, or the
// interface has gone meanwhile.
func AtTCX(index int) (ids []ebpf.ProgramID, err error) {
	ids, _, err = askTCX(index)
	return ids, err
}

// loopback is the interface that every namespace has.
const loopback = 1

// hasTCX tells whether the kernel has tcx.
var hasTCX = sync.OnceValue(func() bool {
	_, has, err := askTCX(loopback)
	return has || err != nil
})

func askTCX(index int) (ids []ebpf.ProgramID, has bool, err error) {
	found, err := query(index, ebpf.AttachTCXIngress)
	switch {
	case errors.Is(err, unix.EINVAL) || errors.Is(err, ebpf.ErrNotSupported):
		return nil, false, nil
	case errors.Is(err, unix.ENODEV):
		return nil, true, nil
	case err != nil:
		return nil, true, err
	}
	for _, at := range found.Programs {
		ids = append(ids, at.ID)
	}
	return ids, true, nil
}

// progAttach begins as the BPF_PROG_ATTACH part of the kernel's union bpf_attr does.
type progAttach struct {
	target, program, attachType, flags, replaced, relative uint32
	revision                                               uint64
}

// Replace a program that an interface of the thread's namespace has at tcx for what it takes in
// by another, in its place and at once. The library's own way (v0.20.0) leaves out the flag that
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
