package deploy

import (
	"errors"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/cni"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/wiring"
)

// Attached are the interfaces that others made at a chain's ends, by namespace, as they are; those that are not there are
// absent. Where the first end is the machine, or a namespace that is none of the network's, that is the interface by which it reaches the second.
func Attached(chain api.Chain, machine bool) (map[string]plan.Attached, error) {
	all := map[string]plan.Attached{}
	first, second := chain.Spec.Endpoints[0], chain.Spec.Endpoints[1]
	for _, e := range chain.Spec.Endpoints {
		if machine && e.Name == first.Name {
			continue
		}
		name := namespace.Name(chain.Metadata.Name, e.Name)
		err := inside(name, func(h *netns.Handle) error {
			l, err := h.LinkByName(wiring.Attached)
			if errors.As(err, &netlink.LinkNotFoundError{}) {
				return nil
			}
			if err != nil {
				return err
			}
			is, err := attached(h, l)
			all[name] = is
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	server, is := all[namespace.Name(chain.Metadata.Name, second.Name)]
	if !machine || !is {
		return all, nil
	}
	return all, inside(first.Namespace, func(h *netns.Handle) error {
		way, found, err := towards(h, server)
		if found {
			all[first.Namespace] = way
		}
		return err
	})
}

// towards is the interface by which an end reaches another, with the addresses that it has for that: as the kernel finds routes.
func towards(h *netns.Handle, other plan.Attached) (way plan.Attached, found bool, err error) {
	way.Addresses = []netip.Addr{}
	device := 0
	for _, a := range append(slices.Clone(other.Addresses), other.Gateway) {
		routes, err := h.RouteGet(a.AsSlice())
		if !a.IsValid() || err != nil || len(routes) == 0 || found && routes[0].LinkIndex != device {
			continue
		}
		if device = routes[0].LinkIndex; !found {
			l, err := h.LinkByIndex(device)
			if err != nil {
				return way, false, err
			}
			way.Device, way.MAC, way.MTU, found = l.Attrs().Name, l.Attrs().HardwareAddr.String(), l.Attrs().MTU, true
		}
		from, told := netip.AddrFromSlice(routes[0].Src)
		if from = from.Unmap(); told && !slices.Contains(way.Addresses, from) {
			way.Addresses = append(way.Addresses, from)
		}
	}
	return way, found, nil
}

func attached(h *netns.Handle, l netlink.Link) (is plan.Attached, err error) {
	list, err := h.AddrList(l, netlink.FAMILY_ALL)
	if err != nil {
		return is, err
	}
	is.Device, is.MAC, is.MTU, is.Addresses = l.Attrs().Name, l.Attrs().HardwareAddr.String(), l.Attrs().MTU, []netip.Addr{}
	for _, a := range list {
		if ip, ok := netip.AddrFromSlice(a.IP); ok && ip.Unmap().IsGlobalUnicast() {
			is.Addresses = append(is.Addresses, ip.Unmap())
		}
	}
	// As a plan has them: of IPv4 first.
	slices.SortStableFunc(is.Addresses, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
	routes, err := h.RouteList(l, netlink.FAMILY_V4)
	for _, r := range routes {
		if via, told := netip.AddrFromSlice(r.Gw); told && (r.Dst == nil || r.Dst.IP.IsUnspecified()) {
			is.Gateway = via.Unmap()
		}
	}
	return is, err
}

// detach what the plan has attached otherwise, or not at all, before anything is made that could be called the same.
func (w *work) detach(p *plan.Plan) error {
	all, err := cni.All(w.owner)
	if err != nil {
		return err
	}
	for _, s := range all {
		id := resource.ID(cni.KindName, s.Namespace, s.Device)
		wanted := slices.ContainsFunc(p.Resources, func(r resource.Resource) bool { return r.ID == id })
		if wanted || !slices.Contains(p.Namespaces(), s.Namespace) { // those of namespaces that go are detached with them
			continue
		}
		change := deletion(cni.KindName, s.Namespace, s.Device)
		w.record(change)
		if w.dry {
			continue
		}
		if err := cni.Detach(w.owner, s.Namespace); err != nil {
			return err
		}
		w.sight.forget(s.Namespace, cni.Kind{}, []resource.Change{change})
	}
	return nil
}
