package plan

import (
	"errors"
	"fmt"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/wiring"
)

// Unfit is what is refused of a chain whose file is wrong elsewhere too: what its wiring and the kinds of its functions cannot do.
func Unfit(chain api.Chain, c Catalogue, f Facts) error {
	w, ok := c.Wirings[chain.Spec.Wiring]
	if !ok || len(chain.Spec.Endpoints) != 2 {
		return nil
	}
	b := &builder{chain: chain, catalogue: c, wiring: w, facts: f, runtimes: map[string]string{}}
	return about(b.begin(), "chain "+chain.Metadata.Name)
}

// begin with the nodes, where the wiring has any.
func (b *builder) begin() error {
	switch w := b.chain.Spec.Wiring; {
	case b.catalogue.Bare(w):
		return b.refuseBare()
	case b.catalogue.Attaching(w):
		return b.refuseAttached()
	case b.catalogue.Within(w):
		return b.refuseWithin()
	}
	var err error
	b.nodes, err = b.listNodes()
	return errors.Join(b.checkOutside(), err, b.bringAll(), b.led(), b.replaced())
}

// listNodes puts endpoints and functions in path order. Those that are inline are no nodes. One that is refused is
// among them too.
func (b *builder) listNodes() ([]Node, error) {
	spec := b.chain.Spec
	nodes := []Node{b.endpoint(spec.Endpoints[0])}
	var refused []error
	for _, seat := range spec.Seats() {
		with, inline, err := b.takeInline(seat, nodes)
		if nodes = with; err != nil || inline {
			refused = append(refused, err)
			continue
		}
		n, err := b.nodeOf(seat, nodes)
		nodes, refused = append(nodes, n), append(refused, err)
	}
	return append(nodes, b.endpoint(spec.Endpoints[1])), errors.Join(refused...)
}

// wired refuses what the wiring cannot do, whatever else the chain has.
func (b *builder) wired() error {
	_, branches := b.wiring.(wiring.Branching)
	var refused []error
	if b.chain.Spec.Parts() && !branches {
		refused = append(refused, fmt.Errorf("branches: wiring %s sends what leaves a function to the one after it", b.wiring.Name()))
	}
	if b.chain.Spec.HasOneWay() && !branches {
		refused = append(refused, fmt.Errorf("symmetric: over wiring %s packets go back over the links that they came by; use wiring: %s, or leave it out", b.wiring.Name(), able[wiring.Branching](b.catalogue.Wirings)))
	}
	if _, shares := b.wiring.(wiring.Sharing); b.chain.Spec.Classifier != nil && !shares {
		refused = append(refused, fmt.Errorf("classifier: wiring %s cannot have several paths; use wiring: ebpf, or leave classifier out", b.wiring.Name()))
	}
	return errors.Join(refused...)
}

// led refuses functions that packets are to be led past, where the wiring does not lead.
func (b *builder) led() error {
	var refused []error
	for _, n := range b.nodes {
		if n.onFailure != "" && !b.steered() {
			refused = append(refused, fmt.Errorf("function %s: onFailure: over wiring %s packets cannot be led past a function; use wiring: ebpf, or leave it out", n.Function(), b.wiring.Name()))
		}
	}
	return errors.Join(refused...)
}
