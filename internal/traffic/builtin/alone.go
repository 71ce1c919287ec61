package builtin

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// Offer is a load that is sent by itself, for a [Meter] elsewhere on this host to take.
type Offer struct {
	// Netns is a namespace reference, and Device the interface to send from.
	Netns, Device string
	// To is where to, and ToMAC the link-layer address of the next hop; without one the
	// kernel's neighbour table has it.
	To    netip.Addr
	ToMAC net.HardwareAddr
	// Targets are how many addresses, from To on, flows go to in turn that differ in their
	// addresses: a power of two, at most 256. 0 is one.
	Targets int
	// From is the source address; unset, the one that the kernel would take.
	From netip.Addr
	Port int
	// Condition says what is sent; without a duration the load ends with the context.
	Condition trial.Condition
	// ID tells loads apart: a meter takes those of its own.
	ID uint32
}

// Meter takes loads off an interface.
type Meter struct {
	Netns, Device string
	// Duration to measure; without one the context ends it.
	Duration time.Duration
	ID       uint32
}

// signatureOf loads with an ID.
func signatureOf(id uint32) uint32 { return 0x6e666368 ^ id*0x9e3779b1 }

// endless is the duration of a load that somebody ends, in nanoseconds.
const endless = time.Duration(math.MaxInt64 / 4)

// Send offers a load. A load that the context ends is no error.
func Send(ctx context.Context, o Offer) (traffic.Sample, error) {
	h, err := netns.Open(o.Netns)
	if err != nil {
		return traffic.Sample{}, err
	}
	defer h.Close()
	l, out, err := o.load(h)
	if err != nil {
		return traffic.Sample{}, err
	}
	s, err := newSender(h, out, l, o.Netns)
	if err != nil {
		return traffic.Sample{}, err
	}
	defer s.close()
	if err := s.run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return traffic.Sample{}, err
	}
	return s.sample(l)
}

// load that an offer is, and the device that it leaves by.
func (o Offer) load(h *netns.Handle) (load, netlink.Link, error) {
	out, err := o.exit(h)
	if err != nil {
		return load{}, nil, err
	}
	c := o.Condition
	l := load{
		headers: headers{fromMAC: out.FromMAC, toMAC: out.ToMAC, from: out.From, to: o.To, vlan: c.VLAN, signature: signatureOf(o.ID)},
		netns:   o.Netns, device: out.Device.Attrs().Index, port: o.Port,
	}
	if err = l.shaped(c); err == nil {
		err = l.spread(o.From, o.following())
	}
	return l, out.Device, err
}

// following are the addresses after the first that packets go to.
func (o Offer) following() (list []netip.Addr) {
	for a := o.To; len(list) < o.Targets-1; list = append(list, a) {
		a = a.Next()
	}
	return list
}

// CheckPort says what is wrong with the port that an offer goes to: flows that are more than there are ports to come from go to those after it, too.
func (o Offer) CheckPort() error {
	last := math.MaxUint16
	if varietyOf(o.Condition.FlowsBy).ports {
		last -= (o.Condition.Flows - 1) / flowsByPort
	}
	if o.Port < 1 || o.Port > last {
		return fmt.Errorf("%s can go to port 1 to %d, not %d", words.Plural(o.Condition.Flows, "flow"), last, o.Port)
	}
	return nil
}

// Check says what is wrong with an offer, besides its condition and its port.
func (o Offer) Check() error {
	switch v := varietyOf(o.Condition.FlowsBy); {
	case o.Targets == 0:
		return nil
	case o.Targets < 1 || o.Targets > maxTargets || powerBelow(o.Targets) != o.Targets:
		return fmt.Errorf("flows go to 1, 2, 4 … or %d addresses, not %d", maxTargets, o.Targets)
	case !v.addresses:
		return errors.New("flows that differ in their ports alone go to one address; have them differ in their addresses, or both")
	case o.Targets > o.Condition.Flows:
		return fmt.Errorf("%d flows cannot go to %d addresses", o.Condition.Flows, o.Targets)
	case uint64(low(o.To))+uint64(o.Targets) > 1<<32:
		return fmt.Errorf("%d addresses from %s on are not there", o.Targets, o.To)
	}
	return nil
}

func (o Offer) exit(h *netns.Handle) (e traffic.Exit, err error) {
	if o.ToMAC == nil || !o.From.IsValid() {
		if e, err = traffic.ExitTo(h, o.To, o.Device); err != nil {
			return e, err
		}
	} else if e.Device, err = traffic.Device(h, o.Device); err != nil {
		return e, err
	}
	e.FromMAC = e.Device.Attrs().HardwareAddr
	if o.ToMAC != nil {
		e.ToMAC = o.ToMAC
	}
	if o.From.IsValid() {
		e.From = o.From
	}
	if e.From.Is4() != o.To.Is4() {
		return e, fmt.Errorf("%s and %s are not of one IP version", e.From, o.To)
	}
	return e, nil
}

// sample of what was sent; nobody here knows what became of it.
func (s *sender) sample(l load) (none traffic.Sample, err error) {
	o := outcome{Paced: l.pps > 0, turn: s.had()}
	if o.Progress, err = s.progress(); err != nil {
		return none, err
	}
	o.Unsent = l.unsent(&o.Progress)
	if o.Lateness, err = s.lateness(); err != nil {
		return none, err
	}
	sent, err := sampleSent(o)
	if remark := s.way.remark(); remark != "" {
		sent.Warnings = append(sent.Warnings, remark)
	}
	return sent, err
}

// Receive measures what comes until the duration or the context ends.
func Receive(ctx context.Context, o Meter) (none traffic.Sample, err error) {
	h, err := netns.Open(o.Netns)
	if err != nil {
		return none, err
	}
	defer h.Close()
	l, err := traffic.Device(h, o.Device)
	if err != nil {
		return none, err
	}
	m, err := newReceiver(meterOptions{netns: o.Netns, device: l, signature: signatureOf(o.ID)})
	if err != nil {
		return none, err
	}
	defer m.close()
	if o.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Duration)
		defer cancel()
	}
	<-ctx.Done()
	var out outcome
	if err := m.outcome(&out, -1); err != nil {
		return none, err
	}
	return sampleReceived(out)
}
