package deploy

import (
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/adopted"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/route"
)

// Facts reads what a plan of the chain must know of this machine.
func Facts(chain api.Chain) (plan.Facts, error) {
	f := plan.Facts{Blocks: map[string][]netip.Prefix{}, Networks: map[string][]netip.Prefix{}}
	for _, e := range chain.Spec.Endpoints {
		if e.Interface == "" {
			continue
		}
		networks, err := adopted.Networks(chain.Metadata.Name, e.Interface)
		if err != nil {
			return f, fmt.Errorf("endpoint %s: %w", e.Name, err)
		}
		f.Networks[e.Interface] = networks
	}
	host, err := netns.Open(netns.Host)
	if err != nil {
		return f, err
	}
	defer host.Close()
	if f.Routes, err = destinations(host, 0); err != nil {
		return f, err
	}
	names, err := netns.List()
	if err != nil {
		return f, err
	}
	for _, name := range names {
		owner, _, ours := namespace.Split(name)
		if !ours || len(f.Blocks[owner]) > 0 || !netns.Exists(name) {
			continue
		}
		if f.Blocks[owner], err = blocksOf(name); err != nil {
			return f, err
		}
	}
	return f, nil
}

// blocksOf a chain follow from any of its namespaces' routes: those that lead to
// one half of a block in which the namespace has an address itself. Other routes
// lead to what lies behind an endpoint.
func blocksOf(name string) ([]netip.Prefix, error) {
	h, err := netns.Open(name)
	if err != nil {
		return nil, nil // gone meanwhile
	}
	defer h.Close()
	halves, err := destinations(h, route.Protocol)
	if err != nil {
		return nil, err
	}
	addresses, err := h.AddrList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return nil, err
	}
	seen := map[netip.Prefix]bool{}
	var blocks []netip.Prefix
	for _, half := range halves {
		block := netip.PrefixFrom(half.Addr(), half.Bits()-1).Masked()
		if !seen[block] && within(block, addresses) {
			seen[block] = true
			blocks = append(blocks, block)
		}
	}
	return blocks, nil
}

// destinations of the routes in a namespace's main table, of one protocol or of
// all. Local interface addresses appear as the routes to their networks.
func destinations(h *netns.Handle, protocol int) ([]netip.Prefix, error) {
	filter, mask := &netlink.Route{Protocol: netlink.RouteProtocol(protocol)}, uint64(0)
	if protocol != 0 {
		mask = netlink.RT_FILTER_PROTOCOL
	}
	list, err := h.RouteListFiltered(netlink.FAMILY_ALL, filter, mask)
	if err != nil {
		return nil, err
	}
	var out []netip.Prefix
	for _, r := range list {
		if r.Dst == nil {
			continue
		}
		a, ok := netip.AddrFromSlice(r.Dst.IP)
		ones, _ := r.Dst.Mask.Size()
		if p := netip.PrefixFrom(a.Unmap(), ones); ok && ones > 0 && !p.Addr().IsLinkLocalUnicast() && !p.Addr().IsMulticast() {
			out = append(out, p)
		}
	}
	return out, nil
}

func within(block netip.Prefix, addresses []netlink.Addr) bool {
	for _, a := range addresses {
		if ip, ok := netip.AddrFromSlice(a.IP); ok && block.Contains(ip.Unmap()) {
			return true
		}
	}
	return false
}
