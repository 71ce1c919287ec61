package run

import (
	"context"
	"slices"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/container"
)

// LimitState is what a container may use, as its engine and its control group tell it.
type LimitState struct {
	engine.Limits
	// HugepagesInUseBytes is what it has of its hugepages, those that are reserved for it too; 0 where it was given none.
	HugepagesInUseBytes uint64 `json:"hugepages_in_use_bytes,omitempty"`
}

// limit tells of the nodes' containers that may not use what they like, as far as their engines do.
func (s *State) limit(ctx context.Context, p *plan.Plan) {
	of := map[string][]engine.Container{}
	for _, r := range p.Resources {
		spec, is := r.Spec.(container.Spec)
		node := slices.IndexFunc(s.Nodes, func(n NodeState) bool { return is && n.Name == spec.Node })
		if node < 0 {
			continue
		}
		if _, asked := of[spec.Engine]; !asked {
			of[spec.Engine], _ = container.Of(ctx, spec.Engine, p.Chain) // what is wrong with it is told where the plan is compared
		}
		at := slices.IndexFunc(of[spec.Engine], func(c engine.Container) bool { return c.PID != 0 && c.Name == spec.Name })
		if at >= 0 && of[spec.Engine][at].Limits.String() != "" {
			c := of[spec.Engine][at]
			s.Nodes[node].Limits = &LimitState{Limits: c.Limits, HugepagesInUseBytes: c.HugepagesInUse()}
		}
	}
}
