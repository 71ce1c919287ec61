package plan

import (
	"errors"
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// passable refuses what cannot be where packets are led past functions on their way back.
func (b *builder) passable() error {
	if !b.chain.Spec.HasOneWay() {
		return nil
	}
	if b.chain.Spec.Parts() {
		return fmt.Errorf("symmetric: what goes back goes the way that it came where functions have branches or a next; leave one of the two out")
	}
	var refused []error
	for _, n := range b.nodes {
		for _, m := range n.members() {
			if why := m.body.NeedsAnswers(); why != "" && n.OneWay {
				refused = append(refused, fmt.Errorf("function %s: it must see both ways, because %s; give it symmetric: true", m.Name, why))
			}
		}
	}
	half := b.onHops(func(f *Inline) bool { // it would see one way alone on its hop
		return f.body.NeedsAnswers() != "" && (b.nodes[f.hop].OneWay || b.nodes[f.hop+1].OneWay)
	})
	return errors.Join(append(refused, b.astray(half...))...)
}

// back is the place of the node that packets come to from another on their way back: the nearest before it that
// they visit. An end is always visited.
func (b *builder) back(from int) int {
	to := from - 1
	for b.nodes[to].OneWay {
		to--
	}
	return to
}

// straight has the ports behind which packets go back send them past functions that these do not visit.
func (b *builder) straight() {
	for i := 1; i < len(b.nodes); i++ {
		to := b.back(i)
		if to == i-1 {
			continue
		}
		at, _ := b.portAt(i, false)
		port, pair := b.portAt(to, true)
		r := b.steers(at)
		s := r.Spec.(steer.Spec)
		s.To = port
		r.Spec, r.Needs = s, []string{r.Needs[0], pair}
	}
}

// steers is the resource that steers what comes in at a port.
func (b *builder) steers(port string) *resource.Resource {
	return &b.resources[slices.IndexFunc(b.resources, func(r resource.Resource) bool {
		s, is := r.Spec.(steer.Spec)
		return is && s.Device == port
	})]
}

// On are the nodes that packets on one of several paths come by, in order; where that is nil, all of the chain's.
func (p *Plan) On(path *Path) (nodes []Node) {
	if path == nil {
		return p.Nodes
	}
	for _, name := range path.Nodes {
		nodes = append(nodes, p.Nodes[placeOf(p.Nodes, name)])
	}
	return nodes
}

// Returns tells whether what goes from the second endpoint to the first comes by a node, on one of several paths, or,
// where that is nil, on any that the chain has.
func (p *Plan) Returns(n Node, on *Path) bool {
	switch {
	case on != nil:
		return on.returns(n.Name)
	case p.Classifier != nil:
		return p.Classifier.returns(n)
	}
	return !n.OneWay
}

// returns tells whether packets go back by a node on any path, or would if one went by it.
func (c *Classifier) returns(n Node) bool {
	visited := false
	for _, p := range c.Paths {
		if p.returns(n.Name) {
			return true
		}
		visited = visited || p.Has(n.Name)
	}
	return !visited && !n.OneWay
}

// returns tells whether packets on a path go back by a node.
func (p Path) returns(node string) bool {
	if p.Back == nil {
		return p.Has(node)
	}
	return slices.Contains(p.Back, node)
}

// ReturnsBy tells whether packets on a path take the step of a function without a namespace on their way back.
func (p Path) ReturnsBy(f Inline) bool {
	return slices.Contains(p.Functions, f.Name) && !f.OneWay && !p.OneWay
}

// Back are the names of what packets come by on their way back, in that order; nil where they come by all functions,
// or by those of one of several paths.
func (p *Plan) Back() (names []string) {
	if p.Alone() || p.Classifier != nil || len(p.Nodes) == 0 {
		return nil
	}
	fewer := false
	for i := len(p.Nodes) - 1; i >= 0; i-- {
		for _, f := range slices.Backward(p.InlineAfter(i)) {
			if fewer = fewer || f.OneWay; !f.OneWay {
				names = append(names, f.Name)
			}
		}
		n := p.Nodes[i]
		if fewer = fewer || n.OneWay; !n.OneWay && !n.Again() {
			names = append(names, n.Function())
		}
	}
	if !fewer {
		return nil
	}
	return names
}

// returns tells whether any packet goes back by a node.
func (b *builder) returns(n Node) bool {
	if b.classifier != nil {
		return b.classifier.returns(n)
	}
	return !n.OneWay
}

// places of the nodes that packets are in on their way back; nil where these are all.
func (p Path) places() []int {
	if p.Back == nil {
		return nil
	}
	return p.back
}
