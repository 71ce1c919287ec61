package plan

import (
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
)

// functions lets each function contribute to its place.
func (b *builder) functions() error {
	for i := range b.nodes {
		n := b.nodes[i]
		if n.Kind == "endpoint" {
			continue
		}
		kind, ok := b.catalogue.Functions[n.Kind]
		if !ok {
			return fmt.Errorf("function %s: there is no function kind %q", n.Name, n.Kind)
		}
		options := settled(kind, n.body.Options, b.facts.Has)
		for _, name := range kind.Requires(options) {
			b.requires[name] = true
		}
		made, err := kind.Contribute(b.site(i), options)
		if err != nil {
			return fmt.Errorf("function %s: %w", n.Name, err)
		}
		for _, r := range made {
			// The rest of a standalone function is its own, not this chain's.
			if n.shared && !onInterface(r) {
				continue
			}
			if n.shared {
				r.Needs = slices.DeleteFunc(r.Needs, func(id string) bool { return slices.ContainsFunc(made, named(id)) })
			}
			b.add(r)
		}
	}
	return nil
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

func (b *builder) site(i int) function.Site {
	n := b.nodes[i]
	site := function.Site{
		Owner: b.chain.Metadata.Name, Node: n.Name, Namespace: n.Namespace, West: n.West.Device, East: n.East.Device,
		Direction: n.body.Direction, Resources: n.body.Resources, Needs: append(need(n), b.links[n.Name]...),
	}
	if n.Kind == "command" { // names are written only where a program may ask for them
		site.Hosts = hosts(b.nodes, i)
	}
	return site
}

// Hosts are the names that resolve in a node, each with the addresses by which
// that node reaches it.
func (p *Plan) Hosts(node string) []function.Host {
	for i, n := range p.Nodes {
		if n.Name == node {
			return hosts(p.Nodes, i)
		}
	}
	return nil
}

// hosts: nodes in the west are reached at their east interface, nodes in the east
// at their west one, and oneself at any.
func hosts(nodes []Node, from int) []function.Host {
	var out []function.Host
	for i, n := range nodes {
		port := n.West
		if i < from || port == nil {
			port = n.East
		}
		if port == nil { // a standalone function has none of its own
			continue
		}
		for _, a := range port.Addresses {
			out = append(out, function.Host{Name: n.Name, Address: a})
		}
	}
	return out
}
