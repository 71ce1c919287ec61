package plan

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/wiring"
)

// Attaching tells whether a wiring is one of that name whose ends somebody else attaches to a network.
func (c Catalogue) Attaching(name string) bool {
	_, attaching := c.Wirings[name].(wiring.Attaching)
	return attaching
}

// OnMachine tells whether a chain's first end is this machine, or a namespace that is none of its network's: containers are reached
// from there as they are from outside their network.
func (c Catalogue) OnMachine(s api.ChainSpec) bool {
	_, of := c.Wirings[s.Wiring].(wiring.OfEngine)
	return of && !api.IsEngine(s.Endpoints[0].Runtime) || c.Hosted(s)
}

// Hosted tells whether both ends of a chain are in this machine's own namespace, in containers of an engine: all of them are, or the second.
func (c Catalogue) Hosted(s api.ChainSpec) bool {
	w, of := c.Wirings[s.Wiring].(wiring.OfEngine)
	options := s.WiringOptions[s.Wiring]
	return of && options != nil && w.Hosted(options)
}

// OnMachine tells that the first end is this machine, or a namespace that is none of the network's.
func (p *Plan) OnMachine() bool { return p.foreign && !p.Client().Made }

// Attached is an interface that somebody else made, as it is.
type Attached struct {
	Interface
	MTU int
	// Gateway is where its namespace sends what is for others, of IPv4; the zero address where it has none.
	Gateway netip.Addr
}

// buildAttached plans two ends that somebody else attaches to a network. Nothing is made of their interfaces, which are theirs.
func (b *builder) buildAttached() error {
	for _, e := range b.chain.Spec.Endpoints {
		b.nodes = append(b.nodes, b.endpoint(e))
	}
	for i := range b.nodes {
		if n := &b.nodes[i]; b.hosted() || i == 0 && b.catalogue.OnMachine(b.chain.Spec) {
			n.Namespace, n.Made = n.endpoint.Namespace, false
		}
	}
	if err := b.checkEngine(); err != nil {
		return err
	}
	west, east := b.attached(b.nodes[0]), b.attached(b.nodes[1])
	b.nodes[0].East, b.nodes[1].West = &west, &east
	if err := b.place(); err != nil {
		return err
	}
	b.requires, b.links, b.by = map[string]bool{"netns": true}, map[string][]string{}, map[string]string{}
	b.namespaces()
	joined, err := b.join([]hop{{b.nodes[0], b.nodes[1], west, east}})
	if err != nil {
		return err
	}
	b.link(b.nodes[0], joined.Ends[0].A)
	b.link(b.nodes[1], joined.Ends[0].B)
	if err := b.functions(); err != nil {
		return err
	}
	b.serve()
	return b.contain()
}

// serve notes where connections go that an engine translates, when that is known.
func (b *builder) serve() {
	client, server := b.nodes[0], b.nodes[1]
	ports, _ := b.translated().Parse() // checked with the file
	at := b.facts.Attached[server.Namespace].Gateway
	if len(ports) == 0 || !at.IsValid() {
		return
	}
	most := slices.MaxFunc(ports, func(x, y api.PortRange) int { return cmp.Compare(x.Last-x.First, y.Last-y.First) })
	b.service = &Service{
		Addresses: []netip.Addr{at}, Served: function.AllOfFamily(at, server.West.Addresses), Source: function.AllOfFamily(at, client.East.Addresses),
		FirstPort: most.First, LastPort: most.Last,
	}
}

// translated are the ports at which an engine has the second end, which alone is a container then, be reached by an address of the machine's.
func (b *builder) translated() api.PortRanges {
	w, is := b.wiring.(wiring.OfEngine)
	if !is {
		return ""
	}
	return w.Published(b.wiringOptions())
}

// checkEngine wants the ends to be containers of one engine, where that is to attach them; the first may be the machine.
func (b *builder) checkEngine() error {
	w, is := b.wiring.(wiring.OfEngine)
	if !is {
		return nil
	}
	if b.translated() != "" && b.nodes[0].Runtime != "" {
		return fmt.Errorf("spec.%s.publish: is for what is not on the network, and both endpoints are, where they reach each other at their own addresses; leave runtime out of spec.endpoints[0], which is this machine then", w.Name())
	}
	for i, n := range b.nodes {
		at := fmt.Sprintf("spec.endpoints[%d].runtime: wiring %s ", i, w.Name())
		switch {
		case n.Runtime == "" && i == 0:
		case n.Runtime == "":
			return fmt.Errorf("%sis a network of containers; write runtime: %s, for both endpoints or for the second, to which the first is this machine then", at, api.RuntimeDocker)
		case !w.Can(n.Runtime):
			return fmt.Errorf("%shas an engine attach them, and %s gives containers no network; use runtime: %s, or wiring: cni", at, n.Runtime, api.RuntimeDocker)
		case i > 0 && b.nodes[0].Runtime != "" && n.Runtime != b.nodes[0].Runtime:
			return fmt.Errorf("%sis a network of one engine, and the other endpoint is of %s", at, b.nodes[0].Runtime)
		}
	}
	return nil
}

func (b *builder) hosted() bool { return b.catalogue.Hosted(b.chain.Spec) }

// attached is an end's interface, as far as it is known.
func (b *builder) attached(n Node) Interface {
	if b.hosted() {
		return Interface{Device: wiring.Loopback, MAC: "00:00:00:00:00:00", Addresses: loopbacks(b.chain.Spec.Addresses)}
	}
	if found, is := b.facts.Attached[n.Namespace]; is {
		return found.Interface
	}
	if !n.Made {
		return Interface{Addresses: []netip.Addr{}}
	}
	return Interface{Device: wiring.Attached, Addresses: []netip.Addr{}}
}

// refuseAttached names what would need the chain's own interfaces and addresses, or change those of others.
func (b *builder) refuseAttached() error {
	s, usual := b.chain.Spec, api.DefaultChainSpec()
	refused := []error{b.unfits(
		unfit{len(s.Functions) > 0, "spec.functions", "has a network that others make, on which the ends reach each other and no packet is sent by way of functions; write functions: [], or use wiring: veth"},
		unfit{s.Outside, "spec.outside", "attaches both ends on this host; use wiring: bridge"},
		unfit{len(s.Everywhere) > 0, "spec.everywhere", "has interfaces that are not the chain's, at which nothing is put; use wiring: veth"},
		unfit{!reflect.ValueOf(s.Tuning).IsZero(), "spec.tuning", "has interfaces that are not the chain's, and stay as they were made; use wiring: veth"},
		unfit{!s.Placement.Softirqs.Any(), "spec.placement.softirqs", "has interfaces that are not the chain's, and stay as they were made; leave it out, or use wiring: veth"},
		unfit{b.hosted() && s.MTU != usual.MTU, "spec.mtu", "goes over the machine's loopback here, whose MTU stays as it is; leave it out"},
		unfit{s.Addresses != usual.Addresses, "spec.addresses", "has the addresses that the network gives; leave it out"},
	)}
	for i, e := range s.Endpoints {
		at, machine := fmt.Sprintf("spec.endpoints[%d].", i), i == 0 && b.catalogue.OnMachine(s)
		runs := len(e.Options) > 0 && (e.Runtime == "" || e.Runtime == api.RuntimeNetns)
		refused = append(refused, b.unfits(
			unfit{e.Runtime == api.RuntimeCNI, at + "runtime", "attaches namespaces that are made for the chain, and has no place for a container; leave it out, or use wiring: veth"},
			unfit{b.hosted() && e.Namespace != "", at + "namespace", "has both ends in the machine's own network here; leave it out, or have the driver make another"},
			unfit{machine && runs, at + EndpointKind, fmt.Sprintf("has this machine for an end that is no container, and runs nothing there; start it yourself, or write runtime: %s", api.RuntimeDocker)},
			unfit{!b.hosted() && e.Namespace != "" && !machine, at + "namespace", "attaches namespaces that are made for the chain; leave it out, or use wiring: veth"},
			unfit{e.Interface != "", at + "interface", "has ends that are attached by the network alone; leave it out, or use wiring: veth"},
			unfit{len(e.Addresses) > 0, at + "addresses", "has the addresses that the network gives; leave it out, or use wiring: veth"},
		))
	}
	return errors.Join(refused...)
}

// Foreign tells that the ends' interfaces and addresses are somebody else's, known when they are there.
func (p *Plan) Foreign() bool { return p.foreign }

// Files that options of the wiring name, their texts by their paths.
func (p *Plan) Files() map[string]string { return p.files }

// Unlike is an error if an interface that somebody else made cannot be measured as the chain says.
func (p *Plan) Unlike(attached map[string]Attached, mtu int) error {
	if !p.foreign || p.hosted {
		return nil
	}
	for _, n := range p.Nodes {
		found, is := attached[n.Namespace]
		switch {
		case !is && !n.Made:
			return fmt.Errorf("%s: there is no way from there to %s; be where the engine is, or name a namespace in which there is one (ip route get)", n.Name, p.Server().Name)
		case !is:
			return fmt.Errorf("%s: the network gave it no interface %s", n.Name, wiring.Attached)
		case len(found.Addresses) == 0:
			return fmt.Errorf("%s: the network gave its interface %s no address; have what makes it give one (of CNI, an ipam plugin)", n.Name, found.Device)
		case found.MTU != mtu:
			return fmt.Errorf("%s: the network gave its interface %s an MTU of %d, and the chain's is %d, by which frames are sized; write mtu: %d, or have what makes the network give it that of the chain", n.Name, found.Device, found.MTU, mtu, found.MTU)
		}
	}
	if server := p.Server(); p.translated != "" && !attached[server.Namespace].Gateway.IsValid() {
		return fmt.Errorf("%s: the network gave it no gateway, as an internal one does, on which nothing is published; leave publish out, or name another network", server.Name)
	}
	return nil
}

// loopbackText is where an end in the other's namespace is reached, for a person.
func (n Node) loopbackText() string {
	of := n.East
	if of == nil {
		of = n.West
	}
	return fmt.Sprintf("  %-10s %s  [shared with the other end, at %s]\n", "interface", of.Device, strings.TrimSpace(joined(of.Addresses)))
}

// attachedText is where an end's interface is reached, for a person.
func (n Node) attachedText() string {
	of := n.East
	if of == nil {
		of = n.West
	}
	if of.Device == "" {
		return ""
	}
	if len(of.Addresses) == 0 {
		return fmt.Sprintf("  %-10s %s  [its addresses are the network's to give]\n", "interface", of.Device)
	}
	return fmt.Sprintf("  %-10s %s  [at %s]\n", "interface", of.Device, strings.TrimSpace(joined(of.Addresses)))
}
