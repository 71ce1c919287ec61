package plan

import (
	"errors"
	"fmt"
	"reflect"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/wiring"
)

// Within tells whether a wiring is one of that name whose ends are in one namespace of the chain's own.
func (c Catalogue) Within(name string) bool {
	_, within := c.Wirings[name].(wiring.Within)
	return within
}

// Loops tells whether both ends are in one namespace by a wiring of that name, the host's own or one of the chain's, where nothing tells the
// packets of one from those of the other.
func (c Catalogue) Loops(name string) bool { return c.Bare(name) || c.Within(name) }

// TakesFunctions tells whether functions can be between two ends by a wiring of that name.
func (c Catalogue) TakesFunctions(name string) bool {
	_, none := c.Wirings[name].(wiring.Functionless)
	_, attaching := c.Wirings[name].(wiring.Attaching)
	return !none && !attaching && !c.Loops(name)
}

// Within tells that both ends are in one namespace of the chain's own, which each has a name of.
func (p *Plan) Within() bool { return p.within }

// buildWithin plans two ends in one namespace of the chain's own, which meet over its loopback.
func (b *builder) buildWithin() error {
	for _, e := range b.chain.Spec.Endpoints {
		b.nodes = append(b.nodes, b.endpoint(e))
	}
	if err := b.onePod(); err != nil {
		return err
	}
	port := Interface{Device: wiring.Loopback, MAC: "00:00:00:00:00:00", Addresses: loopbacks(b.chain.Spec.Addresses)}
	west, east := port, port
	b.nodes[0].East, b.nodes[1].West = &west, &east
	if err := b.place(); err != nil {
		return err
	}
	b.requires, b.links, b.by = map[string]bool{"netns": true}, map[string][]string{}, map[string]string{}
	b.namespaces()
	b.sameNamespace()
	joined, err := b.join([]hop{{b.nodes[0], b.nodes[1], west, east}})
	if err != nil {
		return err
	}
	b.link(b.nodes[0], joined.Ends[0].A)
	b.link(b.nodes[1], joined.Ends[0].B)
	if err := b.functions(); err != nil {
		return err
	}
	return b.contain()
}

// sameNamespace has the second end's namespace be the first one's.
func (b *builder) sameNamespace() {
	first, second := b.nodes[0], b.nodes[1]
	for i, r := range b.resources {
		s, is := r.Spec.(namespace.Spec)
		if !is || s.Name != second.Namespace || s.Contained {
			continue
		}
		s.Of = first.Namespace
		b.resources[i].Spec, b.resources[i].Needs = s, append(r.Needs, need(first)...)
	}
}

// beside is the container whose network namespace that of a node is in; "" where it has its own.
func (b *builder) beside(n Node) string {
	if !b.catalogue.Within(b.wiring.Name()) || n.Name == b.nodes[0].Name {
		return ""
	}
	return b.nodes[0].Namespace
}

// onePod wants both ends to be containers of one engine, or neither to be a container.
func (b *builder) onePod() error {
	first, second := b.nodes[0], b.nodes[1]
	for i, n := range b.nodes {
		if n.Runtime != api.RuntimeLXC {
			continue
		}
		return fmt.Errorf("spec.endpoints[%d].runtime: wiring %s has both ends in one namespace, and %s gives each container its own here; use runtime: %s for both", i, b.wiring.Name(), api.RuntimeLXC, engine.Docker)
	}
	if first.Runtime == second.Runtime {
		return nil
	}
	called := func(n Node) string {
		if n.Runtime == "" {
			return api.RuntimeNetns
		}
		return n.Runtime
	}
	return fmt.Errorf("spec.endpoints[1].runtime: wiring %s has both ends in one namespace, which an engine gives to its own containers alone, and the first is of %s and this one of %s; write runtime: %s for both, or for neither",
		b.wiring.Name(), called(first), called(second), engine.Docker)
}

// refuseWithin names what would need interfaces of the chain's own, or another namespace.
func (b *builder) refuseWithin() error {
	s, usual := b.chain.Spec, api.DefaultChainSpec()
	refused := []error{b.unfits(
		unfit{len(s.Functions) > 0, "spec.functions", "has one namespace, in which nothing is between the ends; write functions: [], or use wiring: veth"},
		unfit{s.Outside, "spec.outside", "has both ends in one namespace; use wiring: bridge"},
		unfit{len(s.Everywhere) > 0, "spec.everywhere", "has a loopback alone, of which each packet leaves and comes in by the same interface; use wiring: veth"},
		unfit{!reflect.ValueOf(s.Tuning).IsZero(), "spec.tuning", "goes over a loopback, which stays as the kernel makes it; use wiring: veth"},
		unfit{!s.Placement.Softirqs.Any(), "spec.placement.softirqs", "goes over a loopback, which does its work where packets are sent; leave it out, or use wiring: veth"},
		unfit{s.MTU != usual.MTU, "spec.mtu", "goes over a loopback, whose MTU stays as it is; leave it out"},
		unfit{b.options.Direct, "direct", "is the direct path itself, with nothing to compare it with"},
	), b.refuseBarePools()}
	for i, e := range s.Endpoints {
		at := fmt.Sprintf("spec.endpoints[%d].", i)
		refused = append(refused, b.unfits(
			unfit{e.Runtime == api.RuntimeCNI, at + "runtime", "makes the namespace that both ends share, and has no place for a container of another runtime; use wiring: veth"},
			unfit{e.Namespace != "", at + "namespace", "makes the namespace that both ends share; leave it out, or use wiring: veth"},
			unfit{e.Interface != "", at + "interface", "goes over a loopback, and through no other interface; use wiring: veth"},
			unfit{len(e.Addresses) > 0, at + "addresses", "has the loopback's own addresses; leave it out, or use wiring: veth"},
		))
	}
	return errors.Join(refused...)
}
