package plan

import (
	"fmt"
	"net/netip"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/address"
	"nfchain.dev/nfchain/internal/resource/adopted"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/neighbour"
	"nfchain.dev/nfchain/internal/resource/route"
	"nfchain.dev/nfchain/internal/resource/ruleset"
	"nfchain.dev/nfchain/internal/wiring"
)

// namespaces contributes every namespace that the chain makes.
func (b *builder) namespaces() {
	for _, n := range b.nodes {
		if n.Made {
			forwards := n.Kind != "endpoint" || n.endpoint.Interface != ""
			b.add(resource.New("", namespace.Spec{Name: n.Namespace, Sysctls: Sysctls(forwards, b.ipv6())}))
		}
	}
}

// Sysctls of a namespace. Reverse path filtering is off because a chain's way
// back need not be its way there; link-local addresses are not made because
// nothing needs them and their announcements would be traffic in the chain.
func Sysctls(forwards, ipv6 bool) []namespace.Sysctl {
	s := []namespace.Sysctl{
		{Path: "net/ipv4/conf/all/rp_filter", Value: "0"},
		{Path: "net/ipv4/conf/default/rp_filter", Value: "0"},
	}
	if forwards {
		s = append(s, namespace.Sysctl{Path: "net/ipv4/ip_forward", Value: "1"})
	}
	if ipv6 {
		s = append(s, namespace.Sysctl{Path: "net/ipv6/conf/default/addr_gen_mode", Value: "1"},
			namespace.Sysctl{Path: "net/ipv6/conf/default/accept_dad", Value: "0"})
		if forwards {
			s = append(s, namespace.Sysctl{Path: "net/ipv6/conf/all/forwarding", Value: "1"})
		}
	}
	return s
}

func (b *builder) ipv6() bool {
	for _, h := range b.space.families {
		if h.block.Addr().Is6() {
			return true
		}
	}
	return false
}

// hops joins each node to the next, and the ends to each other if asked.
func (b *builder) hops() {
	client, server := b.nodes[0], b.nodes[len(b.nodes)-1]
	for i := 0; i+1 < len(b.nodes); i++ {
		a, z := b.nodes[i], b.nodes[i+1]
		id := b.join(a, z, *a.East, *z.West)
		for f, h := range b.space.families {
			b.routeTo(a, *a.East, h.east, z.West.Addresses[f], id)
			b.routeTo(z, *z.West, h.west, a.East.Addresses[f], id)
		}
		b.outside(a, *a.East, server, *z.West, id)
		b.outside(z, *z.West, client, *a.East, id)
	}
	if b.options.Direct {
		b.directHop()
	}
}

// directHop is the path without functions: the same ends, the same wiring.
func (b *builder) directHop() {
	a, z := b.nodes[0], b.nodes[len(b.nodes)-1]
	d := &Direct{}
	d.Client = *b.port(a, "ethd0", func(h halves) netip.Addr { return offset(h.west.Addr(), directSlot, 0) })
	d.Server = *b.port(z, "ethd1", func(h halves) netip.Addr { return offset(h.east.Addr(), directSlot, 0) })
	b.join(a, z, d.Client, d.Server)
	b.direct = d
}

// adopt contributes the host's interfaces that endpoints take in.
func (b *builder) adopt() {
	for _, n := range b.nodes {
		if n.endpoint.Interface != "" {
			b.add(resource.New("", adopted.Spec{Interface: n.endpoint.Interface, Into: n.Namespace}, need(n)...))
		}
	}
}

// outside routes the networks behind an endpoint's own interface towards it.
func (b *builder) outside(n Node, out Interface, end Node, via Interface, link string) {
	for _, network := range b.facts.Networks[end.endpoint.Interface] {
		for _, a := range via.Addresses {
			if a.Is4() == network.Addr().Is4() {
				b.routeTo(n, out, network, a, link)
			}
		}
	}
}

// join contributes one hop with both ends' addresses and neighbours, and gives
// the ID of what makes it.
func (b *builder) join(a, z Node, pa, pz Interface) string {
	made := b.wiring.Join(wiring.Hop{
		Owner: b.chain.Metadata.Name, MTU: b.chain.Spec.MTU, Needs: append(need(a), need(z)...),
		A: wiring.Port{Node: a.Name, Namespace: a.Namespace, Device: pa.Device, MAC: pa.MAC},
		B: wiring.Port{Node: z.Name, Namespace: z.Namespace, Device: pz.Device, MAC: pz.MAC},
	})
	b.add(made...)
	id := made[len(made)-1].ID
	b.links[a.Name] = append(b.links[a.Name], id)
	b.links[z.Name] = append(b.links[z.Name], id)
	for f := range pa.Addresses {
		b.side(a, pa, pz, f, id)
		b.side(z, pz, pa, f, id)
	}
	return id
}

func (b *builder) side(n Node, own, peer Interface, family int, needs string) {
	b.add(
		resource.New(n.Namespace, address.Spec{Device: own.Device, Address: own.Addresses[family], Peer: peer.Addresses[family]}, needs),
		resource.New(n.Namespace, neighbour.Spec{Device: own.Device, Address: peer.Addresses[family], MAC: peer.MAC}, needs),
	)
}

func (b *builder) routeTo(n Node, out Interface, dst netip.Prefix, via netip.Addr, link string) {
	from := address.Spec{Device: out.Device, Address: out.Addresses[0]}
	for i, a := range out.Addresses {
		if a.Is4() == via.Is4() {
			from.Address = out.Addresses[i]
		}
	}
	b.add(resource.New(n.Namespace, route.Spec{Destination: dst, Via: via, Device: out.Device},
		link, resource.ID(address.KindName, n.Namespace, from.Key())))
}

// A packet begins with 64 hops to live (RFC 1700's default, and Linux's), so the
// limit is restored every so many functions, well before it is used up.
const (
	hopsBetween  = 30
	hopsMost     = 60
	hopLimit     = 64
	hopTable     = ruleset.TablePrefix + "-hops"
	rawPriority  = -300
	hopLimitNeed = "nftables"
)

func (b *builder) hopLimits() error {
	functions := b.nodes[1 : len(b.nodes)-1]
	if len(functions) <= hopsBetween {
		return nil
	}
	b.requires[hopLimitNeed] = true
	spec := ruleset.Spec{Backend: ruleset.NFTables, Table: hopTable, Hook: "prerouting", Priority: rawPriority, Policy: "accept"}
	for _, h := range b.space.families {
		family := 4
		if h.block.Addr().Is6() {
			family = 6
		}
		spec.Rules = append(spec.Rules, ruleset.Rule{Match: ruleset.Match{Family: family}, HopLimit: hopLimit,
			Comment: fmt.Sprintf("restored every %d functions", hopsBetween)})
	}
	since := 0
	for _, n := range functions {
		if since++; since > hopsMost {
			return fmt.Errorf("more than %d functions in a row stand alone, where hop limits are not restored; put one of the chain's own between them", hopsMost)
		}
		if since >= hopsBetween && !n.shared {
			b.add(resource.New(n.Namespace, spec, need(n)...))
			since = 0
		}
	}
	return nil
}
