package steer

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// tcx holds programs without a link of BPF's, which would have to be pinned somewhere or go
// with this process: so they go with their interface.
type tcx struct{}

func (tcx) programs(p resource.Place, index int) ([]ebpf.ProgramID, error) {
	ids, err := held.AtTCX(index)
	if err != nil {
		return nil, fmt.Errorf("ask for the programs of interface %d in namespace %q: %w", index, p.Ref, err)
	}
	return ids, nil
}

func (tcx) put(_ resource.Place, index int, program, old *ebpf.Program) error {
	if old != nil {
		return held.Replace(index, program, old)
	}
	return link.RawAttachProgram(link.RawAttachProgramOptions{Target: index, Program: program, Attach: ebpf.AttachTCXIngress})
}

func (tcx) take(_ resource.Place, index int, program *ebpf.Program) error {
	return held.Detach(index, program)
}
