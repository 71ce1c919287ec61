package plan

import (
	"errors"
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// Past are the ends of a pair between the ports of a forwarder that stands beside a node: what is sent into one of them comes in at the
// other as what the node sends comes in at its port, meets the same functions without a namespace, and goes on to the same node.
type Past struct {
	// West takes what comes from the west, and East what comes from the east.
	West string `json:"west"`
	East string `json:"east"`
}

// pasts makes such pairs for nodes past which packets are led when they fail, where functions without a namespace would be led past too:
// those that packets meet at the node's own ports.
func (b *builder) pasts() error {
	if !b.steered() {
		return nil
	}
	var refused []error
	for i := range b.nodes {
		n := &b.nodes[i]
		if n.onFailure != process.Bypass {
			continue
		}
		west, east := b.passesAt(i, false), b.passesAt(i, true)
		of := slices.Concat(west, east)
		if len(of) == 0 {
			continue
		}
		if err := b.pastable(i, of); err != nil {
			refused = append(refused, fmt.Errorf("function %s: onFailure: %w", n.Function(), err))
			continue
		}
		b.past(i, n)
	}
	return errors.Join(refused...)
}

// passesAt the port of a node are these, by the ID of each.
func (b *builder) passesAt(node int, east bool) (ids []string) {
	at, _ := b.portAt(node, east)
	for _, r := range b.resources {
		if s, is := r.Spec.(pass.Spec); is && s.Device == at && r.Namespace == b.namespaceOf(WiringNode) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// pastable refuses functions without a namespace at a node's ports where what is led past it would not meet them: where a classifier chooses paths, ways
// part, it is one of several replicas, or they translate addresses.
func (b *builder) pastable(node int, passes []string) error {
	var of []string
	translates := false
	for _, id := range passes {
		spec := b.resource(id).Spec.(pass.Spec)
		of, translates = append(of, spec.Of...), translates || len(spec.NATs) > 0
	}
	if g := graphOf(b.nodes); b.classifier == nil && g.Line() && b.nodes[node].Replica == nil && !translates {
		return nil
	}
	return b.astray(b.onHops(func(f *Inline) bool { return slices.Contains(of, f.Name) })...)
}

// past makes the pair beside a node, with what its ports have: what packets meet there, and where they go on to.
func (b *builder) past(node int, n *Node) {
	own, chain := b.namespaceOf(WiringNode), b.chain.Metadata.Name
	called := func(side string) link.End {
		device := fmt.Sprintf("%s%08x", steer.Beside, uint32(hash("past", n.Name, side)))
		return link.End{Node: WiringNode, Namespace: own, Device: device, MAC: link.MAC(chain, WiringNode, device)}
	}
	west, east := called("west"), called("east")
	n.Past = &Past{West: west.Device, East: east.Device}
	_, pairs := b.pairs()
	like := pairs[end{n.Name, n.West.Device}]
	pair := like.Spec.(link.Spec)
	pair.A, pair.B, pair.Quiet = west, east, false
	made := resource.New(own, pair, resource.ID(namespace.KindName, "", own))
	b.add(made)
	for _, v := range []struct {
		east bool
		at   string
	}{{false, west.Device}, {true, east.Device}} {
		port, _ := b.portAt(node, v.east)
		for _, id := range b.passesAt(node, v.east) {
			b.passBesides(id, v.at, made.ID)
		}
		r := b.steers(port)
		s := r.Spec.(steer.Spec)
		s.Device = v.at
		b.add(resource.New(own, s, append([]string{made.ID}, r.Needs[1:]...)...))
	}
}

// passBesides has a pass be at another interface as well.
func (b *builder) passBesides(id, at, pair string) {
	r := b.resource(id)
	s, own := r.Spec.(pass.Spec), r.Namespace
	was, needs := s.Device, append([]string{pair}, r.Needs[1:]...)
	also := s
	also.Device, also.Beside = at, append(slices.Clone(s.Beside), was)
	s.Beside = append(slices.Clone(s.Beside), at)
	r.Spec = s
	more := resource.New(own, also, needs...)
	b.add(more)
	for i := range b.inline {
		for _, taken := range []*Taken{b.inline[i].Forward, b.inline[i].Reverse} {
			if taken != nil && taken.Pass == id {
				taken.Beside = append(taken.Beside, more.ID)
			}
		}
	}
}
