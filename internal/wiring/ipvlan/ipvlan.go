// Package ipvlan joins the two ends of a chain by ipvlan devices, which have the Ethernet
// address of what they are over: an end of a veth pair of the hop's own, which stands for a
// network card. The kernel hands a packet to the device that has the address it is for (the
// driver looks up the destination in IP, whatever the frame is addressed to), so that a
// function, which passes on what is for others, would get nothing: there can be none.
package ipvlan

import (
	"fmt"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/macvlan"
	"nfchain.dev/nfchain/internal/wiring"
)

// Wiring is the ipvlan wiring.
type Wiring struct{}

// Name implements wiring.Wiring.
func (Wiring) Name() string { return "ipvlan" }

// PlainAddresses implements wiring.Plain: of an IPv4 address with a peer the driver
// takes the peer for the device's own (ifa_address in its ipvlan_addr4_event).
func (Wiring) PlainAddresses() {}

// Functionless implements wiring.Functionless.
func (Wiring) Functionless() {}

// Options of a wiring that leaves nothing to choose: in the modes l3 and l3s packets are
// routed in the parent's namespace, where nothing is the chain's.
type Options struct{}

// Options implements wiring.Wiring.
func (Wiring) Options() any { return &Options{} }

// Join implements wiring.Wiring.
func (Wiring) Join(n wiring.Network) (wiring.Joined, error) {
	path := n.Hops
	if last := len(path) - 1; last >= 0 && path[last].Direct {
		path = path[:last]
	}
	if between := len(path) - 1; between > 0 {
		return wiring.Joined{}, fmt.Errorf("the kernel hands a packet to the ipvlan device that has its destination address, so that none comes to "+
			"what is between the ends; leave out the %d there, or use macvlan", between)
	}
	home := n.Home()
	j := wiring.Joined{
		Resources: []resource.Resource{home},
		Requires:  []string{feature.IPvlan, feature.Veth},
		Settings:  map[string]string{"mode": macvlan.L2, "parent": "both ends of a veth pair per hop"},
	}
	for _, h := range n.Hops {
		pair := link.Spec{Owner: n.Owner, MTU: n.MTU, A: n.Own(h.A.Called("near")), B: n.Own(h.A.Called("far"))}
		pair.A.MAC, pair.B.MAC = h.A.MAC, h.B.MAC
		card := resource.New(n.Namespace, pair, home.ID)
		needs := append([]string{home.ID, card.ID}, h.Needs...)
		a, b := device(n, h.A, pair.A, needs), device(n, h.B, pair.B, needs)
		j.Resources = append(j.Resources, card, a, b)
		j.Ends = append(j.Ends, wiring.Ends{A: a.ID, B: b.ID})
	}
	return j, nil
}

// device of a port over one end of the pair.
func device(n wiring.Network, p wiring.Port, over link.End, needs []string) resource.Resource {
	return resource.New(p.Namespace, macvlan.Spec{
		Owner: n.Owner, Node: p.Node, Device: p.Device, MAC: p.MAC, MTU: n.MTU, Mode: macvlan.L2,
		Parent: macvlan.Parent{Namespace: n.Namespace, Device: over.Device},
	}, needs...)
}
