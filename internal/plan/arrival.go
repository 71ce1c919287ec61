package plan

import (
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/resource/through"
)

// Arrivals are the interfaces at which the kernel tells of what comes in by a node's
// interface, where it is not at that itself: a forwarder hands packets on to the node from
// the port where they came in. Beside replicas there are several such ports. What comes in
// where packets are shared out over replicas is none's: the kernel tells of it before one is
// chosen.
func (p *Plan) Arrivals() map[resource.Interface][]resource.Interface {
	behind := map[resource.Interface]resource.Interface{} // a port
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is {
			behind[resource.Interface{Namespace: s.B.Namespace, Device: s.B.Device}] = resource.Interface{Namespace: s.A.Namespace, Device: s.A.Device}
		}
	}
	at := map[resource.Interface][]resource.Interface{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(steer.Spec); is && s.Among == nil {
			node := behind[resource.Interface{Namespace: r.Namespace, Device: s.To}]
			at[node] = append(at[node], resource.Interface{Namespace: r.Namespace, Device: s.Device})
		}
	}
	p.passedBy(at)
	return at
}

// passedBy are nodes that hand packets on within the turn of the core in which these came: the
// kernel tells of them once, and that is the arrival at the first node behind which does not.
func (p *Plan) passedBy(at map[resource.Interface][]resource.Interface) {
	last := len(p.Nodes) - 1
	for i := range p.Nodes {
		p.handOver(at, i, i+1, func(n Node) *Interface { return n.West })
		p.handOver(at, last-i, last-i-1, func(n Node) *Interface { return n.East })
	}
}

// handOver the arrivals at a node, if it hands packets on, to the next. Which replica handed
// them on is not known.
func (p *Plan) handOver(at map[resource.Interface][]resource.Interface, from, to int, side func(Node) *Interface) {
	n := p.Nodes[from]
	if n.Hook != through.TC || n.Replica != nil {
		return
	}
	in := resource.Interface{Namespace: n.Namespace, Device: side(n).Device}
	out := resource.Interface{Namespace: p.Nodes[to].Namespace, Device: side(p.Nodes[to]).Device}
	at[out] = at[in]
	if len(at[in]) == 0 {
		at[out] = []resource.Interface{in}
	}
	delete(at, in)
}
