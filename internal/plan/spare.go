package plan

import (
	"net/netip"
	"slices"
)

// Stays tells of a chain that was there with these blocks and CPUs and is to have no others, in namespaces that
// are all its own: whatever other chains have, its plan is the same.
func (p *Plan) Stays(had []netip.Prefix, given Claim) bool {
	if !given.Has(p.claim) {
		return false
	}
	for _, block := range p.Blocks {
		if !slices.Contains(had, block) {
			return false
		}
	}
	return len(p.Blocks) > 0 && !slices.ContainsFunc(p.Nodes, func(n Node) bool { return !n.Made })
}

// Spare addresses of each family, at most so many, that no node of the chain has, and that
// every node sends the same way as packets to the server, or, westward, to the client.
func (p *Plan) Spare(west bool, most int) []netip.Addr {
	var all []netip.Addr
	taken := p.addresses()
	for _, block := range p.Blocks {
		half := split(block).east
		if west {
			half = split(block).west
		}
		n := 0
		// The first is the half's own, and IPv4's last of the eastern one is the block's.
		for a := half.Addr().Next(); n < most && half.Contains(a.Next()); a = a.Next() {
			if !taken[a] {
				all = append(all, a)
				n++
			}
		}
	}
	return all
}

// addresses of all nodes, of functions without a namespace, and of the direct hop.
func (p *Plan) addresses() map[netip.Addr]bool {
	all := map[netip.Addr]bool{}
	for _, f := range p.Inline {
		for _, a := range f.Addresses {
			all[a] = true
		}
	}
	interfaces := []*Interface{}
	for _, n := range p.Nodes {
		interfaces = append(interfaces, n.West, n.East)
	}
	if p.Direct != nil {
		interfaces = append(interfaces, &p.Direct.Client, &p.Direct.Server)
	}
	for _, i := range interfaces {
		if i == nil {
			continue
		}
		for _, a := range i.Addresses {
			all[a] = true
		}
	}
	return all
}
