package plan

import (
	"fmt"

	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/wiring"
)

// clear notes that a node has no addresses, and that the wiring can do that.
func (b *builder) clear(n *Node) error {
	if _, n.Transparent = b.catalogue.Functions[n.Kind].(function.Transparent); !n.Transparent {
		return nil
	}
	if h, hands := b.catalogue.Functions[n.Kind].(function.Handing); hands {
		n.Hook = h.Hook(settled(b.catalogue.Functions[n.Kind], n.body.Options, b.facts.Has))
	}
	if n.shared {
		return fmt.Errorf("function %s: a %s is between its chain's nodes, so it cannot stand alone", n.Name, n.Kind)
	}
	if b.oneArm() {
		return fmt.Errorf("function %s: kind %s passes packets on from one interface to another, and would have one; write %s: {arms: 2}, or leave it out", n.Name, n.Kind, b.wiring.Name())
	}
	if _, can := b.wiring.(wiring.Clear); !can {
		return fmt.Errorf("function %s: over wiring %s every frame must be for the interface that it comes to, and a %s passes on others; use wiring: veth or wiring: ebpf", n.Name, b.wiring.Name(), n.Kind)
	}
	return nil
}

// next is the first node east of one that has addresses.
func (b *builder) next(i int) int {
	for i++; b.nodes[i].Transparent; i++ {
	}
	return i
}

// previous is the first node west of one that has addresses.
func (b *builder) previous(i int) int {
	for i--; b.nodes[i].Transparent; i-- {
	}
	return i
}

// adjacent are the hops of the network layer: over nodes that have no addresses.
// ends are those of the links.
func (b *builder) adjacent(ends []wiring.Ends) (hops []hop, over []wiring.Ends) {
	for i := 0; i+1 < len(b.nodes); i = b.next(i) {
		z := b.next(i)
		hops = append(hops, hop{b.nodes[i], b.nodes[z], *b.nodes[i].East, *b.nodes[z].West})
		over = append(over, wiring.Ends{A: ends[i].A, B: ends[z-1].B})
	}
	return hops, over
}
