package deploy

import (
	"context"
	"fmt"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// A replica that the plan has no more is left the flows that it has, and gets no new one, until those are over: nobody waits for that here, and
// whoever looks on brings the chain up again then. Until then ports go on to it as in a plan that has it still, with no share of new flows, and
// from it as from the others of its function. So it is on the path, and of no older version of that, whatever is changed meanwhile.

// leaving is what becomes of the flows of replicas that are taken out: left is how many they are left, and taken is how many were taken from them since
// all were to move.
type leaving struct{ left, taken int }

// Remains tells, after Up, whether anything is left for flows that nobody else goes by.
func (d *Deployer) Remains() bool { return d.Staying+d.Left > 0 }

// remains tells whether flows need what is no longer wanted.
func (w *work) remains() bool { return w.staying+w.left > 0 }

// leave is the plan with the replicas that are left the flows which they have: none where all flows are to be moved.
func (w *work) leave(p *plan.Plan) (*plan.Plan, error) {
	left, there, err := w.leftTo(p)
	switch {
	case err != nil || left == nil:
		return p, err
	case w.move:
		w.taken = left.Flows()
		return p, nil
	}
	return p.Leave(left.Of, there), nil
}

// settle has replicas go that are no longer wanted, when no flow needs them: until then they stay, with all that only they need. A plan that is only looked at tells how many there are.
func (w *work) settle(ctx context.Context, p *plan.Plan) error {
	if w.dry && w.move {
		return nil
	}
	left, _, err := w.leftTo(p)
	if err != nil || left == nil {
		return err
	}
	if !w.move { // else none is left them, though ports may know of them yet
		w.left = left.Flows()
	}
	if w.left > 0 || w.dry {
		return nil
	}
	w.want(p)
	told := len(w.done)
	err = w.stage(ctx, []resource.Kind{steer.Kind{Settled: true}}, p)
	w.done = w.done[:told] // the same ports again
	return err
}

// want the ports of a plan.
func (w *work) want(p *plan.Plan) {
	w.ports = map[string]bool{}
	for _, r := range p.Resources {
		if r.Kind == steer.KindName {
			w.ports[r.Spec.Key()] = true
		}
	}
}

// leftTo replicas that are no longer wanted are these flows, nil where there are no such replicas; and there are these ports.
func (w *work) leftTo(p *plan.Plan) (left *steer.Leaving, there map[string]bool, err error) {
	own := namespace.Name(p.Chain, plan.WiringNode)
	if w.isFresh(own) {
		return nil, nil, nil
	}
	err = w.inside(own, func(h *netns.Handle) error {
		at := resource.Alone(h, p.Chain)
		if left, err = LeftTo(at, p); err != nil || left == nil {
			return err
		}
		mine, err := at.Mine()
		there = map[string]bool{}
		for _, port := range mine {
			there[port] = true
		}
		return err
	})
	return left, there, err
}

// LeftTo replicas which a plan no longer has are these flows, by what the ports of the chain's forwarder know; nil where there are no such replicas.
func LeftTo(forwarder resource.Place, p *plan.Plan) (*steer.Leaving, error) {
	var ways []steer.Spec
	for _, r := range p.Resources {
		if s, is := r.Spec.(steer.Spec); is && len(s.Shared()) > 0 {
			ways = append(ways, s)
		}
	}
	left, err := steer.LeavingAt(forwarder, ways)
	if err != nil {
		return nil, fmt.Errorf("look at the flows of the forwarder: %w", err)
	}
	return left, nil
}
