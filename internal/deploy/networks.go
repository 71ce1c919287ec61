package deploy

import (
	"context"
	"errors"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
)

// networks makes the plan's networks of engines. One that is to be another has another name, and those that are no longer
// wanted go last, when no container is on them.
func (w *work) networks(ctx context.Context, p *plan.Plan) error {
	var wanted []resource.Resource
	for _, r := range p.Resources {
		if _, is := r.Spec.(container.Network); is {
			wanted = append(wanted, r)
		}
	}
	// One of an engine that the chain does not know would be found by nobody.
	if err := sameEngine(ctx, w.owner, enginesIn(wanted)); err != nil && !(w.dry && errors.Is(err, engine.ErrNotThere)) {
		return err
	}
	for _, r := range wanted {
		s := r.Spec.(container.Network)
		there, err := s.There(ctx, w.owner)
		if err != nil && !w.dry {
			return err
		}
		if there {
			continue
		}
		w.record(resource.Change{Op: resource.Create, ID: r.ID, Kind: r.Kind, Namespace: netns.Host, Key: s.Key(), Spec: s})
		if w.dry {
			continue
		}
		if err := noteContainers(ctx, w.owner, s.Engine); err != nil {
			return err
		}
		if err := s.Make(ctx, w.owner); err != nil {
			return err
		}
	}
	return nil
}

// dropNetworks removes those of engines that the plan does not have. Engines that are not there have none to remove now.
func (w *work) dropNetworks(ctx context.Context, p *plan.Plan, engines []string) error {
	var wanted []string
	for _, r := range p.Resources {
		if s, is := r.Spec.(container.Network); is {
			wanted = append(wanted, s.Name)
		}
	}
	for _, name := range engines {
		all, err := container.NetworksOf(ctx, name, w.owner)
		if errors.Is(err, engine.ErrNotThere) {
			continue
		}
		if err != nil {
			return err
		}
		for _, n := range all {
			if n.In(wanted) {
				continue
			}
			w.record(deletion(container.NetworkKindName, netns.Host, n.Name))
			if w.dry {
				continue
			}
			if err := container.RemoveNetworks(ctx, name, w.owner, wanted); err != nil {
				return err
			}
		}
	}
	return nil
}
