package steer

import (
	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// hook is what holds programs that steer at an interface. Its methods are called in the
// interface's namespace.
type hook struct {
	held.Hook
	rank held.Rank
}

// hooks by their names, those of programs that stand before others at a port, those of programs between, by which flows stay, and those of
// programs that lead such past all that is there.
var (
	hooks   = map[string]hook{TCX: {held.TCX, held.Steers}, Clsact: {held.Clsact, held.Steers}}
	fronts  = map[string]hook{TCX: {held.TCX, held.Fronts}, Clsact: {held.Clsact, held.Fronts}}
	keeping = map[string]hook{TCX: {held.TCX, held.Keeps}, Clsact: {held.Clsact, held.Keeps}}
	leading = map[string]hook{TCX: {held.TCX, held.Leads}, Clsact: {held.Clsact, held.Leads}}
)

// programs of an interface, in the order in which they are run.
func (h hook) programs(p resource.Place, index int) ([]ebpf.ProgramID, error) {
	return h.Programs(p, index, h.rank)
}

// put a program at an interface, in the place of one of ours, if there is one.
func (h hook) put(p resource.Place, index int, program, old *ebpf.Program) error {
	return h.Put(p, index, h.rank, program, old)
}

// take one of ours away.
func (h hook) take(p resource.Place, index int, program *ebpf.Program) error {
	return h.Take(p, index, h.rank, program)
}
