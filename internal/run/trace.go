package run

import (
	"context"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/trace"
)

// Traced is a chain as package trace looks at it.
func Traced(p *plan.Plan) trace.Chain {
	c := trace.Chain{Name: p.Chain, Wiring: p.Wiring, Address: p.Server().West.Addresses[0]}
	for _, n := range p.Nodes {
		node := trace.Node{Name: n.Name, Kind: n.Kind, Namespace: n.Namespace}
		for _, i := range []*plan.Interface{n.West, n.East} {
			if i != nil {
				node.Interfaces = append(node.Interfaces, i.Device)
			}
		}
		c.Nodes = append(c.Nodes, node)
	}
	c.Rules = func(ctx context.Context) (map[string][]trace.RuleCount, error) { return countedRules(ctx, p) }
	return c
}

// countedRules are each node's, and what its policy dropped.
func countedRules(ctx context.Context, p *plan.Plan) (map[string][]trace.RuleCount, error) {
	state, err := Inspect(ctx, p)
	if err != nil {
		return nil, err
	}
	all := map[string][]trace.RuleCount{}
	for _, n := range state.Nodes {
		for _, r := range n.Rules {
			all[n.Name] = append(all[n.Name], trace.RuleCount{Rule: r.Rule, Comment: r.Comment, Packets: r.Packets, Bytes: r.Bytes})
		}
		if d := n.Dropped; d != nil {
			all[n.Name] = append(all[n.Name], trace.RuleCount{Packets: d.Packets, Bytes: d.Bytes})
		}
	}
	return all, nil
}
