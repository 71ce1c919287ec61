package plan

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/wiring"
)

// Bare tells whether a wiring is one of that name that makes nothing.
func (c Catalogue) Bare(name string) bool {
	_, bare := c.Wirings[name].(wiring.Bare)
	return bare
}

// hostsOwn is the reference of the host's own namespace.
const hostsOwn = ""

// Bare tells that both ends are in the host's own namespace and that nothing is made.
func (p *Plan) Bare() bool { return p.bare }

// buildBare plans two ends in the host's own namespace, which meet over its loopback.
func (b *builder) buildBare() error {
	for _, e := range b.chain.Spec.Endpoints {
		b.nodes = append(b.nodes, Node{Name: e.Name, Kind: "endpoint", Namespace: hostsOwn, endpoint: e})
	}
	port := Interface{Device: wiring.Loopback, MAC: "00:00:00:00:00:00", Addresses: loopbacks(b.chain.Spec.Addresses)}
	west, east := port, port
	b.nodes[0].East, b.nodes[1].West = &west, &east
	if err := b.place(); err != nil {
		return err
	}
	b.requires, b.resources = map[string]bool{}, []resource.Resource{}
	_, err := b.join([]hop{{b.nodes[0], b.nodes[1], west, east}})
	return err
}

// loopbacks are the loopback's addresses (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3) of the
// families that a chain has.
func loopbacks(a api.Addresses) (all []netip.Addr) {
	if a.IPv4 != api.None {
		all = append(all, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	if a.IPv6 != api.None {
		all = append(all, netip.IPv6Loopback())
	}
	return all
}

// refuseBare names what would need something of the chain's own, or change the host.
func (b *builder) refuseBare() error {
	s, usual := b.chain.Spec, api.DefaultChainSpec()
	return errors.Join(b.unfits(
		unfit{len(s.Functions) > 0, "spec.functions", "has no namespaces for functions to be in; write functions: [], or use wiring: veth"},
		unfit{s.Outside, "spec.outside", "has both ends in the host's own namespace; use wiring: bridge"},
		unfit{len(s.Everywhere) > 0, "spec.everywhere", "has the host's own namespace alone, where functions would act on all of the host's packets; use wiring: veth"},
		unfit{!reflect.ValueOf(s.Tuning).IsZero(), "spec.tuning", "has nothing but the host's own interface and settings, and this would change them; use wiring: veth"},
		unfit{!s.Placement.Softirqs.Any(), "spec.placement.softirqs", "goes over the host's loopback, whose softirqs are the host's; leave it out, or use wiring: veth"},
		unfit{s.MTU != usual.MTU, "spec.mtu", "goes over the host's loopback, whose MTU stays as it is; leave it out"},
		unfit{b.options.Direct, "direct", "is the direct path itself, with nothing to compare it with"},
	), b.refuseBarePools(), b.refuseBareEnds())
}

func (b *builder) refuseBarePools() error {
	is, usual := b.chain.Spec.Addresses, api.DefaultChainSpec().Addresses
	own := func(pool, usual string) bool { return pool != usual && pool != api.None }
	return b.unfits(
		unfit{own(is.IPv4, usual.IPv4), "spec.addresses.ipv4", "has the loopback's own addresses; leave it out, or write none"},
		unfit{own(is.IPv6, usual.IPv6), "spec.addresses.ipv6", "has the loopback's own addresses; leave it out, or write none"},
	)
}

func (b *builder) refuseBareEnds() error {
	var refused []error
	for i, e := range b.chain.Spec.Endpoints {
		at := fmt.Sprintf("spec.endpoints[%d].", i)
		refused = append(refused, b.unfits(
			unfit{e.Runtime == api.RuntimeCNI, at + "runtime", "has both ends in the host's own namespace, and no place for a container; use wiring: veth"},
			unfit{api.IsEngine(e.Runtime), at + "runtime", "has both ends in the host's own namespace, and in no container; leave it out, or use wiring: engine with driver: host"},
			unfit{e.Namespace != "", at + "namespace", "has both ends in the host's own namespace; use wiring: veth"},
			unfit{e.Interface != "", at + "interface", "goes over the host's loopback, and through no other interface; use wiring: veth"},
			unfit{len(e.Options) > 0, at + EndpointKind, "has no namespaces for programs to be in; start it yourself, or use wiring: veth"},
			unfit{len(e.Addresses) > 0, at + "addresses", "gives the host no addresses; use wiring: veth"},
		))
	}
	return errors.Join(refused...)
}

// bareText is where the ends are, for a person.
func (p *Plan) bareText() string {
	var b strings.Builder
	for _, n := range []struct {
		name string
		at   *Interface
	}{{p.Client().Name, p.Client().East}, {p.Server().Name, p.Server().West}} {
		fmt.Fprintf(&b, "\n%s: the host's own namespace\n", n.name)
		for _, a := range n.at.Addresses {
			fmt.Fprintf(&b, "  %s at %s, as it is\n", a, n.at.Device)
		}
	}
	return b.String()
}
