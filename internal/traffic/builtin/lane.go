package builtin

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/bpf/sink"
	"nfchain.dev/nfchain/bpf/source"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// lane is one direction of a trial: a source at one end and a sink at the other.
type lane struct {
	ends   ends
	load   load
	out    netlink.Link
	sender *sender
	meter  receiving
	// refused by the far side of the device while the lane ran.
	refused uint64
	// cut tells that packets still came when the wait for them ended.
	cut bool
	// waited for packets after the last was sent.
	waited time.Duration
}

// outcome is what a lane counted, raw.
type outcome struct {
	turn
	Progress source.ProgramProgress
	// Unsent were due before the load's end, and not sent in time.
	Unsent   uint64
	Lateness [trial.Buckets]uint64
	Count    sink.ProgramCount
	Order    sink.ProgramOrder
	// ByFlow is how many first copies came of each flow; nil where there is one.
	ByFlow []uint64
	// Paced is whether packets were due at times of their own.
	Paced bool
	// Strangers are packets at the sink that were not ours.
	Strangers uint64
	// Shared are packets that the sink took on the source's own core.
	Shared uint64
	// Refused are packets that the far side of the first interface had no room for.
	Refused uint64
	// Unread are packets that came and that the sink had no room for.
	Unread uint64
	// Slow is whether the sink is a packet socket.
	Slow bool
	// Native is whether the sink took packets in the driver.
	Native bool
	// Cut is whether packets still came when the wait for them ended.
	Cut bool
	// Load that this is of, with the steps that SentIn counts by, and how long packets
	// were waited for after it.
	Load   load
	SentIn [moments]uint64
	Waited time.Duration
}

// ends of a lane, by the namespaces' references, the address where the far one is
// reached, and one that it has.
type ends struct {
	from, to        string
	address, server netip.Addr
	// spare addresses that the path carries to the far end as well, and to the near one.
	spare, spareBack []netip.Addr
}

func endsOf(e traffic.Ends) ends {
	return ends{from: e.ClientNetns, to: e.ServerNetns, address: e.Address, server: e.Own()}
}

// back is the lane the other way: to the address that packets come from.
func (a *lane) back() ends {
	return ends{from: a.ends.to, to: a.ends.from, address: a.load.from, server: a.load.from, spare: a.ends.spareBack, spareBack: a.ends.spare}
}

// newLane finds the way and attaches the sink, so that it is there before what sends to it,
// and takes what another lane sends the other way.
func newLane(e ends, l load) (a *lane, err error) {
	to, err := netns.Open(e.to)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	in, err := traffic.Entrance(to, e.server)
	if err != nil {
		return nil, err
	}
	from, err := netns.Open(e.from)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	out, err := traffic.ExitTo(from, e.address, "")
	if err != nil {
		return nil, err
	}
	l.fromMAC, l.toMAC, l.from, l.to = out.FromMAC, out.ToMAC, out.From, e.address
	if err := l.spread(netip.Addr{}, e.spare); err != nil {
		return nil, err
	}
	l.netns, l.device = e.from, out.Device.Attrs().Index
	a = &lane{ends: e, load: l, out: out.Device}
	a.meter, err = newReceiver(meterOptions{ports: l.targetPorts(), netns: e.to, device: in, signature: l.signature, flows: l.flows, bare: l.bare, steps: l.steps})
	return a, err
}

// ready the source. All sinks are attached by then.
func (a *lane) ready() error {
	from, err := netns.Open(a.ends.from)
	if err != nil {
		return err
	}
	defer from.Close()
	a.sender, err = newSender(from, a.out, a.load, a.ends.to)
	return err
}

func (a *lane) close() {
	if a == nil {
		return
	}
	a.sender.close()
	if a.meter != nil {
		a.meter.close()
	}
}

// run sends the load and waits for what is under way.
func (a *lane) run(ctx context.Context) error {
	before, err := dropped(a.ends.from, a.out)
	if err != nil {
		return err
	}
	if err := a.begin(); err != nil {
		return err
	}
	if err := a.sender.run(ctx); err != nil {
		return err
	}
	after, err := dropped(a.ends.from, a.out)
	if err != nil {
		return err
	}
	a.refused = after - before
	return a.wait(ctx)
}

// begin has source and sink count from one time, a little ahead, at which the load begins.
func (a *lane) begin() error {
	a.load.origin = clock() + uint64(headStart)
	return errors.Join(a.meter.begin(a.load.origin), a.sender.begin(a.load.origin))
}

// wait for what is under way.
func (a *lane) wait(ctx context.Context) error {
	p, err := a.sender.progress()
	if err != nil {
		return err
	}
	d := drain{sent: p.Sent, limit: a.load.drain, held: a.load.held, bare: a.load.bare}
	tick := time.NewTicker(drainStep)
	defer tick.Stop()
	for began := time.Now(); ; {
		c, err := a.meter.soFar()
		if now := time.Since(began); err != nil || d.over(now, c) {
			a.waited = now
			a.cut = err == nil && !a.load.bare && d.cut(now, c)
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// dropped is how many packets a device could not hand on.
func dropped(ref string, device netlink.Link) (uint64, error) {
	h, err := netns.Open(ref)
	if err != nil {
		return 0, err
	}
	defer h.Close()
	l, err := h.LinkByIndex(device.Attrs().Index)
	if err != nil {
		return 0, fmt.Errorf("the interface of the generator: %w", err)
	}
	return l.Attrs().Statistics.TxDropped, nil
}

// outcome of a lane that has run.
func (a *lane) outcome() (o outcome, err error) {
	o.Paced, o.Cut, o.turn, o.Refused = a.load.pps > 0, a.cut, a.sender.had(), a.refused
	if o.Progress, err = a.sender.progress(); err != nil {
		return o, err
	}
	o.Unsent = a.load.unsent(&o.Progress)
	o.Load, o.Waited = a.load, a.waited
	if o.SentIn, err = a.sender.bySteps(); err != nil {
		return o, err
	}
	if o.Lateness, err = a.sender.lateness(); err != nil {
		return o, err
	}
	return o, a.meter.outcome(&o, a.load.core)
}

// outcome of what came, and of how much of it on a core.
func (m *meter) outcome(o *outcome, core int) (err error) {
	o.Native = m.native
	if o.Count, err = m.count(); err != nil {
		return err
	}
	order, err := m.order()
	if err != nil {
		return err
	}
	o.Order = *order
	if o.ByFlow, err = m.byFlow(); err != nil {
		return err
	}
	if core >= 0 {
		if o.Shared, err = m.on(core); err != nil {
			return err
		}
	}
	o.Strangers, err = m.strangers()
	return err
}
