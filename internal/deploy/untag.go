package deploy

import (
	"context"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/nsh"
)

// untag has interfaces of functions that get headers, and are on one path again, leave users' frames as they are: no port
// says by a tag any more which path a frame is on, and those that did are waited for.
func (w *work) untag(ctx context.Context, p *plan.Plan) error {
	if w.dry || w.staying > 0 {
		return nil
	}
	var tagged []resource.Resource
	for _, r := range p.Resources {
		s, is := r.Spec.(nsh.Push)
		if !is || len(s.On) > 0 {
			continue
		}
		if err := w.inside(r.Namespace, func(h *netns.Handle) error {
			looks, err := nsh.Tagged(resource.Alone(h, w.owner), s.Device)
			if looks {
				tagged = append(tagged, r)
			}
			return err
		}); err != nil {
			return err
		}
	}
	if len(tagged) == 0 {
		return nil
	}
	if err := underWay(ctx); err != nil {
		return err
	}
	for _, r := range tagged {
		if err := w.inside(r.Namespace, func(h *netns.Handle) error {
			return nsh.Untag(resource.Alone(h, w.owner), r.Spec.Key())
		}); err != nil {
			return err
		}
	}
	return nil
}

// underWay waits for what is under way between two interfaces: longer, the later who waits is woken.
func underWay(ctx context.Context) error {
	late := time.Duration(0)
	for since := time.Now(); time.Since(since) < drained+lately*late; {
		woken, err := pause(ctx, look)
		if err != nil {
			return err
		}
		late = max(late, woken)
	}
	return nil
}
