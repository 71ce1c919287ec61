package plan

import (
	"net/netip"

	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/wiring"
)

// steered tells whether the wiring knows by itself which node is next.
func (b *builder) steered() bool {
	_, is := b.wiring.(wiring.Steered)
	return is
}

// facing is whom a node has to do with towards the east or the west: its neighbour, or,
// where the wiring steers, a gateway that is the same for all nodes, so that a function
// more or less changes nothing at those beside it. The gateway has the address of the half
// itself, which is nobody's, and whoever is next takes what is for it.
func (b *builder) facing(neighbour Interface, east bool) Interface {
	if !b.steered() {
		return neighbour
	}
	g := Interface{MAC: link.MAC(b.chain.Metadata.Name, WiringNode, "west"), Addresses: []netip.Addr{}}
	if east {
		g.MAC = link.MAC(b.chain.Metadata.Name, WiringNode, "east")
	}
	for _, h := range b.space.families {
		half := h.west
		if east {
			half = h.east
		}
		g.Addresses = append(g.Addresses, half.Addr())
	}
	return g
}

// isGateway tells whether that is what a node faces.
func (i Interface) isGateway() bool { return i.Device == "" }
