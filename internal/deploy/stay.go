package deploy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// turnOf a chain's ports, by a new version of its path if flows can stay on the one before.
func (w *work) turnOf(ctx context.Context, p *plan.Plan) (*steer.Turn, error) {
	labels, known, err := w.labelsTurn(p)
	if err != nil {
		return nil, err
	}
	if !known {
		w.relabels = true
	}
	t := &steer.Turn{Wanted: w.ports, New: map[string]bool{}, Specs: specsOf(p), Labels: labels, AtOnce: w.atOnce(p)}
	t.Ready = w.ready
	t.Pause = func(while time.Duration) error {
		_, err := pause(ctx, while)
		return err
	}
	for _, c := range w.done {
		if c.Kind == steer.KindName && c.Op == resource.Create {
			t.New[c.Key] = true
		}
	}
	return t, nil
}

// specsOf a chain's ports.
func specsOf(p *plan.Plan) map[string]steer.Spec {
	all := map[string]steer.Spec{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(steer.Spec); is {
			all[s.Device] = s
		}
	}
	return all
}

// atOnce tells whether no flow may stay on its path.
func (w *work) atOnce(p *plan.Plan) bool { return !stays(p) || w.why(p) != "" }

// why no flow may stay on its path though it is to; "" where it may.
func (w *work) why(p *plan.Plan) string {
	switch {
	case w.unlike:
		return "an edit was begun before that changes inline functions where namespaces change, and came to no end"
	case !w.alike && w.bygone == nil && w.passesChange(p):
		return "inline functions change where namespaces do, and flows cannot be led past that"
	case w.unwatches(p):
		return "no function is watched any more"
	case w.relabels:
		return "marks lead otherwise by branches"
	}
	return ""
}

// tellAtOnce notes that flows which are under way go the new path at once, where that was not wanted.
func (w *work) tellAtOnce(p *plan.Plan, t *steer.Turn) {
	led := t.Led || t.Moved > 0 && w.why(p) != ""
	if w.dry {
		led = w.why(p) != "" && (w.stayed || slices.ContainsFunc(w.done, steer.LeadsElsewhere))
	}
	if led && stays(p) {
		w.leftAtOnce = cmp.Or(w.why(p), "none can stay at the ports that are turned (\"At once\" in docs/steering.md)")
	}
}

// moveOlder has flows that stay since an earlier change go the newest path, where none may stay after this one: it may
// turn no port.
func (w *work) moveOlder(p *plan.Plan, t *steer.Turn) error {
	if w.dry || !t.AtOnce || !w.stayed {
		return nil
	}
	return w.inside(namespace.Name(p.Chain, plan.WiringNode), func(h *netns.Handle) (err error) {
		t.Moved, err = steer.ForgetOlder(resource.Alone(h, p.Chain))
		return err
	})
}

// stays tells whether flows of a chain are to stay on their path.
func stays(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Resources, func(r resource.Resource) bool {
		s, is := r.Spec.(steer.Spec)
		return is && s.Stay != nil
	})
}

// unwatches tells whether functions were watched, and none is any more: nobody would notice that one fails by which
// flows stay.
func (w *work) unwatches(p *plan.Plan) bool {
	return w.watched && !watches(p)
}

// watches tells whether functions of a plan are watched over.
func watches(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Resources, func(r resource.Resource) bool { return r.Kind == health.KindName })
}

// passesChange tells whether inline functions come, go, move or are replaced by this change: packets meet them
// whatever path they go, so that on an older one they would miss a function, or meet it twice, but where all meet them alike.
func (w *work) passesChange(p *plan.Plan) bool {
	between := func(c resource.Change) bool { return c.Kind == pass.KindName && c.Namespace == p.Between() }
	return slices.ContainsFunc(w.done, between) || slices.ContainsFunc(w.later, between)
}

// stay finds out which flows go by older versions of the path, and has all packets go the newest if there are none,
// or none is to.
func (w *work) stay(ctx context.Context, p *plan.Plan) error {
	own := namespace.Name(p.Chain, plan.WiringNode)
	turned := slices.ContainsFunc(w.done, func(c resource.Change) bool { return c.Kind == steer.KindName })
	if w.dry && !netns.Exists(own) || !w.stayed && !turned {
		return nil
	}
	h, err := w.open(own)
	if err != nil {
		return fmt.Errorf("look at the flows of the forwarder: %w", err)
	}
	defer w.shut(h)
	at := resource.Alone(h, p.Chain)
	if !w.dry {
		if older, err := steer.ForgetLost(at); err != nil || !older {
			return err
		}
	}
	s, err := steer.StayingOn(at)
	if err != nil || s == nil {
		return err
	}
	if w.dry {
		w.staying = s.Flows
		return nil
	}
	if s.Census > 0 {
		if _, err := pause(ctx, s.Census); err != nil {
			return err
		}
		if s, err = steer.StayingOn(at); err != nil || s == nil {
			return err
		}
	}
	if s.Flows > 0 && !w.move && !w.atOnce(p) {
		w.staying = s.Flows
		return nil
	}
	w.moved += s.Flows
	return steer.Unite(at)
}
