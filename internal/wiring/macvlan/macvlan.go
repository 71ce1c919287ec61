// Package macvlan joins neighbours by macvlan devices over a parent: an interface of the
// host, or, where none is named, one end of a veth pair of each hop's own, which stands
// for a network card. Over one parent only devices of mode bridge reach each other by
// themselves; the two of mode private or passthru are at both ends of the pair. Those of
// mode vepa send to each other by way of a switch that sends back what it takes in by the
// port it came from (a reflective relay, IEEE 802.1Qbg): the pair's far end does that.
package macvlan

import (
	"fmt"
	"slices"

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

// Outside implements wiring.Outer.
func (Wiring) Outside() {}

// Join implements wiring.Wiring.
func (Wiring) Join(n wiring.Network) (wiring.Joined, error) {
	j := &joiner{Network: n, Options: *n.Options.(*Options)}
	if err := j.check(); err != nil {
		return wiring.Joined{}, err
	}
	j.made.Settings = map[string]string{"mode": j.Mode, "parent": j.Parent}
	j.made.Requires = []string{feature.Macvlan}
	if j.Parent == "" {
		j.made.Settings["parent"] = j.standIn(j.Outside)
		j.made.Requires = append(j.made.Requires, feature.Veth)
		if j.reflects() {
			j.made.Requires = append(j.made.Requires, feature.Redirect)
		}
		home := n.Home()
		j.home = home.ID
		j.add(home)
	}
	if j.Outside {
		j.card = j.Card(j.home, wiring.CardPort)
		j.add(j.card.Resource)
	}
	for _, h := range n.Hops {
		j.made.Ends = append(j.made.Ends, j.join(h))
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
	// card that the ends are behind, where they are outside.
	card wiring.Card
}

// check refuses ends outside where nothing stands for the card that they are behind, or
// where it would not pass on what functions send to each other.
func (j *joiner) check() error {
	switch {
	case j.Outside && j.Parent != "":
		return fmt.Errorf("outside: a veth pair stands for the card that the ends are behind, and parent names another; leave one of them out")
	case j.Outside && j.Mode != macvlan.Bridge:
		return fmt.Errorf("outside: all devices are over one card, and mode %s gives a function no way to its neighbour there; use mode: bridge", j.Mode)
	}
	return nil
}

// reflects tells whether something has to send packets back to where they come from.
func (j *joiner) reflects() bool {
	return j.Mode == macvlan.VEPA || slices.ContainsFunc(j.Hops, j.turns)
}

// turns tells of a hop over which ends outside send to each other.
func (j *joiner) turns(h wiring.Hop) bool { return j.Outside && j.IsEnd(h.A) && j.IsEnd(h.B) }

func (j *joiner) add(r ...resource.Resource) { j.made.Resources = append(j.made.Resources, r...) }

// parent of a device and the device's mode, with the ID of what makes the parent; "" for
// one that is there.
type parent struct {
	macvlan.Parent
	id, mode string
}

// join a hop, and give the IDs of what its devices come from.
func (j *joiner) join(h wiring.Hop) wiring.Ends {
	if j.Outside && !j.turns(h) {
		return wiring.Ends{A: j.onCard(h.A, h.Needs), B: j.onCard(h.B, h.Needs)}
	}
	a, b := j.parents(h)
	return wiring.Ends{A: j.device(h.A, a, h.Needs), B: j.device(h.B, b, h.Needs)}
}

// onCard is a function's device over the card, or the device of an end behind it.
func (j *joiner) onCard(p wiring.Port, needs []string) string {
	if !j.IsEnd(p) {
		return j.device(p, parent{macvlan.Parent{Namespace: j.Namespace, Device: j.card.Port}, j.card.ID, j.Mode}, needs)
	}
	end := j.card.End(p, needs)
	j.add(end)
	return end.ID
}

// parents of a hop's two devices.
func (j *joiner) parents(h wiring.Hop) (a, b parent) {
	mode := j.Mode
	if j.Parent != "" {
		p := parent{Parent: macvlan.Parent{Device: j.Parent}, mode: mode}
		return p, p
	}
	if j.turns(h) {
		mode = macvlan.VEPA
	}
	pair := link.Spec{Owner: j.Owner, MTU: j.MTU, A: j.Own(h.A.Called("near")), B: j.Own(h.A.Called("far"))}
	if mode == macvlan.Passthru { // its device takes the parent's address
		pair.A.MAC, pair.B.MAC = h.A.MAC, h.B.MAC
	}
	r := resource.New(j.Namespace, pair, j.home)
	j.add(r)
	a = parent{macvlan.Parent{Namespace: j.Namespace, Device: pair.A.Device}, r.ID, mode}
	b = parent{macvlan.Parent{Namespace: j.Namespace, Device: pair.B.Device}, r.ID, mode}
	switch mode {
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
	spec := macvlan.Spec{Owner: j.Owner, Node: p.Node, Device: p.Device, MAC: p.MAC, MTU: j.MTU, Mode: over.mode, Parent: over.Parent}
	if over.id != "" {
		needs = append([]string{j.home, over.id}, needs...)
	}
	r := resource.New(p.Namespace, spec, needs...)
	j.add(r)
	return r.ID
}
