package held

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// FindLeaving finds the programs of nfchain's that are of a rank at an interface for what it sends, as
// [Find] does for what it takes in.
func FindLeaving(p resource.Place, index int, r Rank) ([]*Program, error) {
	return find([]Hook{LeavingTCX, LeavingClsact}, p, index, r, r.marks)
}

// PutLeaving puts a program at an interface for what it sends, behind those that are there: at tcx, or
// at clsact where the kernel has no tcx. It goes with the interface.
func PutLeaving(p resource.Place, index int, r Rank, program *ebpf.Program) error {
	if hasTCX() {
		return LeavingTCX.Put(p, index, r, program, nil)
	}
	return LeavingClsact.Put(p, index, r, program, nil)
}

// leavingTCX is tcx for what an interface sends.
type leavingTCX struct{}

func (leavingTCX) Programs(p resource.Place, index int, _ Rank) ([]ebpf.ProgramID, error) {
	return resource.Once(p, leavingAt{index}, func() (ids []ebpf.ProgramID, err error) {
		found, err := query(index, ebpf.AttachTCXEgress)
		if errors.Is(err, unix.EINVAL) || errors.Is(err, ebpf.ErrNotSupported) || errors.Is(err, unix.ENODEV) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("ask for the programs of interface %d in namespace %q: %w", index, p.Ref, err)
		}
		for _, at := range found.Programs {
			ids = append(ids, at.ID)
		}
		return ids, nil
	})
}

// leavingAt is an interface of which is asked what it has for what it sends.
type leavingAt struct{ index int }

func (leavingTCX) Put(_ resource.Place, index int, _ Rank, program, old *ebpf.Program) error {
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

func (leavingTCX) Take(_ resource.Place, index int, _ Rank, program *ebpf.Program) error {
	err := link.RawDetachProgram(link.RawDetachProgramOptions{Target: index, Program: program, Attach: ebpf.AttachTCXEgress})
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}
