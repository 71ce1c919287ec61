package run

import (
	"context"
	"fmt"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/plan"
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
			idle, err := deploy.WithoutCarrier(p.Chain, ns)
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
