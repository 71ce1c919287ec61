// Package ovs joins neighbours by Open vSwitch switches, which a pair of daemons of the
// chain's own has in a namespace of the chain's own: one switch for each pair of
// neighbours, up to twenty of them in a row, or one for the whole chain.
//
// What a switch does is said by a flow for each port: out by the one port that it is
// joined to. Nothing is learned, so nothing is flooded while it would be, nothing is
// forgotten after a while without packets, no packet comes to a function that it is not
// for, and no loop can arise. The source documents let switches learn; forwarding:
// learning does that.
package ovs

import (
	"fmt"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/ovs"
	"nfchain.dev/nfchain/internal/wiring"
)

// Wiring is the ovs wiring.
type Wiring struct{}

// Name implements wiring.Wiring.
func (Wiring) Name() string { return "ovs" }

// Outside implements wiring.Outer.
func (Wiring) Outside() {}

// Join implements wiring.Wiring.
func (Wiring) Join(n wiring.Network) (wiring.Joined, error) {
	j := &joiner{Network: n, Options: settled(*n.Options.(*Options), n.Has), numbers: map[int]bool{}}
	if err := j.check(); err != nil {
		return wiring.Joined{}, err
	}
	home := n.Home()
	daemons := resource.New(n.Namespace, ovs.Spec{Owner: n.Owner}, home.ID)
	j.home, j.daemons = home.ID, daemons.ID
	j.made.Resources = []resource.Resource{home, daemons}
	if j.Per == perChain {
		j.oneSwitch()
	} else {
		for _, h := range n.Hops {
			j.row(h)
		}
	}
	j.made.Requires, j.made.Settings = j.requires(), j.settings()
	return j.made, nil
}

// settled options leave nothing to choose.
func settled(o Options, has func(string) bool) Options {
	if o.Datapath != auto {
		return o
	}
	o.Datapath = netdev
	if has(feature.OVSKernel) {
		o.Datapath = system
	}
	return o
}

// Called implements wiring.Naming: the kernel's datapath knows an internal port by its
// interface's name, so that this stays as it was made, unlike any other of the chain's.
func (Wiring) Called(options any, has func(string) bool, node, device string) string {
	if o := settled(*options.(*Options), has); o.Ports == internal && o.Datapath == system {
		return ovs.InternalName(node, device)
	}
	return device
}

// joiner is one call of Join.
type joiner struct {
	wiring.Network
	Options
	made wiring.Joined
	// home and daemons are the IDs of what every switch needs.
	home, daemons string
	// numbers of ports that are taken, of the one switch for the chain.
	numbers map[int]bool
	// card that the ends are behind, where they are outside, and its port at the switch.
	card     wiring.Card
	cardPort ovs.Port
}

// longestInternal is the largest MTU with which an interface of the daemon's own still
// hears packets once it is in another namespace: the daemon cannot ask for its MTU there,
// and reads what fits into Ethernet's usual frames.
const longestInternal = 1500

// longestPiece is the longest super-packet that an interface of the switch's own takes: its
// driver allows the kernel no more (tso_max_size).
const longestPiece = 65536

func (j *joiner) check() error {
	if j.Ports == internal && j.SuperPacket > longestPiece {
		return fmt.Errorf("internal ports send at most %d bytes in one piece, and the chain's tuning has %d; use ports: veth, or smaller sizes of gso", longestPiece, j.SuperPacket)
	}
	if j.Outside && j.Per == perHop {
		return fmt.Errorf("outside: both ends are behind one port, and with per: hop each is on a switch of its own; use per: chain")
	}
	if j.Ports == internal && j.Datapath == netdev && j.MTU > longestInternal {
		return fmt.Errorf("internal ports of the datapath netdev lose packets longer than %d bytes, and the chain's mtu is %d; use ports: veth, or a smaller mtu", longestInternal, j.MTU)
	}
	return nil
}

func (j *joiner) requires() []string {
	all := []string{feature.ToolOVS}
	if j.Datapath == system {
		all = append(all, feature.OVSKernel)
	} else {
		all = append(all, feature.Tun)
	}
	if j.Outside || j.Ports == veth || j.Switches > 1 && j.SwitchToSwitch == veth {
		all = append(all, feature.Veth)
	}
	if j.Outside {
		all = append(all, feature.Macvlan)
	}
	return all
}

func (j *joiner) settings() map[string]string {
	s := map[string]string{"datapath": j.Datapath, "ports": j.Ports, "per": j.Per, "forwarding": j.Forwarding}
	if j.Switches > 1 {
		s["switches"], s["switch_to_switch"] = fmt.Sprint(j.Switches), j.SwitchToSwitch
	}
	if j.Outside {
		s["ends"] = "outside, behind one port"
	}
	return s
}

func (j *joiner) add(r ...resource.Resource) { j.made.Resources = append(j.made.Resources, r...) }

// addSwitch adds a switch; needs are the IDs of the pairs that it has ends of.
func (j *joiner) addSwitch(s ovs.SwitchSpec, needs []string) string {
	s.Owner, s.Datapath = j.Owner, j.Datapath
	if j.Forwarding == learning {
		s.Flows = append(turning(s.Flows), "priority=0 actions=NORMAL")
	}
	r := resource.New(j.Namespace, s, append([]string{j.daemons}, needs...)...)
	j.add(r)
	return r.ID
}

// side is one port of a hop and its other end, a port of a switch.
type side struct {
	wiring.Port
	port ovs.Port
	// pair is the ID of the veth pair between them, if there is one.
	pair string
	// end is the ID of the device of an end outside; empty for others.
	end string
}

// side of a hop, with the pair of interfaces that it may need.
func (j *joiner) side(p wiring.Port, number int, needs []string) side {
	s := side{Port: p, port: ovs.Port{Name: ovs.PortName(p.Node, p.Device), Number: number, Type: ovs.Device}}
	if j.Ports == internal {
		s.port.Type, s.port.MTU = ovs.Internal, j.MTU
		if j.Datapath == system {
			s.port.Name = p.Device
		}
		return s
	}
	pair := link.Spec{Owner: j.Owner, MTU: j.MTU, A: link.End(p), B: j.Own(s.port.Name)}
	r := resource.New(p.Namespace, pair, append([]string{j.home}, needs...)...)
	j.add(r)
	s.pair = r.ID
	return s
}

// pairs that a switch's ports are ends of.
func pairs(sides ...side) (ids []string) {
	for _, s := range sides {
		if s.pair != "" {
			ids = append(ids, s.pair)
		}
	}
	return ids
}

// bring the switch's end of a side into the node's namespace, and give the ID of what
// the node's interface comes from.
func (j *joiner) bring(s side, name, id string, needs []string) string {
	spec := ovs.PortSpec{Owner: j.Owner, Node: s.Node, Device: s.Device, Port: s.port}
	switch {
	case s.end != "":
		return s.end
	case j.Ports == internal:
		spec.From, spec.Switch, spec.MAC = j.Namespace, name, s.MAC
	case j.Datapath == system:
		return s.pair
	}
	r := resource.New(s.Namespace, spec, append([]string{id}, append(pairs(s), needs...)...)...)
	j.add(r)
	return r.ID
}

// joins says what a switch is between.
func joins(h wiring.Hop) string {
	return fmt.Sprintf("%s:%s=%s:%s", h.A.Node, h.A.Device, h.B.Node, h.B.Device)
}

// through is a flow from one port to another.
func through(in, out int) string { return fmt.Sprintf("in_port=%d actions=output:%d", in, out) }
