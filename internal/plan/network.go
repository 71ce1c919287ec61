package plan

import (
	"fmt"
	"net/netip"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/address"
	"nfchain.dev/nfchain/internal/resource/adopted"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/neighbour"
	"nfchain.dev/nfchain/internal/resource/route"
	"nfchain.dev/nfchain/internal/resource/ruleset"
	"nfchain.dev/nfchain/internal/wiring"
)

// namespaces contributes every namespace that the chain makes.
func (b *builder) namespaces() {
	for _, n := range b.nodes {
		if n.Brought {
			b.settle(n)
			continue
		}
		if n.Made {
			forwards := n.Kind != "endpoint" && !n.Transparent || n.endpoint.Interface != ""
			made := namespace.Spec{Name: n.Namespace, Sysctls: b.sysctls(forwards, n.Runtime != ""), Contained: n.Runtime != ""}
			if made.Contained {
				b.add(resource.New("", made, resource.ID(container.KindName, "", n.Namespace)))
				continue
			}
			b.add(resource.New("", made))
		}
	}
}

// sysctls of a namespace. One in which others make the interfaces is as the kernel makes it.
func (b *builder) sysctls(forwards, contained bool) []namespace.Sysctl {
	switch all := namespace.Sysctls(forwards, b.ipv6()); {
	case b.catalogue.Attaching(b.wiring.Name()):
		return []namespace.Sysctl{}
	case contained:
		return append(namespace.Enabled(b.ipv6()), all...)
	default:
		return all
	}
}

func (b *builder) ipv6() bool {
	if b.catalogue.Within(b.wiring.Name()) {
		return b.chain.Spec.Addresses.IPv6 != api.None
	}
	for _, h := range b.space.families {
		if h.block.Addr().Is6() {
			return true
		}
	}
	return false
}

// hop is two neighbours with the interfaces by which they are joined.
type hop struct {
	a, z   Node
	pa, pz Interface
}

// hops joins each node to the next, and the ends to each other if asked.
func (b *builder) hops() error {
	var all []hop
	for i := 0; i+1 < len(b.nodes); i++ {
		all = append(all, hop{b.nodes[i], b.nodes[i+1], *b.nodes[i].East, *b.nodes[i+1].West})
	}
	if b.options.Direct {
		all = append(all, b.directHop())
	}
	joined, err := b.join(all)
	if err != nil {
		return err
	}
	b.ends, b.ports = joined.Ends, joined.Ports
	for i, h := range all {
		b.link(h.a, joined.Ends[i].A)
		b.link(h.z, joined.Ends[i].B)
	}
	b.lookUps()
	hops, ends := b.adjacent(joined.Ends)
	for i, h := range hops {
		b.connect(h, b.facing(h.pz, true), b.facing(h.pa, false), ends[i])
		b.routes(h, ends[i])
	}
	if b.options.Direct {
		last := len(all) - 1
		b.connect(all[last], all[last].pz, all[last].pa, joined.Ends[last])
	}
	return b.tune(all, joined)
}

// link notes what a node's interface comes from; one that is for both sides comes twice.
func (b *builder) link(n Node, from string) {
	if from != "" && !slices.Contains(b.links[n.Name], from) {
		b.links[n.Name] = append(b.links[n.Name], from)
	}
}

// routes lead from both sides of a hop over it: east from its west side, and west
// from its east one.
func (b *builder) routes(h hop, ends wiring.Ends) {
	client, server := b.nodes[0], b.nodes[len(b.nodes)-1]
	east, west := b.facing(h.pz, true), b.facing(h.pa, false)
	for f, half := range b.space.families {
		b.routeTo(h.a, h.pa, half.east, east.Addresses[f], ends.A)
		b.routeTo(h.z, h.pz, half.west, west.Addresses[f], ends.B)
	}
	b.outside(h.a, h.pa, server, east, ends.A)
	b.outside(h.z, h.pz, client, west, ends.B)
}

// directHop is the path without functions: the same ends, the same wiring.
func (b *builder) directHop() hop {
	a, z := b.nodes[0], b.nodes[len(b.nodes)-1]
	d := &Direct{}
	d.Client = *b.port(a, "ethd0", func(h halves) netip.Addr { return offset(h.west.Addr(), directSlot, 0) })
	d.Server = *b.port(z, "ethd1", func(h halves) netip.Addr { return offset(h.east.Addr(), directSlot, 0) })
	b.direct = d
	return hop{a, z, d.Client, d.Server}
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

// join has the wiring contribute what makes the hops.
func (b *builder) join(all []hop) (wiring.Joined, error) {
	n := wiring.Network{
		Owner: b.chain.Metadata.Name, MTU: b.chain.Spec.MTU, SuperPacket: uint64(max(b.chain.Spec.Tuning.GSOMaxSize, b.chain.Spec.Tuning.GSOIPv4MaxSize)), Options: b.wiringOptions(), Has: b.machineHas(),
		Outside: b.chain.Spec.Outside, Headers: b.headers(), Node: WiringNode, Namespace: b.namespaceOf(WiringNode),
	}
	n.Engine, n.Driver = b.nodes[len(b.nodes)-1].Runtime, b.facts.Driver
	if of, is := n.Options.(api.Filed); is {
		_, path := of.File()
		n.File = b.facts.Files[*path]
	}
	for i, h := range all {
		n.Hops = append(n.Hops, wiring.Hop{
			A: portOf(h.a, h.pa), B: portOf(h.z, h.pz), Needs: append(need(h.a), need(h.z)...), Direct: i+1 >= len(b.nodes),
		})
	}
	joined, err := b.wiring.Join(n)
	if err != nil {
		return joined, fmt.Errorf("wiring %s: %w", b.wiring.Name(), err)
	}
	b.add(joined.Resources...)
	b.settings, b.network = joined.Settings, joined.Network
	for _, name := range joined.Requires {
		b.requires[name] = true
	}
	return joined, nil
}

// wiringOptions are the file's, or the wiring's defaults.
func (b *builder) wiringOptions() any {
	if o := b.chain.Spec.WiringOptions[b.wiring.Name()]; o != nil {
		return o
	}
	return b.wiring.Options()
}

func portOf(n Node, i Interface) wiring.Port {
	return wiring.Port{Node: n.Name, Namespace: n.Namespace, Device: i.Device, MAC: i.MAC}
}

// connect gives both sides of a hop their addresses, and each whom it faces as neighbour.
func (b *builder) connect(h hop, east, west Interface, ends wiring.Ends) {
	for f := range h.pa.Addresses {
		b.side(h.a, h.pa, east, f, ends.A)
		b.side(h.z, h.pz, west, f, ends.B)
	}
}

// side is one's address and whom it meets there. Where both sides are one interface, no
// address has a peer, and all leaves by routes that say the source. Else IPv6 would take
// the address of the one side for packets to the other, because that is nearer to where
// they go (RFC 6724 §5, rule 8), and answers would not find back; and the kernel would
// tell peers of the shorter way, which leads round the node (RFC 1122 §3.2.2.2).
func (b *builder) side(n Node, own, peer Interface, family int, needs string) {
	at := address.Spec{Device: own.Device, Address: own.Addresses[family], Peer: peer.Addresses[family]}
	plain := b.plain(at.Address)
	if n.oneArm() || plain || peer.isGateway() {
		at.Peer = netip.Addr{}
	}
	if n.Apart == 0 {
		b.add(resource.New(n.Namespace, at, needs))
	}
	b.add(resource.New(n.Namespace, neighbour.Spec{Device: own.Device, Address: peer.Addresses[family], MAC: peer.MAC}, needs))
	if plain { // nothing else would lead over the direct hop
		b.routeTo(n, own, netip.PrefixFrom(peer.Addresses[family], peer.Addresses[family].BitLen()), peer.Addresses[family], needs)
	}
}

func (b *builder) routeTo(n Node, out Interface, dst netip.Prefix, via netip.Addr, link string) {
	if n.Apart != 0 {
		b.add(resource.New(n.Namespace, route.Spec{Destination: dst, Via: via, Device: out.Device, Table: n.Apart}, link))
		return
	}
	from := address.Spec{Device: out.Device, Address: out.Addresses[0]}
	for i, a := range out.Addresses {
		if a.Is4() == via.Is4() {
			from.Address = out.Addresses[i]
		}
	}
	to := route.Spec{Destination: dst, Via: via, Device: out.Device}
	if n.oneArm() {
		to.Source = from.Address
	}
	b.add(resource.New(n.Namespace, to, link, resource.ID(address.KindName, n.Namespace, from.Key())))
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
	restored := make([]bool, len(b.nodes))
	back, since := graphOf(b.nodes).Back, make([]int, len(b.nodes)) // of each, on the longest way there
	for i, n := range functions {
		place := i + 1
		for _, before := range back[place] {
			since[place] = max(since[place], since[before])
		}
		if n.Transparent { // no hop
			continue
		}
		if since[place]++; since[place] > hopsMost {
			return fmt.Errorf("more than %d functions in a row stand alone, where hop limits are not restored; put one of the chain's own between them", hopsMost)
		}
		if since[place] >= hopsBetween && !n.shared && !n.Brought {
			b.add(resource.New(n.Namespace, spec, need(n)...))
			since[place], restored[place] = 0, true
		}
	}
	for _, walk := range b.walks() {
		if err := b.hopLimitsOn(walk, spec, restored); err != nil {
			return err
		}
	}
	return nil
}

// walks are the places that packets come by, in order, where that is less than the whole chain: on their way back, and
// on paths that a classifier gives them.
func (b *builder) walks() (all [][]int) {
	add := func(p Path) {
		back := slices.Clone(p.back)
		slices.Reverse(back)
		all = append(all, p.at, back)
	}
	var whole []string
	for _, f := range b.chain.Spec.Functions {
		whole = append(whole, f.Name)
	}
	if b.chain.Spec.HasOneWay() {
		add(b.path(whole, false))
	}
	if b.chain.Spec.Classifier == nil {
		return all
	}
	for _, r := range b.chain.Spec.Classifier.Rules {
		add(b.path(r.Functions, r.OneWay()))
	}
	return all
}

// hopLimitsOn a walk are restored where those that do it anyway are too few.
func (b *builder) hopLimitsOn(walk []int, spec ruleset.Spec, restored []bool) error {
	since := 0
	for _, place := range walk[1 : len(walk)-1] {
		n := b.nodes[place]
		if n.Transparent {
			continue
		}
		if since++; since > hopsMost {
			return fmt.Errorf("more than %d functions in a row stand alone, where hop limits are not restored; put one of the chain's own between them", hopsMost)
		}
		if since >= hopsBetween && !n.shared && !n.Brought && !restored[place] {
			b.add(resource.New(n.Namespace, spec, need(n)...))
			restored[place] = true
		}
		if restored[place] {
			since = 0
		}
	}
	return nil
}
