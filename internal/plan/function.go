package plan

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// functions lets each function contribute to its place.
func (b *builder) functions() error {
	var refused []error
	for i, n := range b.nodes {
		if n.Kind == "endpoint" {
			refused = append(refused, about(b.endpointProgram(i), "endpoint "+n.Name))
			continue
		}
		if n.Kind == StopKind {
			refused = append(refused, b.handOn(i))
			continue
		}
		all := n.members()
		for j := range all {
			refused = append(refused, about(b.function(i, &all[j]), "function "+all[j].Name))
		}
	}
	return errors.Join(refused...)
}

// function lets one of a node's contribute.
func (b *builder) function(i int, m *Member) error {
	for _, site := range m.sites(b.site(i, *m)) {
		made, err := b.contribution(m.body, site)
		b.seat(made)
		if err == nil {
			err = b.take(b.nodes[i], "function "+m.Name, made)
		}
		if err != nil {
			return err
		}
		for _, r := range made {
			m.made = append(m.made, r.ID)
		}
	}
	return nil
}

// contribution is what a function makes at a site.
func (b *builder) contribution(body api.FunctionBody, site function.Site) ([]resource.Resource, error) {
	kind, ok := b.catalogue.Functions[body.Kind]
	if !ok {
		return nil, fmt.Errorf("there is no function kind %q", body.Kind)
	}
	options := settled(kind, body.Options, b.facts.Has)
	for _, name := range kind.Requires(options) {
		b.requires[name] = true
	}
	if err := b.checkArms(kind, site, options); err != nil {
		return nil, err
	}
	return kind.Contribute(site, options)
}

// take adds what a function makes to the plan.
func (b *builder) take(n Node, who string, made []resource.Resource) error {
	for _, r := range made {
		// The rest of a standalone function is its own, not this chain's.
		if n.shared && !onInterface(r) {
			continue
		}
		if n.shared {
			r.Needs = slices.DeleteFunc(r.Needs, func(id string) bool { return slices.ContainsFunc(made, named(id)) })
		}
		only := exclusive(r)
		if other := b.by[only]; other != "" {
			return fmt.Errorf("%s takes %s already, of which there is only one; take one of them away", other, only)
		}
		b.by[only] = who
		b.add(r)
	}
	return nil
}

// exclusive is what a resource takes for itself: a rule set its whole table, whatever
// the hooks, and a program the port that it is ready at.
func exclusive(r resource.Resource) string {
	switch s := r.Spec.(type) {
	case ruleset.Spec:
		return resource.ID(r.Kind, r.Namespace, s.Backend+"/"+s.Table)
	case process.Spec:
		if s.Ready.TCPPort != 0 {
			return fmt.Sprintf("TCP port %d of namespace %s", s.Ready.TCPPort, s.Netns)
		}
	}
	return r.ID
}

func named(id string) func(resource.Resource) bool {
	return func(r resource.Resource) bool { return r.ID == id }
}

// settled options leave nothing to choose. Where nothing is known of the machine, it
// has everything.
func settled(kind function.Kind, options any, has func(string) bool) any {
	if options == nil {
		options = kind.Options()
	}
	if has == nil {
		has = func(string) bool { return true }
	}
	if s, chooses := kind.(function.Settler); chooses {
		return s.Settle(options, has)
	}
	return options
}

func (b *builder) site(i int, m Member) function.Site {
	n := b.nodes[i]
	site := function.Site{
		Owner: b.chain.Metadata.Name, Node: m.Name, Namespace: n.Namespace, West: n.West.Device, East: n.East.Device,
		MTU: b.chain.Spec.MTU, WestAddresses: n.West.Addresses, EastAddresses: n.East.Addresses, Target: n.toServer, Further: b.nodes[len(b.nodes)-1].further(),
		Beside: m.beside, Direction: m.body.Direction, Resources: b.resourcesOf(m), Needs: append(need(n), b.links[n.Name]...),
	}
	site.WestMAC, site.EastMAC = b.facing(*b.nodes[b.previous(i)].East, false).MAC, b.facing(*b.nodes[b.next(i)].West, true).MAC
	if m.body.Direction == api.Reverse {
		site.Target, site.Further = n.toClient, b.nodes[0].further()
	}
	if m.Kind == "command" && !n.Transparent { // names are written only where a program may ask for them, and reach whom they mean
		site.Hosts = hosts(b.nodes, i)
	}
	return site
}

// Hosts are the names that resolve in a node, each with the addresses by which
// that node reaches it.
func (p *Plan) Hosts(node string) []function.Host {
	for i, n := range p.Nodes {
		if n.Has(node) {
			return hosts(p.Nodes, i)
		}
	}
	return nil
}

// hosts: nodes in the west are reached at their east interface, nodes in the east
// at their west one, oneself at any, and the ends where functions between translate to
// them.
func hosts(nodes []Node, from int) []function.Host {
	var out []function.Host
	for i, n := range nodes {
		if i > 0 && n.Function() == nodes[i-1].Function() {
			continue // another replica, which is reached where the first is
		}
		end := map[int][]netip.Addr{0: nodes[from].toClient, len(nodes) - 1: nodes[from].toServer}[i]
		if i != from && len(end) > 0 {
			out = append(out, n.called(end)...)
			continue
		}
		port := n.West
		if i < from || port == nil {
			port = n.East
		}
		if port == nil { // a standalone function has none of its own
			continue
		}
		out = append(out, n.called(port.Addresses)...)
	}
	return out
}

// called is what a node is called at its addresses: by its name, as a replica by that of the
// function, and by those of the functions that share it.
func (n Node) called(at []netip.Addr) (out []function.Host) {
	if n.Apart != 0 {
		return nil // nothing answers there
	}
	for _, a := range at {
		out = append(out, function.Host{Name: n.InFile(), Address: a})
		for _, m := range n.Functions {
			out = append(out, function.Host{Name: m.Name, Address: a})
		}
	}
	return out
}
