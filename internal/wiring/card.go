package wiring

import (
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/macvlan"
)

// Card stands for a network card of the host's where the chain's ends are outside: a
// virtual Ethernet pair in the wiring's own namespace. One of its ends is the host's port;
// the other is at the wire's far side, where the chain's ends have macvlan devices over it.
// Those send everything over the wire, what is for each other too (mode vepa).
type Card struct {
	resource.Resource
	// Port is the host's side, and Wire the far one.
	Port, Wire string
	home       string
	network    Network
}

// CardPort is the name of a card's port where the wiring has no rule of its own.
const CardPort = "card"

// Card of the network with a port of that name, in the network's own namespace, which the
// resource of the ID home makes.
func (n Network) Card(home, port string) Card {
	pair := link.Spec{Owner: n.Owner, MTU: n.MTU, A: n.Own(port), B: n.Own("wire")}
	return Card{resource.New(n.Namespace, pair, home), pair.A.Device, pair.B.Device, home, n}
}

// End is the device that an end of the chain has for a port of its.
func (c Card) End(p Port, needs []string) resource.Resource {
	return resource.New(p.Namespace, macvlan.Spec{
		Owner: c.network.Owner, Node: p.Node, Device: p.Device, MAC: p.MAC, MTU: c.network.MTU,
		Mode: macvlan.VEPA, Parent: macvlan.Parent{Namespace: c.network.Namespace, Device: c.Wire},
	}, append([]string{c.home, c.ID}, needs...)...)
}
