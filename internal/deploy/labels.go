package deploy

import (
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/label"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// labelsTurn tells which labels are others from this change on, by the ports where packets come in that bear them. It is false where
// ports cannot tell by a new label where one led that a packet bore before: no flow stays then.
func (w *work) labelsTurn(p *plan.Plan) (by map[string][]steer.Label, known bool, err error) {
	by = map[string][]steer.Label{}
	for _, c := range w.labels {
		if w.isFresh(c.Namespace) {
			continue // no flow came from there before
		}
		var before, after []label.Rule
		err := w.inside(c.Namespace, func(h *netns.Handle) (err error) {
			before, known, err = label.Known(resource.Alone(h, w.owner), c.Key)
			return err
		})
		if err != nil || !known {
			return nil, false, err
		}
		if s, is := c.Spec.(label.Spec); is && c.Op != resource.Delete {
			after = s.Rules
		}
		turned, is := label.TurnedBy(before, after)
		if !is {
			return nil, false, nil
		}
		port := portOf(p, c.Namespace, c.Key)
		for _, l := range turned {
			by[port] = append(by[port], steer.Label(l))
		}
	}
	return by, true, nil
}

// portOf a function's interface is the forwarder's, at the other end of the pair.
func portOf(p *plan.Plan, namespace, device string) string {
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is && s.A.Namespace == namespace && s.A.Device == device {
			return s.B.Device
		}
	}
	return ""
}
