package deploy

import (
	"context"
	"fmt"
	"slices"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// patient is how many times as long as a flow is idle before it is over, flows are waited for
// at most whose replica has to go.
const patient = 4

// takes tells whether flows are taken at once from replicas that go: where functions without a namespace come, go or change at
// ports that were there, and not only at such that are led to and from as ever. What leaves such a replica comes in by a port at which they do not,
// for as long as it has flows.
func (w *work) takes(p *plan.Plan, t *steer.Turn) bool {
	return !w.alike && slices.ContainsFunc(slices.Concat(w.done, w.later), func(c resource.Change) bool {
		return c.Kind == pass.KindName && c.Namespace == p.Between() && !t.New[c.Key]
	})
}

// settle waits until flows are over whose replica is no longer wanted. Those
// that go on for too long move to others then, and are counted where they do. A plan that is only looked at tells how many there are, unless
// they are taken at once.
func (w *work) settle(ctx context.Context, p *plan.Plan, takes bool) error {
	var ways []steer.Spec
	idle := time.Duration(0)
	for _, r := range p.Resources {
		if s, is := r.Spec.(steer.Spec); is && len(s.Shared()) > 0 {
			ways, idle = append(ways, s), time.Duration(s.Shared()[0].Idle)
		}
	}
	switch {
	case len(ways) == 0, w.dry && (takes || w.tellWait == nil):
		return nil
	case w.dry:
		return w.foretell(p, ways, idle)
	}
	left, err := w.leave(ctx, p, ways, idle)
	if err != nil || !left {
		return err
	}
	told := len(w.done)
	err = w.stage(ctx, []resource.Kind{steer.Kind{Settled: true}}, p)
	w.done = w.done[:told] // the same ports again
	return err
}

// foretell how many flows would be waited for, if any.
func (w *work) foretell(p *plan.Plan, ways []steer.Spec, idle time.Duration) error {
	own := namespace.Name(p.Chain, plan.WiringNode)
	if !netns.Exists(own) {
		return nil
	}
	h, err := w.open(own)
	if err != nil {
		return fmt.Errorf("look at the flows of the forwarder: %w", err)
	}
	defer w.shut(h)
	staying, err := stayingAt(resource.Alone(h, p.Chain), ways)
	if err == nil && staying > 0 {
		w.tellWait(staying, patient*idle)
	}
	return err
}

// stayingAt the ports are these flows that are not idle, by replicas that are no longer wanted.
func stayingAt(at resource.Place, ways []steer.Spec) (all int, err error) {
	flows, err := steer.FlowsOf(at, ways)
	for _, f := range flows {
		all += f.Staying()
	}
	return all, err
}

// leave waits until what is to go has no flow that is not idle, and tells whether there is
// such.
func (w *work) leave(ctx context.Context, p *plan.Plan, ways []steer.Spec, idle time.Duration) (any bool, err error) {
	h, err := w.open(namespace.Name(p.Chain, plan.WiringNode))
	if err != nil {
		return false, fmt.Errorf("look at the flows of the forwarder: %w", err)
	}
	defer w.shut(h)
	at := resource.Alone(h, p.Chain)
	if any, err = steer.Leaves(at, ways); err != nil || !any {
		return any, err
	}
	told := w.tellWait == nil
	for ends := time.Now().Add(patient * idle); ; {
		staying, err := stayingAt(at, ways)
		if err != nil {
			return any, err
		}
		if staying == 0 || time.Now().After(ends) {
			return any, nil
		}
		if !told {
			told = true
			w.tellWait(staying, patient*idle)
		}
		select {
		case <-ctx.Done():
			return any, Interrupted(ctx.Err())
		case <-time.After(max(look, idle/10)):
		}
	}
}
