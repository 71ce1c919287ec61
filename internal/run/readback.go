package run

import (
	"fmt"
	"slices"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/ethtool"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/macvlan"
	"nfchain.dev/nfchain/internal/resource/tuning"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/wiring"
)

// readback collects how a chain's interfaces and namespaces are set; interfaces
// that are set alike come together, because a chain of a thousand has two thousand.
type readback struct {
	groups   []trial.InterfaceSetup
	settings map[string][]string
}

// namespace reads the chain's interfaces of one namespace.
func (b *readback) namespace(p *plan.Plan, ref string) error {
	h, err := netns.Open(ref)
	if err != nil {
		return err
	}
	defer h.Close()
	drivers, err := ethtool.Open(ref)
	if err != nil {
		return err
	}
	defer drivers.Close()
	links, err := resource.At(h, p.Chain).Links()
	if err != nil {
		return err
	}
	qdiscs, err := qdiscsOf(h)
	if err != nil {
		return err
	}
	mine := slices.DeleteFunc(slices.Clone(links), func(l netlink.Link) bool {
		return !resource.Owned(l.Attrs().Alias, p.Chain) && !lends(p, ref, l.Attrs().Name)
	})
	knobs := tuning.Served(resource.At(h, p.Chain), mine)
	for _, l := range mine {
		s := interfaceSetup(l, drivers)
		s.Qdiscs, s.Knobs = qdiscs[l.Attrs().Index], knobs[l.Attrs().Index]
		b.add(nodeOf(p, ref)+":"+l.Attrs().Name, s)
	}
	if len(mine) == 0 || ref == netns.Host && !p.Bare() && !p.OnMachine() {
		return nil
	}
	return b.readSettings(h)
}

// lends tells whether an interface is one that is not the chain's and that its packets go
// through: it has devices of the chain over it, it is the loopback of a bare wiring, or
// others made it for an end.
func lends(p *plan.Plan, ref, device string) bool {
	switch {
	case p.Within():
		return device == wiring.Loopback
	case p.Bare():
		return ref == netns.Host && device == wiring.Loopback
	case p.Foreign():
		return slices.ContainsFunc(p.Nodes, func(n plan.Node) bool { return n.Namespace == ref && attachedTo(n, device) })
	}
	return slices.ContainsFunc(p.Resources, func(r resource.Resource) bool {
		s, is := r.Spec.(macvlan.Spec)
		return is && s.Parent == macvlan.Parent{Namespace: ref, Device: device}
	})
}

// attachedTo tells whether an interface is the one that others made for an end. An end that is this machine has many more.
func attachedTo(n plan.Node, device string) bool {
	port := n.East
	if port == nil {
		port = n.West
	}
	return port != nil && device == port.Device
}

// interfaceSetup is what the kernel and the driver tell of an interface.
func interfaceSetup(l netlink.Link, drivers *ethtool.Socket) trial.InterfaceSetup {
	a := l.Attrs()
	s := trial.InterfaceSetup{
		Type: l.Type(), MTU: a.MTU, QueueLen: a.TxQLen, RxQueues: a.NumRxQueues, TxQueues: a.NumTxQueues,
		GSOMaxBytes: a.GSOMaxSize, GSOMaxSegments: a.GSOMaxSegs, GSOIPv4MaxBytes: a.GSOIPv4MaxSize,
		GROMaxBytes: a.GROMaxSize, GROIPv4MaxBytes: a.GROIPv4MaxSize,
	}
	// A driver that does not answer leaves its fields absent.
	s.Driver, _ = drivers.Driver(a.Name)
	features, _ := drivers.Features(a.Name)
	for _, f := range features {
		switch {
		case f.On:
			s.OffloadsOn = append(s.OffloadsOn, f.Name)
		case !f.Fixed:
			s.OffloadsOff = append(s.OffloadsOff, f.Name)
		}
	}
	return s
}

// qdiscsOf a namespace by the index of their interface, as "htb root".
func qdiscsOf(h *netns.Handle) (map[int][]string, error) {
	list, err := h.QdiscList(nil)
	if err != nil {
		return nil, fmt.Errorf("list queueing disciplines of namespace %q: %w", h.Ref, err)
	}
	found := map[int][]string{}
	for _, q := range list {
		a := q.Attrs()
		found[a.LinkIndex] = append(found[a.LinkIndex], q.Type()+" "+netlink.HandleStr(a.Parent))
	}
	return found, nil
}

// add puts an interface with those that are set alike.
func (b *readback) add(name string, s trial.InterfaceSetup) {
	for i, known := range b.groups {
		known.Interfaces = nil
		if alike(known, s) {
			b.groups[i].Interfaces = append(b.groups[i].Interfaces, name)
			return
		}
	}
	s.Interfaces = trial.List[string]{name}
	b.groups = append(b.groups, s)
}
