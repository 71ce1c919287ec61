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
// are up. It does so in work that it puts off, and until then drops what is sent.
const carrierWithin = 10 * time.Second

// waitCarrier waits until every interface of a plan's own carries packets.
func waitCarrier(ctx context.Context, p *plan.Plan) error {
	deadline := time.After(carrierWithin)
	for _, n := range p.Nodes {
		for {
			idle, err := withoutCarrier(p.Chain, n.Namespace)
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
				return fmt.Errorf("interface %s of %s carries nothing after %v; `nfchain show %s` tells what is not as planned", idle, n.Name, carrierWithin, p.Chain)
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
	links, err := resource.At(h, owner).Links()
	if err != nil {
		return "", err
	}
	for _, l := range links {
		state := l.Attrs().OperState
		if resource.Owned(l.Attrs().Alias, owner) && (state == netlink.OperDown || state == netlink.OperLowerLayerDown) {
			return l.Attrs().Name, nil
		}
	}
	return "", nil
}
