package deploy

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// Where functions without a namespace change at ports that an edit turns, flows that stay are led past what is there into pairs of interfaces, at
// whose other end those are that they met before. This is done before anything else is changed, and for all flows; new ones go by what is at
// the ports when all of it has been: only then, and before new flows go there, is what was at the ports taken away. Who is killed in between leaves
// all on the path that was, and the next goes on from there; whoever has new flows go by the ports meanwhile has them come past nothing. The pairs
// go when no flow stays any more.

// bygone is what flows that stay are led past, and how.
type bygone struct {
	plan.Bygone
	asides []steer.Aside
	// out are the other ends of pairs, by the ports past which they lead.
	out map[string]string
}

// past tells whether packets are led past what is at a port.
func (b *bygone) past(port string) bool { return b != nil && slices.Contains(b.Ports, port) }

// joined is a plan in which passes that come in the place of others at other ports are one with those.
func (b *bygone) joined(p *plan.Plan) *plan.Plan {
	if b == nil || len(b.Joins) == 0 {
		return p
	}
	one := *p
	one.Resources = slices.Clone(p.Resources)
	for i, r := range one.Resources {
		s, is := r.Spec.(pass.Spec)
		if !is || r.Namespace != p.Between() {
			continue
		}
		if from := b.from(s); len(from) > 0 {
			s.Beside = append(slices.Clone(s.Beside), from...)
			one.Resources[i].Spec = s
		}
	}
	return &one
}

// from are the ports whose passes one is, also where it is at others besides.
func (b *bygone) from(s pass.Spec) (all []string) {
	for _, port := range append([]string{s.Device}, s.Beside...) {
		from, joins := b.Joins[port]
		if out := b.out[from]; out != "" {
			from = out // which is as it was
		}
		if joins && !slices.Contains(all, from) {
			all = append(all, from)
		}
	}
	return all
}

// lookBack finds out whether flows that stay can be led so, and how.
func (w *work) lookBack(at *opened, p *plan.Plan, m plan.Met) error {
	if !stays(p) || w.unwatches(p) || !byVersions(p) {
		return nil
	}
	place, err := at.at()
	if err != nil {
		return err
	}
	side, err := sides(place, p)
	if err != nil {
		return err
	}
	back, can := m.Bygone(side)
	if !can {
		return nil
	}
	if shares, err := sharesAddress(place, p); err != nil || shares {
		return err
	}
	asides, can, err := steer.Asides(place, back.Ports, back.Translating)
	if err != nil || !can {
		return err
	}
	w.bygone = &bygone{back, asides, map[string]string{}}
	for i := range asides {
		if m.Was[asides[i].Port].Steps != "" { // else flows are led on at once
			w.bygone.out[asides[i].Port] = ""
		}
	}
	return nil
}

// sharesAddress tells whether a translator that comes gives connections an address that one does which is there and is another: neither knows the
// ports that the other has given.
func sharesAddress(at resource.Place, p *plan.Plan) (bool, error) {
	there, err := pass.NATAddresses(at)
	if err != nil {
		return false, err
	}
	for _, r := range p.Resources {
		s, is := r.Spec.(pass.Spec)
		if !is || r.Namespace != p.Between() {
			continue
		}
		for _, n := range s.NATs {
			for whose, had := range there {
				if whose != pass.WhoseNAT(n.Name) && slices.ContainsFunc(n.Addresses(), func(a netip.Addr) bool { return slices.Contains(had, a) }) {
					return true, nil
				}
			}
		}
	}
	return false, nil
}

// byVersions tells whether flows that stay do so by the version of the path that they began on at all ports, and not by paths.
func byVersions(p *plan.Plan) bool {
	return !slices.ContainsFunc(p.Resources, func(r resource.Resource) bool {
		s, is := r.Spec.(steer.Spec)
		return is && (s.Stay == nil || s.Paths != nil)
	})
}

// The ways that packets go which come in at a port.
const (
	eastwards = 1
	westwards = 2
)

// sides tell which of them they go, by ports. Of one that is no longer wanted that is known by where it leads.
func sides(at resource.Place, p *plan.Plan) (func(port string) int, error) {
	order := orderOf(p)
	way := func(port string) int {
		place, wanted := order[port]
		switch {
		case !wanted:
			return 0
		case place > 0:
			return westwards
		}
		return eastwards
	}
	leads, err := steer.LeadsTo(at)
	return func(port string) int {
		if is := way(port); is != 0 {
			return is
		}
		for _, to := range leads[port] {
			switch way(to) { // the side of the node that packets come in at
			case westwards:
				return eastwards
			case eastwards:
				return westwards
			}
		}
		return 0
	}, err
}

// leadAside all flows at the ports where that is to be.
func (w *work) leadAside(ctx context.Context, p *plan.Plan) error {
	b, own := w.bygone, namespace.Name(p.Chain, plan.WiringNode)
	if w.dry || len(b.asides) == 0 && len(b.Noted) == 0 {
		return nil
	}
	h, err := w.open(own)
	if err != nil {
		return fmt.Errorf("lead flows past the ports of the forwarder: %w", err)
	}
	defer w.shut(h)
	for i := range b.asides {
		if _, met := b.out[b.asides[i].Port]; !met {
			continue
		}
		if err := w.pair(h, p, &b.asides[i]); err != nil {
			return fmt.Errorf("lead flows past port %s of the forwarder: %w", b.asides[i].Port, err)
		}
		b.out[b.asides[i].Port] = b.asides[i].Out
	}
	if err := b.awaitCarrier(ctx, resource.Alone(h, p.Chain)); err != nil {
		return err
	}
	w.stayed = true
	return steer.Lead(resource.Alone(h, p.Chain), b.asides, b.Noted, stayOf(p), &steer.Turn{})
}

// awaitCarrier of the pairs that were made: the kernel drops what is sent by one until it has noticed that its other end is up.
func (b *bygone) awaitCarrier(ctx context.Context, at resource.Place) error {
	ends := time.Now().Add(carried)
	for _, a := range b.asides {
		err := awaitCarrier(ctx, ends, func() (idle bool, err error) {
			if a.Into == "" {
				return false, nil
			}
			l, err := at.Notice(a.Into)
			return err == nil && resource.Down(l), err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// begin to have new flows go by what is at the ports where all are led aside, unless the turn of others has.
func (w *work) begin(p *plan.Plan, t *steer.Turn) error {
	if w.bygone == nil || w.dry {
		return nil
	}
	return w.inside(namespace.Name(p.Chain, plan.WiringNode), func(h *netns.Handle) error {
		return steer.Begin(resource.Alone(h, p.Chain), stayOf(p), t)
	})
}

// stayOf a chain's ports.
func stayOf(p *plan.Plan) (stay steer.Stay) {
	for _, r := range p.Resources {
		if s, is := r.Spec.(steer.Spec); is && s.Stay != nil {
			return *s.Stay
		}
	}
	return stay
}

// pair makes the two ends that flows are led by past a port, with what they meet there.
func (w *work) pair(h *netns.Handle, p *plan.Plan, a *steer.Aside) error {
	place := resource.Alone(h, p.Chain)
	mine, err := place.Mine()
	if err != nil {
		return err
	}
	taken := map[string]bool{}
	for _, name := range mine {
		taken[name] = true
	}
	for n := 1; a.Into == "" || taken[a.Into]; n++ {
		a.Into = fmt.Sprintf("%s%d", steer.Bygone, n)
		a.Out = steer.OutOf(a.Into)
	}
	end := func(device string) link.End {
		return link.End{Node: plan.WiringNode, Namespace: h.Ref, Device: device, MAC: link.MAC(p.Chain, plan.WiringNode, device)}
	}
	spec := link.Spec{Owner: p.Chain, A: end(a.Into), B: end(a.Out)}
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is && (s.B.Device == a.Port || s.B.Device == p.Like()[a.Port]) {
			spec.MTU, spec.Holds = s.MTU, s.Holds
		}
	}
	made := resource.Change{Op: resource.Create, Kind: link.KindName, Namespace: h.Ref, Key: a.Into, Spec: spec}
	if err := (link.Kind{}).Apply(place, []resource.Change{made}); err != nil {
		return err
	}
	return pass.Also(resource.Alone(h, p.Chain), a.Port, a.Out)
}

// dropBygone takes pairs away into which no flow is led any more, when nothing comes out of them.
func (w *work) dropBygone(ctx context.Context, p *plan.Plan) error {
	own := namespace.Name(p.Chain, plan.WiringNode)
	if w.dry || w.isFresh(own) {
		return nil
	}
	if known, is := w.sight.of(own, link.Kind{}); is && w.bygone == nil && !slices.ContainsFunc(known, func(o resource.Observed) bool { return strings.HasPrefix(o.Key, steer.Bygone) }) {
		return nil
	}
	h, err := w.open(own)
	if err != nil {
		return fmt.Errorf("look at the forwarder: %w", err)
	}
	defer w.shut(h)
	place := resource.Alone(h, p.Chain)
	pairs, err := steer.Unled(place)
	if err != nil || len(pairs) == 0 {
		return err
	}
	if w.remains() { // flows come out of others
		pairs, err = quiet(ctx, place, pairs)
	} else {
		err = w.drain(ctx, p)
	}
	if err != nil {
		return err
	}
	var gone []resource.Change
	for _, into := range pairs {
		gone = append(gone, deletion(link.KindName, own, into))
	}
	return (link.Kind{}).Apply(place, gone)
}

// quiet are those pairs out of which nothing comes for as long as is waited for nodes.
func quiet(ctx context.Context, place resource.Place, pairs []string) ([]string, error) {
	before, err := steer.Count(place)
	if err != nil {
		return nil, err
	}
	for since, late := time.Now(), time.Duration(0); !idleSince(since, late); {
		woken, err := pause(ctx, look)
		if err != nil {
			return nil, err
		}
		late = max(late, woken)
	}
	after, err := steer.Count(place)
	return slices.DeleteFunc(pairs, func(into string) bool {
		out := steer.OutOf(into)
		return before[out].Packets != after[out].Packets
	}), err
}
