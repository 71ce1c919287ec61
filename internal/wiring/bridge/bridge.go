// Package bridge joins neighbours by Linux bridges, which live in a namespace of the
// chain's own: one for each pair of neighbours, one for the whole chain, or one for its
// ends alone, functions being joined to each other without. From each port of a node that
// is on a bridge leads a virtual Ethernet pair to it.
//
// Bridges are told who is at which port, as nodes are told their neighbours. So nothing
// is flooded while it would be learned, nothing is forgotten after a while without
// packets, and on one bridge for the chain no packet comes to a function that it is not
// for. What is for many, multicast and broadcast, goes to the neighbour on a bridge of
// two, and nowhere on one for the chain: nodes announce themselves to nobody in a
// thousand copies. The source documents let bridges learn and flood; forwarding: learning
// does that.
package bridge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/bridge"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/wiring"
)

// Wiring is the bridge wiring.
type Wiring struct{}

// Name implements wiring.Wiring.
func (Wiring) Name() string { return "bridge" }

// Outside implements wiring.Outer.
func (Wiring) Outside() {}

// Join implements wiring.Wiring.
func (Wiring) Join(n wiring.Network) (wiring.Joined, error) {
	j := &joiner{Network: n, Options: *n.Options.(*Options), ends: map[wiring.Port]string{}}
	if err := j.check(); err != nil {
		return wiring.Joined{}, err
	}
	home := n.Home()
	j.home = home.ID
	j.add(home)
	if j.Per != perHop {
		j.all = j.bridge(j.joins(), "br0")
	}
	if j.Outside {
		j.outer()
	}
	for _, h := range n.Hops {
		j.hop(h)
	}
	j.made.Requires, j.made.Settings = j.requires(), j.settings()
	return j.made, nil
}

// joiner is one call of Join.
type joiner struct {
	wiring.Network
	Options
	made wiring.Joined
	// home is the ID of the bridges' namespace; all is the one bridge for the chain, or for
	// its ends.
	home string
	all  resource.Resource
	// ends are the IDs of what was made for a node's port.
	ends map[wiring.Port]string
}

// check refuses more ports than one bridge takes, and two bridges behind one port.
func (j *joiner) check() error {
	if j.Outside && j.Per == perHop {
		return fmt.Errorf("outside: both ends are behind one port, and with per: hop each is on a bridge of its own; use per: chain, or per: ends")
	}
	ports := map[wiring.Port]bool{}
	for _, h := range j.Hops {
		ports[j.place(h.A)], ports[j.place(h.B)] = true, true
	}
	if over := len(ports) - bridge.MostPorts; j.Per == perChain && over > 0 {
		return fmt.Errorf("the chain needs %d ports, and a Linux bridge takes %d (it answers EXFULL to the next); use %s, or leave out %d of the functions",
			len(ports), bridge.MostPorts, j.roomier(), (over+j.Arms-1)/j.Arms)
	}
	return nil
}

// place of a port of a node at the bridge: the ends outside have one together.
func (j *joiner) place(p wiring.Port) wiring.Port {
	if j.Outside && j.IsEnd(p) {
		return wiring.Port{}
	}
	return key(p)
}

// roomier is what takes fewer ports of a bridge.
func (j *joiner) roomier() string {
	if j.Arms == 1 {
		return "per: hop and arms: 2, which make a bridge for each two ports"
	}
	return "arms: 1, with which a function takes one port instead of two, or per: hop"
}

func (j *joiner) settings() map[string]string {
	s := map[string]string{"per": j.Per, "forwarding": j.Forwarding, "stp": onOff(j.STP), "multicast snooping": onOff(j.Snooping)}
	if j.Arms == 1 {
		s["arms"] = "1"
	}
	if j.Outside {
		s["ends"] = "outside, behind one port"
	}
	if j.learns() {
		s["ageing"] = time.Duration(j.Ageing).String()
	}
	return s
}

func (j *joiner) requires() []string {
	all := []string{feature.Veth, feature.Bridge}
	if j.Outside {
		all = append(all, feature.Macvlan)
	}
	return all
}

func (j *joiner) learns() bool { return j.Forwarding == learning }

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (j *joiner) add(r ...resource.Resource) { j.made.Resources = append(j.made.Resources, r...) }

// joins says what the one bridge is between.
func (j *joiner) joins() string {
	if j.Per == perEnds {
		return "the ends of " + j.Owner
	}
	return "all of " + j.Owner
}

// outer has the ends behind one port of the bridge, which leads to all their interfaces.
func (j *joiner) outer() {
	card := j.Card(j.home, wiring.CardPort)
	j.add(card.Resource)
	port := bridge.PortSpec{Bridge: j.all.Spec.Key(), Device: card.Port, Learns: j.learns(), Floods: j.learns()}
	for _, h := range j.Hops {
		port.Hairpin = port.Hairpin || j.IsEnd(h.A) && j.IsEnd(h.B)
		for _, p := range []wiring.Port{h.A, h.B} {
			if !j.IsEnd(p) {
				continue
			}
			end := card.End(p, h.Needs)
			j.add(end)
			j.ends[key(p)] = end.ID
			port.Also = append(port.Also, p.MAC)
		}
	}
	port.MAC, port.Also = port.Also[0], port.Also[1:]
	j.add(resource.New(j.Namespace, port, card.ID, j.all.ID))
}

// hop joins two neighbours.
func (j *joiner) hop(h wiring.Hop) {
	if j.Per == perEnds && !j.IsEnd(h.A) && !j.IsEnd(h.B) {
		pair := j.Pair(h)
		j.add(pair)
		j.made.Ends = append(j.made.Ends, wiring.Ends{A: pair.ID, B: pair.ID})
		return
	}
	on := j.all
	if j.Per == perHop {
		what := fmt.Sprintf("%s:%s=%s:%s", h.A.Node, h.A.Device, h.B.Node, h.B.Device)
		on = j.bridge(what, short("br", what))
	}
	j.made.Ends = append(j.made.Ends, wiring.Ends{A: j.end(h.A, on, h.Needs), B: j.end(h.B, on, h.Needs)})
}

func (j *joiner) bridge(joins, device string) resource.Resource {
	r := resource.New(j.Namespace, bridge.Spec{
		Owner: j.Owner, Device: device, Joins: joins, MAC: j.Own(device).MAC, MTU: j.MTU,
		STP: j.STP, Snooping: j.Snooping, AgeingS: int(time.Duration(j.Ageing) / time.Second),
	}, j.home)
	j.add(r)
	return r
}

// end leads from a node's port to its bridge, and gives the ID of what the node's
// interface comes from.
func (j *joiner) end(p wiring.Port, on resource.Resource, needs []string) string {
	if id, made := j.ends[key(p)]; made {
		return id
	}
	device := short("p", p.Node+"/"+p.Device)
	pair := resource.New(p.Namespace, link.Spec{
		Owner: j.Owner, MTU: j.MTU, A: link.End(p), B: j.Own(device),
	}, append([]string{j.home}, needs...)...)
	port := resource.New(j.Namespace, bridge.PortSpec{
		Bridge: on.Spec.Key(), Device: device, MAC: p.MAC, Learns: j.learns(), Floods: j.learns() || j.Per == perHop,
	}, pair.ID, on.ID)
	j.add(pair, port)
	j.ends[key(p)] = pair.ID
	return pair.ID
}

// key tells ports apart.
func key(p wiring.Port) wiring.Port { return wiring.Port{Namespace: p.Namespace, Device: p.Device} }

// short is a name that fits an interface, for something with a long one. So what is made
// is named by what it is for, and a function more or less leaves others' as they are.
func short(prefix, name string) string {
	sum := sha256.Sum256([]byte(name))
	return prefix + hex.EncodeToString(sum[:6])
}
