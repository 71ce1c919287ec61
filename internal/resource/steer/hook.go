package steer

import (
	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/resource"
)

// hook is what holds programs at an interface, for what it takes in. Its methods are called
// in the interface's namespace.
type hook interface {
	// programs of an interface, in the order in which they are run.
	programs(p resource.Place, index int) ([]ebpf.ProgramID, error)
	// put a program at an interface, in the place of one of ours, if there is one.
	put(p resource.Place, index int, program, old *ebpf.Program) error
	// take one of ours away.
	take(p resource.Place, index int, program *ebpf.Program) error
}

// hooks by their names.
var hooks = map[string]hook{TCX: tcx{}, Clsact: clsact{}}
