package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/label"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/wiring"
)

// Graph is where packets go on from each place of a chain, and come from: lists of places, by
// place. Replicas of a function are at one. The first of each list is the planned way, of what has no mark and of what
// belongs to no flow that is known.
type Graph struct{ Onward, Back [][]int }

// Graph of the chain. Without branches each place leads to the next.
func (p *Plan) Graph() Graph { return graphOf(p.Places()) }

// Places of the chain in path order, by the nodes that are there: of replicas of a function the first.
func (p *Plan) Places() []Node { return slices.DeleteFunc(slices.Clone(p.Nodes), Node.Again) }

// graphOf places in path order.
func graphOf(nodes []Node) Graph {
	g := Graph{make([][]int, len(nodes)), make([][]int, len(nodes))}
	for i, n := range nodes[:len(nodes)-1] {
		g.lead(i, n.next(nodes, i))
		for _, b := range n.Branches {
			g.lead(i, seatOf(nodes, b.To))
		}
	}
	for i, all := range g.Back {
		planned := g.planned(i)
		if at := slices.Index(all, planned); at > 0 {
			g.Back[i] = slices.Insert(slices.Delete(all, at, at+1), 0, planned)
		}
	}
	return g
}

// lead from one node to another.
func (g Graph) lead(from, to int) {
	if !slices.Contains(g.Onward[from], to) {
		g.Onward[from], g.Back[to] = append(g.Onward[from], to), append(g.Back[to], from)
	}
}

// planned is the place of the node that answers go back to from another if their flow is not known:
// the one before it on the planned path, or else the last of those that lead there by plan.
func (g Graph) planned(to int) int {
	path := g.Path()
	if at := slices.Index(path, to); at > 0 {
		return path[at-1]
	}
	for _, from := range slices.Backward(g.Back[to]) {
		if g.Onward[from][0] == to {
			return from
		}
	}
	return -1
}

// Path is the places of the nodes that a packet without a mark passes.
func (g Graph) Path() []int { return g.from(0) }

// from a node to the end, by plan.
func (g Graph) from(at int) []int {
	path := []int{at}
	for len(g.Onward[at]) > 0 {
		at = g.Onward[at][0]
		path = append(path, at)
	}
	return path
}

// Line tells that each node leads to the next, and nowhere else.
func (g Graph) Line() bool {
	for i, to := range g.Onward[:len(g.Onward)-1] {
		if !slices.Equal(to, []int{i + 1}) {
			return false
		}
	}
	return true
}

// leadsTo tells whether a branch of a node names another, past what is inline between.
func (n Node) leadsTo(function string) bool {
	return slices.ContainsFunc(n.Branches, func(b api.Branch) bool { return b.To == function })
}

// alone tells whether all that a node sends goes to the one behind it, and that has nothing from others.
func (g Graph) alone(hop int) bool {
	return slices.Equal(g.Onward[hop], []int{hop + 1}) && slices.Equal(g.Back[hop+1], []int{hop})
}

// Always tells whether every way from end to end goes through a node.
func (g Graph) Always(place int) bool {
	reached := make([]bool, len(g.Onward))
	reached[0] = true
	for i, to := range g.Onward {
		for _, next := range to {
			reached[next] = reached[next] || reached[i] && i != place
		}
	}
	last := len(g.Onward) - 1
	return !reached[last] || place == last || place == 0
}

// Always tells whether every way from end to end goes through the node of a name, or one of its function's replicas.
func (p *Plan) Always(node string) bool {
	function := p.Nodes[slices.IndexFunc(p.Nodes, func(n Node) bool { return n.Name == node || n.Function() == node })].Function()
	return p.Graph().Always(seatOf(p.Places(), function))
}

// next is the place of the node where packets go on from one that no branch has.
func (n Node) next(nodes []Node, place int) int {
	if n.Next == "" {
		return place + 1
	}
	return seatOf(nodes, n.Next)
}

// seatOf what the chain's file calls so, among places; -1 if nothing is.
func seatOf(places []Node, name string) int {
	return slices.IndexFunc(places, func(n Node) bool { return n.Function() == name })
}

// placeOf a node that is called so; -1 if none is.
func placeOf(nodes []Node, name string) int {
	return slices.IndexFunc(nodes, func(n Node) bool { return n.Name == name })
}

// partable refuses what cannot be where ways part.
func (b *builder) partable() error {
	if !b.chain.Spec.Parts() {
		return nil
	}
	var refused []error
	for _, f := range b.chain.Spec.Functions {
		for _, to := range f.Leads() {
			if seatOf(b.nodes, to) < 0 {
				refused = append(refused, fmt.Errorf("function %s: packets cannot go on to %s, which is no node of the chain", f.Name, to))
			}
		}
	}
	if len(refused) > 0 {
		return errors.Join(refused...)
	}
	g := graphOf(b.nodes)
	for i, n := range b.nodes {
		if n.Kind != "endpoint" {
			refused = append(refused, b.partableAt(g, i))
		}
	}
	for _, f := range b.inline {
		refused = append(refused, b.always(g, f.hop, f.Name, f.Kind))
	}
	apart := b.onHops(func(f *Inline) bool {
		return !g.alone(f.hop) || b.nodes[f.hop].leadsTo(b.nodes[f.hop+1].Function()) // and it would meet what goes another way
	})
	return errors.Join(append(refused, b.astray(apart...))...)
}

// partableAt refuses what cannot be at a place where ways part in the chain.
func (b *builder) partableAt(g Graph, i int) error {
	n := b.nodes[i]
	var refused []error
	if n.Hook != "" && len(n.Branches) > 0 {
		refused = append(refused, fmt.Errorf("function %s: branches: what a %s passes on has no mark; say it of the function before it, or use kind: forward or kind: bridge", n.Function(), n.Kind))
	}
	if len(g.Back[i]) == 0 {
		refused = append(refused, fmt.Errorf("function %s: no packet gets there; have a branch or a next of a function before it lead there, or take it out", n.Function()))
	}
	if len(g.Back[i]) > steer.MostWays || len(g.Onward[i]) > steer.MostWays {
		refused = append(refused, fmt.Errorf("function %s: more than %d ways come together or part there; lead some to a function between", n.Function(), steer.MostWays))
	}
	for _, m := range n.members() {
		refused = append(refused, b.always(g, i, m.Name, m.Kind))
	}
	return errors.Join(refused...)
}

// always wants all ways to lead to a function that translates addresses, at a place or behind it.
func (b *builder) always(g Graph, place int, name, kind string) error {
	if _, translates := b.catalogue.Functions[kind].(function.Translator); translates && !g.Always(place) {
		return fmt.Errorf("function %s: a %s gives connections addresses, and some ways lead past it, on which they would have others; have all ways lead to it", name, kind)
	}
	return nil
}

// errStays is of what is refused where no flow can stay on the path that it began on.
var errStays = errors.New("flows cannot stay on their path (ebpf: {stay: true}) where functions have branches or a next, one has encapsulation, and the chain has a classifier; leave one of the four out")

// branch has ports send packets on by labels, and back by the way of their flow, where ways part or
// come together, and has functions label what leaves them.
func (b *builder) branch() error {
	g := graphOf(b.nodes)
	if g.Line() {
		return nil
	}
	known, _ := b.wiring.(wiring.Branching).Flows(b.wiringOptions())
	numbers := numbered(b.nodes)
	behind, pairs := b.pairs()
	for i, r := range b.resources {
		s, is := r.Spec.(steer.Spec)
		if !is {
			continue
		}
		at := behind[s.Device]
		place := placeOf(b.nodes, at.node)
		n := b.nodes[place]
		way := steer.Branch{Node: n.Function(), Number: numbers[n.Function()], Flows: known}
		needs := r.Needs[:1:1] // the port itself
		to := g.Onward[place]
		switch {
		case n.East != nil && n.East.Device == at.device:
		case n.West != nil && n.West.Device == at.device:
			way.Back, to = true, g.Back[place]
		default:
			continue // the hop beside the chain
		}
		for _, next := range to {
			other := b.nodes[next]
			device := other.West
			if way.Back {
				device = other.East
			}
			pair := pairs[end{other.Name, device.Device}]
			way.Ways = append(way.Ways, steer.BranchWay{
				Node: other.Function(), Number: numbers[other.Function()], Port: pair.Spec.(link.Spec).B.Device, Joint: !way.Back && len(g.Back[next]) > 1,
			})
			needs = append(needs, pair.ID)
		}
		s.To = way.Ways[0].Port
		if len(way.Ways) > 1 || way.Ways[0].Joint || b.detours(g, to[0], way.Back) || b.chain.Spec.Classifier != nil && b.headsOnWays(g, place, way.Back) {
			s.Branch = &way
		}
		b.resources[i].Spec, b.resources[i].Needs = s, needs
	}
	b.labels(numbers)
	return nil
}

// detours tells whether packets to a node may be led past it to others that several ways lead to or that have replicas, or back past such
// a one.
func (b *builder) detours(g Graph, to int, back bool) bool {
	for b.nodes[to].onFailure == process.Bypass {
		if back && len(g.Back[to]) > 1 {
			return true
		}
		if back {
			to = g.Back[to][0]
		} else {
			to = g.Onward[to][0]
		}
		if !back && len(g.Back[to]) > 1 || b.nodes[to].Replica != nil {
			return true
		}
	}
	return false
}

// beyondWays from a place are the places that packets may go to from there, or back, whichever functions fail.
func (b *builder) beyondWays(g Graph, from int, back bool) (places []int) {
	all := g.Onward
	if back {
		all = g.Back
	}
	for to := slices.Clone(all[from]); len(to) > 0; to = to[1:] {
		at := to[0]
		if slices.Contains(places, at) {
			continue
		}
		places = append(places, at)
		switch {
		case b.nodes[at].onFailure != process.Bypass:
		case back:
			to = append(to, all[at]...)
		default:
			to = append(to, all[at][0]) // what is led past it has no mark
		}
	}
	return places
}

// labels are given to what leaves functions that have branches.
func (b *builder) labels(numbers map[string]uint32) {
	for _, n := range b.nodes {
		if len(n.Branches) == 0 {
			continue
		}
		spec := label.Spec{Device: n.East.Device}
		for _, to := range n.Branches {
			spec.Rules = append(spec.Rules, label.Rule{Mark: to.Mark, Mask: to.Bits(), Node: to.To, Label: numbers[to.To]})
		}
		b.requires[feature.BPFIngress] = true
		b.add(resource.New(n.Namespace, spec, b.links[n.Name]...))
	}
}

// numbered are the labels of places, by what the chain's file calls what is there. They follow from their names, so that those that stay in a chain
// keep theirs, as far as can be.
func numbered(nodes []Node) map[string]uint32 {
	numbers, taken := map[string]uint32{}, map[uint32]bool{}
	for _, n := range nodes {
		at := uint32(hash("label", n.Function()) % label.Most)
		for taken[at] {
			at = (at + 1) % label.Most
		}
		taken[at], numbers[n.Function()] = true, at+1
	}
	return numbers
}

// ways are those of a chain where they part, for a person: the planned one, and each that leaves it
// until it is back there.
func (p *Plan) ways() (lines []string) {
	g := p.Graph()
	if g.Line() {
		return nil
	}
	places, planned := p.Places(), g.Path()
	for _, n := range places {
		for _, b := range n.Branches {
			lines = append(lines, fmt.Sprintf("%s, %s → %s", n.Function(), b, strings.Join(until(g, places, seatOf(places, b.To), planned), " → ")))
		}
	}
	return lines
}

// until a way from a place is back on another, the names of what is on it.
func until(g Graph, places []Node, at int, path []int) (names []string) {
	for _, place := range g.from(at) {
		names = append(names, places[place].Function())
		if slices.Contains(path, place) {
			break
		}
	}
	return names
}

// Marked says which packets a node sends to another by branches, for a person; "" where those are none.
func (n Node) Marked(to string) string {
	var all []string
	for _, b := range n.Branches {
		if b.To == to {
			all = append(all, b.String())
		}
	}
	return strings.Join(all, ", ")
}
