package run

import (
	"context"
	"fmt"
	"time"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
)

// carrierWithin is how long the kernel may take to notice that both ends of a link
// are up. It does so in work that it puts off, unless it is asked, and until then may drop
// what is sent.
const carrierWithin = 10 * time.Second

// waitCarrier waits until every interface of a plan's own carries packets.
func waitCarrier(ctx context.Context, p *plan.Plan) error {
	deadline := time.After(carrierWithin)
	for _, ns := range p.Namespaces() {
		for {
			idle, err := withoutCarrier(p.Chain, ns)
			if err != nil {
				return err
			}
			if idle == "" {
				break
			}
			select {
			case <-ctx.Done():
				return deploy.Interrupted(ctx.Err())
			case <-deadline:
				return fmt.Errorf("interface %s of %s carries nothing after %v; `nfchain show %s` tells what is not as planned", idle, nodeOf(p, ns), carrierWithin, p.Chain)
			case <-time.After(2 * time.Millisecond):
			}
		}
	}
	return nil
}

// withoutCarrier names an interface of the owner that does not carry packets yet.
func withoutCarrier(owner, namespace string) (string, error) {
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
		if resource.Owned(a.Alias, owner) && noCarrier(l) {
			l, err := at.Notice(a.Name)
			if err != nil {
				return "", err
			}
			if noCarrier(l) {
				return a.Name, nil
			}
		}
	}
	return "", nil
}

func noCarrier(l netlink.Link) bool {
	state := l.Attrs().OperState
	return state == netlink.OperDown || state == netlink.OperLowerLayerDown
}
