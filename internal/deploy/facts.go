package deploy

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/adopted"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/route"
)

// Facts reads what a plan of the chain must know of this machine.
func Facts(chain api.Chain) (plan.Facts, error) {
	f, err := OwnFacts(chain)
	if err != nil {
		return f, err
	}
	return f, AddOthers(chain, &f)
}

// OwnFacts are those that a plan must know which stays within the chain's own blocks and namespaces
// ([plan.Plan.Stays]), and its own CPUs: all but what other chains have.
func OwnFacts(chain api.Chain) (plan.Facts, error) {
	f := plan.Facts{Blocks: map[string][]netip.Prefix{}, Networks: map[string][]netip.Prefix{}, MTUs: map[string]int{}, Addresses: map[string][]netip.Addr{}}
	f.Engines = map[string][]string{chain.Metadata.Name: inOrder(enginesOf(chain.Metadata.Name))}
	for _, e := range chain.Spec.Endpoints {
		if e.Interface == "" {
			continue
		}
		if err := addInterface(&f, chain.Metadata.Name, e.Interface); err != nil {
			return f, fmt.Errorf("endpoint %s: %w", e.Name, err)
		}
	}
	err := addBrought(&f, chain.Metadata.Name)
	if err != nil {
		return f, err
	}
	if err := addGiven(&f, chain.Metadata.Name); err != nil {
		return f, err
	}
	if f.Routes, err = taken(chain); err != nil {
		return f, err
	}
	names, err := netns.List()
	if err != nil {
		return f, err
	}
	of := func(name string) bool {
		owner, _, ours := namespace.Split(name)
		return ours && owner == chain.Metadata.Name
	}
	if err := addAllBlocks(f.Blocks, slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !of(name) })); err != nil {
		return f, err
	}
	if f.Addresses, err = addressesOf(chain, names); err != nil {
		return f, err
	}
	err = inside(namespace.Name(chain.Metadata.Name, plan.WiringNode), func(h *netns.Handle) error {
		f.Translated, err = pass.NATAddresses(resource.At(h, chain.Metadata.Name))
		return err
	})
	return f, err
}

// AddOthers adds the blocks and CPUs of all other chains.
func AddOthers(chain api.Chain, f *plan.Facts) error {
	coming, err := reservedByOthers(chain.Metadata.Name) // first: what is released from then on has been made, and is seen below
	if err != nil {
		return err
	}
	names, err := netns.List()
	if err != nil {
		return err
	}
	others, err := GivenOthers(chain.Metadata.Name)
	if err != nil {
		return err
	}
	maps.Copy(f.Claims, others)
	if err := addAllBlocks(f.Blocks, names); err != nil {
		return err
	}
	for _, r := range coming {
		for _, b := range r.Blocks {
			if had := f.Blocks[r.Owner]; !slices.Contains(had, b) {
				f.Blocks[r.Owner] = append(slices.Clip(had), b)
			}
		}
	}
	return nil
}

// addGiven adds the CPUs that the chain itself has been given.
func addGiven(f *plan.Facts, owner string) error {
	own, err := Given(owner)
	f.Claims = plan.Claims{}
	if err == nil && !own.Empty() {
		f.Claims[owner] = own
	}
	return err
}

// addAllBlocks adds the blocks that are known in namespaces.
func addAllBlocks(blocks map[string][]netip.Prefix, names []string) error {
	for _, name := range names {
		owner, _, ours := namespace.Split(name)
		if ours && len(blocks[owner]) == 0 {
			blocks[owner] = noted(owner)
		}
		if ours && len(blocks[owner]) > 0 || !netns.Exists(name) {
			continue
		}
		if err := addBlocks(blocks, name); err != nil {
			return err
		}
	}
	return nil
}

// addInterface adds what is known of an interface that an endpoint takes in.
func addInterface(f *plan.Facts, owner, name string) (err error) {
	if f.Networks[name], err = adopted.Networks(owner, name); err != nil {
		return err
	}
	f.MTUs[name], err = adopted.MTU(owner, name)
	return err
}

// addressesOf the chain's interfaces, by namespace.
func addressesOf(chain api.Chain, all []string) (map[string][]netip.Addr, error) {
	owner := chain.Metadata.Name
	var names []string
	for _, name := range all {
		if o, _, ours := namespace.Split(name); ours && o == owner && netns.Exists(name) {
			names = append(names, name)
		}
	}
	for _, e := range chain.Spec.Endpoints {
		if e.Namespace != "" && netns.Exists(e.Namespace) {
			names = append(names, e.Namespace)
		}
	}
	for _, node := range chain.Spec.Brought() {
		if name := namespace.Brought(owner, node); netns.Exists(name) {
			names = append(names, name)
		}
	}
	for _, fn := range chain.Spec.Functions {
		if fn.Ref != "" && netns.Exists(namespace.Alone(fn.Ref)) {
			names = append(names, namespace.Alone(fn.Ref))
		}
	}
	found := map[string][]netip.Addr{}
	var mu sync.Mutex
	err := each(context.Background(), names, func(name string) error {
		own, err := ownAddresses(name, owner)
		mu.Lock()
		defer mu.Unlock()
		found[name] = own
		return err
	})
	for _, node := range chain.Spec.Brought() { // what stands in for a container has its addresses, and it those
		own, its := namespace.Name(owner, node), namespace.Brought(owner, node)
		if len(found[own]) == 0 {
			found[own] = found[its]
		} else if len(found[its]) == 0 {
			found[its] = found[own]
		}
	}
	return found, err
}

func ownAddresses(name, owner string) (own []netip.Addr, err error) {
	err = inside(name, func(h *netns.Handle) error {
		mine, err := link.Mine(h, owner)
		if err != nil || len(mine) == 0 {
			return err
		}
		list, err := h.AddrList(nil, netlink.FAMILY_ALL)
		for _, a := range list {
			if ip, ok := netip.AddrFromSlice(a.IP); ok && mine[a.LinkIndex] != "" {
				own = append(own, ip.Unmap())
			}
		}
		return err
	})
	return own, err
}

// taken are the networks that the chain's addresses must keep clear of: those that
// the host reaches, and those that existing namespaces at its ends do.
func taken(chain api.Chain) ([]netip.Prefix, error) {
	all, err := reached(netns.Host, chain.Metadata.Name)
	if err != nil {
		return nil, err
	}
	for _, e := range chain.Spec.Endpoints {
		if e.Namespace == "" || !netns.Exists(e.Namespace) {
			continue
		}
		more, err := reached(e.Namespace, chain.Metadata.Name)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// reached are the destinations of a namespace's routes in all tables, without
// those over the owner's own interfaces. The local table has the addresses.
func reached(name, owner string) ([]netip.Prefix, error) {
	h, err := netns.Open(name)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	mine, err := link.Mine(h, owner)
	if err != nil {
		return nil, err
	}
	return destinations(h, 0, func(r netlink.Route) bool { return mine[r.LinkIndex] == "" })
}

// addBlocks adds the blocks of those chains that have interfaces in a namespace
// and whose blocks are not known yet.
func addBlocks(blocks map[string][]netip.Prefix, name string) error {
	return inside(name, func(h *netns.Handle) error {
		owners, err := link.Owners(h)
		if err != nil {
			return err
		}
		for _, owner := range owners {
			if len(blocks[owner]) > 0 {
				continue
			}
			if blocks[owner], err = blocksOf(h, owner); err != nil {
				return err
			}
		}
		return nil
	})
}

// blocksOf a chain follow from its routes in any of its namespaces: those that
// lead to one half of a block in which the namespace has an address itself. Other
// routes lead to what lies behind an endpoint.
func blocksOf(h *netns.Handle, owner string) ([]netip.Prefix, error) {
	mine, err := link.Mine(h, owner)
	if err != nil {
		return nil, err
	}
	halves, err := destinations(h, route.Protocol, func(r netlink.Route) bool { return mine[r.LinkIndex] != "" })
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

// destinations of the routes in a namespace, of one protocol or, with 0, of all.
func destinations(h *netns.Handle, protocol int, wanted func(netlink.Route) bool) ([]netip.Prefix, error) {
	filter := &netlink.Route{Protocol: netlink.RouteProtocol(protocol), Table: unix.RT_TABLE_UNSPEC}
	mask := netlink.RT_FILTER_TABLE
	if protocol != 0 {
		mask |= netlink.RT_FILTER_PROTOCOL
	}
	list, err := h.RouteListFiltered(netlink.FAMILY_ALL, filter, mask)
	if err != nil {
		return nil, fmt.Errorf("list routes of namespace %q: %w", h.Ref, err)
	}
	var out []netip.Prefix
	for _, r := range list {
		if r.Dst == nil || !wanted(r) {
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
