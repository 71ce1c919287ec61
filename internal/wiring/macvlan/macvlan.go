// Package macvlan joins neighbours by macvlan devices over a parent: an interface of the
// host, or, where none is named, one end of a veth pair of each hop's own, which stands
// for a network card. Over one parent only devices of mode bridge reach each other by
// themselves; the two of mode private or passthru are at both ends of the pair. Those of
// mode vepa send to each other by way of a switch that sends back what it takes in by the
// port it came from (a reflective relay, IEEE 802.1Qbg): the pair's far end does that.
package macvlan

import (
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/macvlan"
	"nfchain.dev/nfchain/internal/resource/redirect"
	"nfchain.dev/nfchain/internal/wiring"
)

// Wiring is the macvlan wiring.
type Wiring struct{}

// Name implements wiring.Wiring.
func (Wiring) Name() string { return "macvlan" }

// Join implements wiring.Wiring.
func (Wiring) Join(n wiring.Network) (wiring.Joined, error) {
	j := &joiner{Network: n, Options: *n.Options.(*Options)}
	j.made.Settings = map[string]string{"mode": j.Mode, "parent": j.Parent}
	j.made.Requires = []string{feature.Macvlan}
	if j.Parent == "" {
		j.made.Settings["parent"] = j.standIn()
		j.made.Requires = append(j.made.Requires, feature.Veth)
		if j.Mode == macvlan.VEPA {
			j.made.Requires = append(j.made.Requires, feature.Redirect)
		}
		home := n.Home()
		j.home = home.ID
		j.add(home)
	}
	for _, h := range n.Hops {
		a, b := j.parents(h)
		j.made.Ends = append(j.made.Ends, wiring.Ends{A: j.device(h.A, a, h.Needs), B: j.device(h.B, b, h.Needs)})
	}
	return j.made, nil
}

// joiner is one call of Join.
type joiner struct {
	wiring.Network
	Options
	made wiring.Joined
	// home is the ID of the wiring's own namespace, if there is one.
	home string
}

func (j *joiner) add(r ...resource.Resource) { j.made.Resources = append(j.made.Resources, r...) }

// parent of a device, with the ID of what makes it; "" for one that is there.
type parent struct {
	macvlan.Parent
	id string
}

// parents of a hop's two devices.
func (j *joiner) parents(h wiring.Hop) (a, b parent) {
	if j.Parent != "" {
		p := parent{Parent: macvlan.Parent{Device: j.Parent}}
		return p, p
	}
	pair := link.Spec{Owner: j.Owner, MTU: j.MTU, A: j.Own(h.A.Called("near")), B: j.Own(h.A.Called("far"))}
	if j.Mode == macvlan.Passthru { // its device takes the parent's address
		pair.A.MAC, pair.B.MAC = h.A.MAC, h.B.MAC
	}
	r := resource.New(j.Namespace, pair, j.home)
	j.add(r)
	a = parent{macvlan.Parent{Namespace: j.Namespace, Device: pair.A.Device}, r.ID}
	b = parent{macvlan.Parent{Namespace: j.Namespace, Device: pair.B.Device}, r.ID}
	switch j.Mode {
	case macvlan.Bridge:
		b = a
	case macvlan.VEPA:
		j.add(resource.New(j.Namespace, redirect.Spec{Device: b.Device, To: b.Device}, r.ID))
		b = a
	}
	return a, b
}

// device of a port over a parent, by the ID of what makes it.
func (j *joiner) device(p wiring.Port, over parent, needs []string) string {
	spec := macvlan.Spec{Owner: j.Owner, Node: p.Node, Device: p.Device, MAC: p.MAC, MTU: j.MTU, Mode: j.Mode, Parent: over.Parent}
	if over.id != "" {
		needs = append([]string{j.home, over.id}, needs...)
	}
	r := resource.New(p.Namespace, spec, needs...)
	j.add(r)
	return r.ID
}
