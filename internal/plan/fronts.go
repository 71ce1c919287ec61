package plan

import (
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/wiring"
)

// Where functions send packets on by marks and a classifier chooses, all that they do so is one path, of all functions: packets
// on it are led by the ports as in a chain without a classifier. Before these programs stand others at the ends of the chain, and
// at the functions of other paths, which take out what is on those.

// onlyOn refuses what cannot be on a path beside functions with branches.
func (b *builder) onlyOn(c *Classifier) error {
	if !b.chain.Spec.Parts() {
		return nil
	}
	if b.together() {
		for _, r := range b.resources {
			if s, is := r.Spec.(steer.Spec); is && s.Stay != nil && s.Stay.Asked {
				return errStays // where all that they say is as planned without
			}
		}
	}
	for _, p := range c.Paths {
		for _, place := range p.at {
			n := b.nodes[place]
			m := b.translator(n)
			switch {
			case p.Branched || n.Kind == "endpoint":
			case m != nil:
				return fmt.Errorf("%s translates addresses, so that it is not known behind it whether a packet is of the path %q or goes on as branches lead; leave it out of the rule's functions, or the branches out of the chain", m.Name, p.Text())
			case n.Replica != nil:
				return fmt.Errorf("the path %q goes by %s, which has replicas, and functions of the chain have branches or a next; leave it out of the rule's functions, or its replicas out", p.Text(), n.Function())
			case n.onFailure != "":
				return fmt.Errorf("the path %q goes by %s, which has onFailure, and functions of the chain have branches or a next; leave it out of the rule's functions, or its onFailure out", p.Text(), n.Function())
			}
		}
	}
	return nil
}

// leadAhead has the port where packets of a node come in, on their way east or west, send those on that are on other paths than
// that of the branches.
func (b *builder) leadAhead(c *Classifier, node int, east bool) {
	if last := len(b.nodes) - 1; east && node == last || !east && node == 0 {
		return
	}
	n := b.nodes[node]
	end := n.Kind == "endpoint"
	learns, headed, opens := b.translator(n) != nil, n.NSH != nil, slices.ContainsFunc(n.members(), b.runs)
	at, _ := b.portAt(node, east)
	spec, others := &steer.Paths{}, false
	var pairs []string
	for _, p := range c.Paths {
		if !p.by(node) {
			continue
		}
		way := steer.Way{Path: p.Name, Number: p.Number, Behind: p.Branched}
		if !p.Branched {
			to, pair := b.portAt(p.beside(node, east), !east)
			way.Port, others = to, true
			if !slices.Contains(pairs, pair) {
				pairs = append(pairs, pair)
			}
		}
		spec.Ways = append(spec.Ways, way)
	}
	if !end && !others && !learns && !headed && !opens || !end && len(spec.Ways) == 0 {
		return
	}
	if end {
		spec.Choice, spec.End = &c.Choice, steer.FirstEnd
		if !east {
			spec.End = steer.SecondEnd
		}
	} else {
		spec.Usual, spec.Learns, spec.Opens, spec.Headed = c.first(node).Name, learns, opens, headed
		if !c.Choice.Drop {
			spec.Other = &c.Choice.Otherwise
		}
	}
	spec.Flows, spec.Idle = b.wiring.(wiring.Sharing).Flows(b.wiringOptions())
	r := b.steers(at)
	s := r.Spec.(steer.Spec)
	s.Paths = spec
	r.Spec = s
	for _, pair := range pairs {
		if !slices.Contains(r.Needs, pair) {
			r.Needs = append(r.Needs[:len(r.Needs):len(r.Needs)], pair)
		}
	}
}
