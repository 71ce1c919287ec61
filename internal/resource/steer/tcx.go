package steer

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
	attach "nfchain.dev/nfchain/internal/resource/tcx"
)

// tcx holds programs without a link of BPF's, which would have to be pinned somewhere or go
// with this process: so they go with their interface.
type tcx struct{}

// programs: a kernel without tcx knows no such place.
func (tcx) programs(p resource.Place, index int) ([]ebpf.ProgramID, error) {
	found, err := link.QueryPrograms(link.QueryOptions{Target: index, Attach: ebpf.AttachTCXIngress})
	if errors.Is(err, unix.EINVAL) || errors.Is(err, ebpf.ErrNotSupported) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ask for the programs of interface %d in namespace %q: %w", index, p.Ref, err)
	}
	var ids []ebpf.ProgramID
	for _, at := range found.Programs {
		ids = append(ids, at.ID)
	}
	return ids, nil
}

func (tcx) put(_ resource.Place, index int, program, old *ebpf.Program) error {
	if old != nil {
		return attach.Replace(index, program, old)
	}
	return link.RawAttachProgram(link.RawAttachProgramOptions{Target: index, Program: program, Attach: ebpf.AttachTCXIngress})
}

func (tcx) take(_ resource.Place, index int, program *ebpf.Program) error {
	err := link.RawDetachProgram(link.RawDetachProgramOptions{Target: index, Program: program, Attach: ebpf.AttachTCXIngress})
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}
