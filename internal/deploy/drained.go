package deploy

import (
	"context"
	"fmt"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/steer"
)

const (
	// drained is a node out of which nothing came for so long, and as many times longer as who waits was
	// woken late: on a machine that is so busy, packets wait for their turn as well,
	drained, lately = 250 * time.Millisecond, 4
	// and longest is how long that is waited for. A program may go on sending by itself.
	longest = 10 * time.Second
	// look at the counters so often.
	look = 10 * time.Millisecond
)

// drain waits until nothing comes any more from nodes that are no longer in the plan.
func (w *work) drain(ctx context.Context, p *plan.Plan) error {
	own := namespace.Name(p.Chain, plan.WiringNode)
	h, err := netns.Open(own)
	if err != nil {
		return fmt.Errorf("look at the ports of the forwarder: %w", err)
	}
	defer h.Close()
	last, since, ends, late := uint64(0), time.Now(), time.Now().Add(longest), time.Duration(0)
	for {
		n, left, err := cameFrom(resource.At(h, p.Chain), w.ports)
		if err != nil || !left {
			return err
		}
		if n != last {
			last, since = n, time.Now()
		}
		if idleSince(since, late) || time.Now().After(ends) { // the latter where something comes all the time
			return nil
		}
		woken, err := pause(ctx, look)
		if err != nil {
			return err
		}
		late = max(late, woken)
	}
}

// idleSince tells whether nothing came for long enough, where who waits was woken so late at most.
func idleSince(last time.Time, late time.Duration) bool {
	return time.Since(last) >= min(drained+lately*late, longest)
}

// pause for a while, and tell how late who waits was woken.
func pause(ctx context.Context, while time.Duration) (late time.Duration, err error) {
	slept := time.Now()
	select {
	case <-ctx.Done():
		return 0, Interrupted(ctx.Err())
	case <-time.After(while):
		return time.Since(slept) - while, nil
	}
}

// cameFrom counts what came in at ports that are not wanted, if there are any.
func cameFrom(at resource.Place, wanted map[string]bool) (packets uint64, any bool, err error) {
	counted, err := steer.Count(at)
	for port, c := range counted {
		if !wanted[port] {
			packets, any = packets+c.Packets, true
		}
	}
	return packets, any, err
}
