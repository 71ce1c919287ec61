// Package ebpf joins neighbours by a service function forwarder in the kernel (RFC 7665):
// each interface of a node is one end of a virtual Ethernet pair, whose other end, a port,
// is in a namespace of the chain's own. A program at the port sends what comes in there on
// to the next node, which it knows by the port alone: no bridge, route or rule is on the
// way, and a function may change any address. The node takes the packet in within the same
// turn of the core, so that a hop costs as many turns as over a pair with nothing between.
package ebpf

import (
	"slices"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/wiring"
)

// Wiring is the ebpf wiring.
type Wiring struct{}

// Name implements wiring.Wiring.
func (Wiring) Name() string { return "ebpf" }

// PassesOthers implements wiring.Clear.
func (Wiring) PassesOthers() {}

// Steers implements wiring.Steered.
func (Wiring) Steers() {}

// Branches implements wiring.Branching.
func (Wiring) Branches() {}

// Join implements wiring.Wiring.
func (Wiring) Join(n wiring.Network) (wiring.Joined, error) {
	o := n.Options.(*Options)
	hook := o.chosen(n.Has)
	home := n.Home()
	j := wiring.Joined{
		Resources: []resource.Resource{home},
		Requires:  []string{feature.Veth, feature.BPFPeer, needs[hook]},
		Settings:  map[string]string{"hook": hook},
	}
	for _, h := range n.Hops {
		a, b := port(n, h.A, home, h.Needs, hook), port(n, h.B, home, h.Needs, hook)
		j.Resources = append(j.Resources, a, b, way(n, a, b, hook, o.stay()), way(n, b, a, hook, o.stay()))
		j.Ends = append(j.Ends, wiring.Ends{A: a.ID, B: b.ID})
		j.Ports = append(j.Ports, wiring.Ports{A: entry(a), B: entry(b)})
	}
	return j, nil
}

// port is the pair that leads from a node's interface to a port. It is named by the node, and
// needs nothing of the neighbour, so that a function more or less leaves others' as they are.
func port(n wiring.Network, p wiring.Port, home resource.Resource, needs []string, hook string) resource.Resource {
	pair := link.Spec{Owner: n.Owner, MTU: n.MTU, A: link.End(p), B: n.Own(p.Called("port")), Holds: hook == steer.Clsact}
	if header := n.Headers[p.Node]; header > 0 {
		pair.MTU, pair.Quiet, pair.B = n.MTU+header, true, n.Own(p.Called(steer.Sending))
	}
	own := resource.ID(namespace.KindName, "", p.Namespace)
	if slices.Contains(needs, own) {
		return resource.New(p.Namespace, pair, home.ID, own)
	}
	return resource.New(p.Namespace, pair, home.ID)
}

// entry is the port of a pair.
func entry(pair resource.Resource) resource.Interface {
	port := pair.Spec.(link.Spec).B
	return resource.Interface{Namespace: port.Namespace, Device: port.Device}
}

// way from one port to the other.
func way(n wiring.Network, from, to resource.Resource, hook string, stay *steer.Stay) resource.Resource {
	return resource.New(n.Namespace, steer.Spec{Device: entry(from).Device, To: entry(to).Device, Stay: stay, Hook: hook}, from.ID, to.ID)
}
