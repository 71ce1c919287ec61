package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/trial"
)

// clears is how long the kernel gets to free what containers had, s, which it does by and by, under its lock of the network: else whoever starts
// others would wait for that.
const clears = 0.5

// startAlone has the engines start by themselves the containers of a chain that is about to be made, where the run is to tell of that. One that is up, or
// has no containers, is made known to the reader, as there is nothing to tell of it.
func (m *Measurement) startAlone(ctx context.Context, chain api.Chain, o UpOptions, r *trial.Run) (map[string]time.Duration, error) {
	if !r.StartAlone {
		return nil, nil
	}
	took, why, err := m.aloneBefore(ctx, chain, o)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, deploy.Interrupted(ctx.Err())
	case err != nil:
		return nil, unmadeBy("its containers could not be started by themselves", err)
	case why == "":
		return took, nil
	}
	text := fmt.Sprintf("start_alone: chain %s %s, so that nothing is told of how long its containers take by themselves", chain.Metadata.Name, why)
	if slices.Contains(r.Warnings, text) {
		return nil, nil
	}
	r.Warnings = append(r.Warnings, text)
	return nil, m.Store.SetWarnings(context.WithoutCancel(ctx), r.ID, r.Warnings)
}

// aloneBefore is that, or why not.
func (m *Measurement) aloneBefore(ctx context.Context, chain api.Chain, o UpOptions) (took map[string]time.Duration, why string, err error) {
	if there, err := deploy.Nodes(chain.Metadata.Name); err != nil || len(there) > 0 {
		return nil, "was up before", err
	}
	p, err := m.Host.Plan(chain, m.Alone, o.Options)
	if err != nil {
		return nil, "", err
	}
	all := containersOf(p)
	if len(all) == 0 {
		return nil, "has no containers", nil
	}
	if err := m.Host.deployer(o).Fetch(ctx, p); err != nil {
		return nil, "", err
	}
	if err := pause(ctx, clears); err != nil {
		return nil, "", err
	}
	if took, err = container.StartAlone(ctx, chain.Metadata.Name, all); err != nil {
		return nil, "", err
	}
	return took, "", pause(ctx, clears)
}

// containersOf a plan.
func containersOf(p *plan.Plan) (all []container.Spec) {
	for _, r := range p.Resources {
		if s, is := r.Spec.(container.Spec); is {
			all = append(all, s)
		}
	}
	return all
}
