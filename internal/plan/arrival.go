package plan

import (
	"slices"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/resource/through"
)

// Arrivals are the interfaces at which the kernel tells of what comes in by a node's
// interface, where it is not at that itself: a forwarder hands packets on to the node from
// the port where they came in. Beside replicas there are several such ports. What comes in
// where packets are shared out over replicas, or branches part, is none's: the kernel tells of it before
// one is chosen. To a node that gets frames behind a header the port sends, and they arrive there.
func (p *Plan) Arrivals() map[resource.Interface][]resource.Interface { return p.ArrivalsOn(nil) }

// ArrivalsOn are those of packets on one of several paths. Without one, where paths part is none's arrival
// either.
func (p *Plan) ArrivalsOn(path *Path) map[resource.Interface][]resource.Interface {
	behind := map[resource.Interface]resource.Interface{} // a port
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is {
			behind[resource.Interface{Namespace: s.B.Namespace, Device: s.B.Device}] = resource.Interface{Namespace: s.A.Namespace, Device: s.A.Device}
		}
	}
	at := map[resource.Interface][]resource.Interface{}
	for _, r := range p.Resources {
		s, is := r.Spec.(steer.Spec)
		port := resource.Interface{Namespace: r.Namespace, Device: s.Device}
		if !is || path != nil && !p.on(path, behind[port].Namespace) {
			continue
		}
		to := s.To
		switch on := path.NameOr(nowhere); {
		case s.Paths != nil && !s.Paths.Behind(on):
			to = s.Paths.To(on)
		case s.Branch != nil:
			continue
		}
		if to != "" && !sends(resource.Interface{Device: to}) {
			node := behind[resource.Interface{Namespace: r.Namespace, Device: to}]
			at[node] = append(at[node], port)
		}
	}
	p.passedBy(at, path)
	return at
}

// passedBy are nodes that hand packets on within the turn of the core in which these came: the
// kernel tells of them once, and that is the arrival at the first node behind which does not.
func (p *Plan) passedBy(at map[resource.Interface][]resource.Interface, path *Path) {
	if path == nil && p.Classifier != nil {
		return
	}
	if g := p.Graph(); !g.Line() && (path == nil || path.Branched) {
		p.passedByWays(at, g)
		return
	}
	nodes := slices.Clone(p.On(path))
	for i := range len(nodes) - 1 {
		handOver(at, nodes[i], nodes[i+1], func(n Node) *Interface { return n.West })
	}
	back := slices.DeleteFunc(nodes, func(n Node) bool { return !p.Returns(n, path) })
	for i := len(back) - 1; i > 0; i-- {
		handOver(at, back[i], back[i-1], func(n Node) *Interface { return n.East })
	}
}

// passedByWays are those where ways part and come together. Where what a node hands on comes to is told by packet sockets, what the next one hands on is so too.
func (p *Plan) passedByWays(at map[resource.Interface][]resource.Interface, g Graph) {
	p.onlyWays(g, func(n, next Node, side func(Node) *Interface) {
		switch {
		case len(at[side(n).of(n)]) > 0:
			handOver(at, n, next, side)
		case n.Hook == through.TC:
			delete(at, side(next).of(next))
		}
	})
}

// onlyWays are those from a node to another, either way, that is the only one from that and to this.
func (p *Plan) onlyWays(g Graph, do func(n, next Node, side func(Node) *Interface)) {
	places := p.Places()
	for i, to := range g.Onward {
		if len(to) == 1 && len(g.Back[to[0]]) == 1 && places[i].West != nil {
			do(places[i], places[to[0]], func(n Node) *Interface { return n.West })
		}
	}
	for i, to := range slices.Backward(g.Back) {
		if len(to) == 1 && len(g.Onward[to[0]]) == 1 && places[i].East != nil {
			do(places[i], places[to[0]], func(n Node) *Interface { return n.East })
		}
	}
}

// of a node.
func (i *Interface) of(n Node) resource.Interface {
	return resource.Interface{Namespace: n.Namespace, Device: i.Device}
}

// handOver the arrivals at a node, if it hands packets on, to the next. Which replica handed
// them on is not known.
func handOver(at map[resource.Interface][]resource.Interface, n, next Node, side func(Node) *Interface) {
	if n.Hook != through.TC || n.Replica != nil {
		return
	}
	in, out := side(n).of(n), side(next).of(next)
	at[out] = at[in]
	if len(at[in]) == 0 {
		at[out] = []resource.Interface{in}
	}
	delete(at, in)
}

// nowhere is the name of no path.
const nowhere = "-"

// on tells whether a path goes by a namespace.
func (p *Plan) on(path *Path, namespace string) bool {
	return slices.ContainsFunc(p.Nodes, func(n Node) bool { return n.Namespace == namespace && path.Has(n.Name) })
}

// Handed are the interfaces behind a forwarder's ports where nothing but packet sockets tells of what
// comes in: not one port alone leads there, or who watches may have packets go elsewhere.
func (p *Plan) Handed() map[resource.Interface]bool {
	all := map[resource.Interface]bool{}
	behind, arrivals := map[string]resource.Interface{}, p.Arrivals()
	watched := false
	leads := map[[2]string]int{} // ports that do so on a path to another
	for _, r := range p.Resources {
		if s, is := r.Spec.(steer.Spec); is && s.Paths != nil {
			for _, w := range s.Paths.Ways {
				if !w.Behind {
					leads[[2]string{w.Path, w.Port}]++
				}
			}
		}
		if s, is := r.Spec.(link.Spec); is {
			behind[s.B.Device] = resource.Interface{Namespace: s.A.Namespace, Device: s.A.Device}
		}
		watched = watched || r.Kind == health.KindName
	}
	for _, r := range p.Resources {
		s, is := r.Spec.(steer.Spec)
		if !is {
			continue
		}
		if to := behind[s.To]; s.To != "" {
			all[to] = all[to] || watched || len(arrivals[to]) > 1
		}
		if s.Branch != nil {
			for _, way := range s.Branch.Ways {
				if way.Port != "" {
					all[behind[way.Port]] = true
				}
			}
		}
		if s.Paths != nil {
			for _, w := range s.Paths.Ways {
				if w.Of == "" && !w.Behind && (watched || leads[[2]string{w.Path, w.Port}] > 1) {
					all[behind[w.Port]] = true
				}
			}
		}
		for _, among := range s.Shared() {
			for _, replica := range among.Replicas {
				all[behind[replica.Port]] = true
			}
		}
	}
	if g := p.Graph(); !g.Line() {
		p.onlyWays(g, func(n, next Node, side func(Node) *Interface) {
			if n.Hook == through.TC && all[side(n).of(n)] {
				all[side(next).of(next)] = true
			}
		})
	}
	return all
}
