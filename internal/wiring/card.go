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
	// Port is the host's side.
	Port       string
	wire, home string
	network    Network
}

// Card of the network, in its own namespace, which the resource of the ID home makes.
func (n Network) Card(home string) Card {
	pair := link.Spec{Owner: n.Owner, MTU: n.MTU, A: n.Own("card"), B: n.Own("wire")}
	return Card{resource.New(n.Namespace, pair, home), pair.A.Device, pair.B.Device, home, n}
}

// End is the device that an end of the chain has for a port of its.
func (c Card) End(p Port, needs []string) resource.Resource {
	return resource.New(p.Namespace, macvlan.Spec{
		Owner: c.network.Owner, Node: p.Node, Device: p.Device, MAC: p.MAC, MTU: c.network.MTU,
		Mode: macvlan.VEPA, Parent: macvlan.Parent{Namespace: c.network.Namespace, Device: c.wire},
	}, append([]string{c.home, c.ID}, needs...)...)
}
