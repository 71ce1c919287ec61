package plan

import (
	"fmt"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/lookup"
)

// keepApart has a tenant's chain go through a standalone function without meeting others
// there. It has no addresses in it, so that nothing of the function's own is ever sent to
// one of several who have the same, and a routing table for what comes in by its
// interfaces. A chain of nobody's has addresses and the main table, and so is there alone.
func (b *builder) keepApart(n *Node, ref string) error {
	tenant := b.chain.Spec.Tenant
	for _, guest := range b.facts.Guests[ref] {
		if guest != b.chain.Metadata.Name && guest != ref && (tenant == "" || b.facts.Tenants[guest] == "") {
			return fmt.Errorf("function %s is in use by chain %s; chains that go through one function are kept apart where each has a tenant, so give both one", ref, guest)
		}
	}
	if tenant != "" {
		if why := b.catalogue.unshared(n.body, b.facts.Has); why != "" {
			return fmt.Errorf("function %s: %s cannot be shared by tenants: %s; put it into the chain itself, without ref", n.Name, ref, why)
		}
		n.Apart = max(b.guest(*n), 1000) // clear of the tables that the kernel has
	}
	return nil
}

// unshared is why tenants cannot share a function, or "".
func (c Catalogue) unshared(body api.FunctionBody, has func(string) bool) string {
	kind, ok := c.Functions[body.Kind]
	if !ok {
		return ""
	}
	shareable, can := kind.(function.Shareable)
	if !can {
		return fmt.Sprintf("a %s has addresses, a program or a memory of what passed", body.Kind)
	}
	return shareable.Shares(settled(kind, body.Options, has))
}

// guest is a number for a node in a namespace that is not the chain's own. Its interfaces
// are called by it, and the kernel takes a name once, so no other there has the same.
func (b *builder) guest(n Node) uint32 {
	return uint32(hash("device", b.chain.Metadata.Name, n.Name))
}

// stranger tells whether a chain is another tenant's, which may have the same addresses.
func (b *builder) stranger(chain string) bool {
	own, other := b.chain.Spec.Tenant, b.facts.Tenants[chain]
	return own != "" && other != "" && own != other
}

// lookUps lead what comes in by the interfaces of nodes that are kept apart to their tables.
func (b *builder) lookUps() {
	for _, n := range b.nodes {
		if n.Apart == 0 {
			continue
		}
		for _, p := range []*Interface{n.West, n.East} {
			if p == n.East && n.oneArm() {
				continue // said already
			}
			b.add(resource.New(n.Namespace, lookup.Spec{Device: p.Device, Table: n.Apart}, b.links[n.Name]...))
		}
	}
}
