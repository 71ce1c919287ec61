package run

import (
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/profile"
	"nfchain.dev/nfchain/internal/resource"
)

// Profiled is a chain as package profile looks at it.
func Profiled(p *plan.Plan) profile.Chain {
	c := profile.Chain{Name: p.Chain, Wiring: p.Wiring, Arrivals: map[resource.Interface]string{}}
	arrivals := p.Arrivals()
	for _, n := range p.Nodes {
		c.Nodes = append(c.Nodes, profile.Node{Name: n.Name, Kind: n.Kind, Namespace: n.Namespace})
		for _, i := range []*plan.Interface{n.West, n.East} {
			if i == nil {
				continue
			}
			for _, at := range arrivals[resource.Interface{Namespace: n.Namespace, Device: i.Device}] {
				c.Arrivals[at] = n.Name
			}
		}
	}
	if own := p.Between(); own != "" {
		c.Nodes = append(c.Nodes, profile.Node{Name: "(wiring)", Kind: "wiring", Namespace: own})
	}
	return c
}
