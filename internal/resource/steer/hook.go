package steer

import (
	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// hook is what holds programs that steer at an interface. Its methods are called in the
// interface's namespace.
type hook struct{ held.Hook }

// hooks by their names.
var hooks = map[string]hook{TCX: {held.TCX}, Clsact: {held.Clsact}}

// programs of an interface, in the order in which they are run.
func (h hook) programs(p resource.Place, index int) ([]ebpf.ProgramID, error) {
	return h.Programs(p, index, held.Steers)
}

// put a program at an interface, in the place of one of ours, if there is one.
func (h hook) put(p resource.Place, index int, program, old *ebpf.Program) error {
	return h.Put(p, index, held.Steers, program, old)
}

// take one of ours away.
func (h hook) take(p resource.Place, index int, program *ebpf.Program) error {
	return h.Take(p, index, held.Steers, program)
}
