package deploy

import (
	"context"
	"fmt"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// introduce the flows of a chain that is given a classifier to that, before it has rules, so that they stay on the path that they began
// on: what comes during the census is known then. Who is stopped meanwhile leaves all as it was, and whoever comes next begins again.
func (w *work) introduce(ctx context.Context, p *plan.Plan, t *steer.Turn) error {
	if w.dry || t.AtOnce || p.Classifier == nil {
		return nil
	}
	var specs []steer.Spec
	for _, r := range p.Resources {
		if s, is := r.Spec.(steer.Spec); is {
			specs = append(specs, s)
		}
	}
	h, err := w.open(namespace.Name(p.Chain, plan.WiringNode))
	if err != nil {
		return fmt.Errorf("look at the ports of the forwarder: %w", err)
	}
	is, err := steer.Introduces(resource.Alone(h, p.Chain), specs)
	w.shut(h)
	if err != nil || !is {
		return err
	}
	told := len(w.done)
	err = w.stage(ctx, []resource.Kind{steer.Kind{Introduces: true, Turn: t}}, p)
	w.done = w.done[:told] // the same ports are turned then
	if err != nil || t.Census == 0 {
		return err
	}
	if _, err := pause(ctx, t.Census); err != nil {
		return err
	}
	return w.holdOn()
}
