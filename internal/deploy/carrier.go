package deploy

import (
	"context"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
)

// carried is how long packets are not sent to nodes that were just made, at most, while the kernel has
// not noticed that their links are up: until then it may drop what they send on.
const carried = 10 * time.Second

// awaitCarrier of the nodes that were made in this pass.
func (w *work) awaitCarrier(ctx context.Context, p *plan.Plan) error {
	ends := time.Now().Add(carried)
	if w.dry {
		return nil
	}
	for _, n := range p.Nodes {
		if !n.Made || !w.isFresh(n.Namespace) {
			continue
		}
		err := awaitCarrier(ctx, ends, func() (bool, error) {
			idle, err := WithoutCarrier(p.Chain, n.Namespace)
			return idle != "", err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// awaitCarrier until nothing is idle, or it is too late.
func awaitCarrier(ctx context.Context, ends time.Time, idle func() (bool, error)) error {
	for {
		if is, err := idle(); err != nil || !is || time.Now().After(ends) {
			return err
		}
		if _, err := pause(ctx, 2*time.Millisecond); err != nil {
			return err
		}
	}
}

// WithoutCarrier names an interface of the owner in a namespace that does not carry packets yet, "" if all do.
func WithoutCarrier(owner, namespace string) (string, error) {
	h, err := netns.Open(namespace)
	if err != nil {
		return "", err
	}
	defer h.Close()
	at := resource.At(h, owner)
	links, err := at.Links()
	if err != nil {
		return "", err
	}
	for _, l := range links {
		a := l.Attrs()
		if resource.Owned(a.Alias, owner) && resource.Down(l) {
			l, err := at.Notice(a.Name)
			if err != nil {
				return "", err
			}
			if resource.Down(l) {
				return a.Name, nil
			}
		}
	}
	return "", nil
}
