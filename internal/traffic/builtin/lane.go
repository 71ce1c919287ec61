package builtin

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/bpf/sink"
	"nfchain.dev/nfchain/bpf/source"
	"nfchain.dev/nfchain/internal/netns"
)

// lane is one direction of a trial: a source at one end and a sink at the other.
type lane struct {
	generator *generator
	meter     *meter
	peer      *opened
}

// outcome is what a lane counted, raw.
type outcome struct {
	// Duration of the load, ns.
	Duration uint64
	Progress source.ProgramProgress
	Lateness [buckets]uint64
	Count    sink.ProgramCount
	Order    sink.ProgramOrder
	// Paced is whether packets were due at times of their own.
	Paced bool
	// Strangers are packets at the sink that were not ours.
	Strangers uint64
	// Native is whether the sink took packets in the driver.
	Native bool
}

// ends of a lane, by the namespaces' references.
type ends struct {
	from, to string
	address  netip.Addr
}

// openLane finds the way, attaches the sink and readies the source.
func openLane(e ends, l load, bare bool) (*lane, error) {
	from, err := netns.Open(e.from)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := netns.Open(e.to)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	out, err := exitTo(from, e.address)
	if err != nil {
		return nil, err
	}
	in, err := entrance(to, e.address)
	if err != nil {
		return nil, err
	}
	l.netns, l.device = e.from, out.device.Attrs().Index
	l.headers = headers{fromMAC: out.fromMAC, toMAC: out.toMAC, from: out.from, to: e.address, vlan: l.vlan, signature: l.signature, stream: l.stream}
	l.bare = bare
	a := &lane{}
	if err := a.open(from, out.device, l, meterOptions{netns: e.to, device: in.Attrs().Index, signature: l.signature, streams: 1, bare: bare}); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *lane) open(from *netns.Handle, out netlink.Link, l load, o meterOptions) (err error) {
	if a.meter, err = newMeter(o); err != nil {
		return err
	}
	if out.Type() != "veth" {
		return fmt.Errorf("%s is a %s: the generator sends from a veth", out.Attrs().Name, out.Type())
	}
	if a.peer, err = openPeer(from, out); err != nil {
		return err
	}
	a.generator, err = newGenerator(l)
	return err
}

func (a *lane) close() {
	if a.generator != nil {
		a.generator.close()
	}
	a.peer.close()
	if a.meter != nil {
		a.meter.close()
	}
}

// How long packets that are under way after the load's end are waited for
// (RFC 2544 §23), and how long nothing must have come to say that none are.
const (
	drainLimit = 2 * time.Second
	drainStep  = 5 * time.Millisecond
)

// run sends the load and waits for what is under way.
func (a *lane) run(ctx context.Context) error {
	if err := a.generator.run(ctx); err != nil {
		return err
	}
	p, err := a.generator.progress()
	if err != nil {
		return err
	}
	deadline := time.NewTimer(drainLimit)
	defer deadline.Stop()
	tick := time.NewTicker(drainStep)
	defer tick.Stop()
	for {
		c, err := a.meter.count(0)
		if err != nil || c.Packets >= p.Sent {
			return err
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// outcome of a lane that has run.
func (a *lane) outcome() (o outcome, err error) {
	o.Paced, o.Duration, o.Native = a.generator.pps > 0, uint64(a.generator.duration), a.meter.native
	if o.Progress, err = a.generator.progress(); err != nil {
		return o, err
	}
	if o.Lateness, err = a.generator.lateness(); err != nil {
		return o, err
	}
	if o.Count, err = a.meter.count(0); err != nil {
		return o, err
	}
	order, err := a.meter.order(0)
	if err != nil {
		return o, err
	}
	o.Order = *order
	o.Strangers, err = a.meter.strangers()
	return o, err
}
