package run

import (
	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/process"
)

// heldStill tells of programs in containers that somebody has paused by their engine: who keeps them sees nothing of that.
func heldStill(p *plan.Plan, programs []process.Status) {
	for _, r := range p.Resources {
		spec, is := r.Spec.(process.Spec)
		if !is || spec.Container == nil {
			continue
		}
		for i := range programs {
			s := &programs[i]
			if s.Node != spec.Node || !engine.Paused(s.PID) {
				continue
			}
			s.State, s.Late = process.Unready, true
			s.Message = "is paused by its engine; `" + engine.Unpause(spec.Container.Engine, spec.Container.Name) + "` has it go on"
		}
	}
}
