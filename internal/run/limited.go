package run

import (
	"context"
	"slices"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
)

// LimitState is what a container may use, as its engine and its control group tell it.
type LimitState struct {
	engine.Limits
	// HugepagesInUseBytes is what it has of its hugepages, those that are reserved for it too; 0 where it was given none.
	HugepagesInUseBytes uint64 `json:"hugepages_in_use_bytes,omitempty"`
}

// limit tells of the nodes' containers that may not use what they like.
func (s *State) limit(ctx context.Context, p *plan.Plan) error {
	if !slices.ContainsFunc(p.Resources, func(r resource.Resource) bool { return r.Kind == container.KindName }) {
		return nil
	}
	all, err := container.Find(ctx, p.Chain)
	if err != nil {
		return err
	}
	for i := range s.Nodes {
		at := slices.IndexFunc(all, func(c engine.Container) bool { return c.PID != 0 && c.Name == s.Nodes[i].Namespace })
		if at >= 0 && all[at].Limits.String() != "" {
			s.Nodes[i].Limits = &LimitState{Limits: all[at].Limits, HugepagesInUseBytes: all[at].HugepagesInUse()}
		}
	}
	return nil
}
