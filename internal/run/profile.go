package run

import (
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/profile"
)

// Profiled is a chain as package profile looks at it.
func Profiled(p *plan.Plan) profile.Chain {
	c := profile.Chain{Name: p.Chain, Wiring: p.Wiring}
	for _, n := range p.Nodes {
		c.Nodes = append(c.Nodes, profile.Node{Name: n.Name, Kind: n.Kind, Namespace: n.Namespace})
	}
	if own := p.Between(); own != "" {
		c.Nodes = append(c.Nodes, profile.Node{Name: "(wiring)", Kind: "wiring", Namespace: own})
	}
	return c
}
