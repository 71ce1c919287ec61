package plan

import (
	"errors"
	"fmt"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource/through"
	"nfchain.dev/nfchain/internal/resource/tuning"
	"nfchain.dev/nfchain/internal/wiring"
)

// transparent tells whether a function has no addresses.
func (b *builder) transparent(f api.FunctionBody) bool {
	kind, can := b.catalogue.Functions[f.Kind].(function.Transparent)
	return can && kind.IsTransparent(f.Options)
}

// PassesOn tells whether a program of the user's takes frames at one interface of the node and sends them at the other.
func (n Node) PassesOn() bool { return n.passesOn }

// clear notes that a node has no addresses, and that the wiring can do that.
func (b *builder) clear(n *Node) error {
	n.Transparent = b.transparent(n.body)
	n.passesOn = n.Transparent && b.runs(Member{body: n.body})
	if n.Transparent = n.Transparent || n.NSH != nil; !n.Transparent {
		return nil
	}
	if h, hands := b.catalogue.Functions[n.Kind].(function.Handing); hands {
		n.Hook = h.Hook(settled(b.catalogue.Functions[n.Kind], n.body.Options, b.facts.Has))
	}
	var refused []error
	if n.passesOn && n.NSH != nil {
		refused = append(refused, fmt.Errorf("function %s: command.transparent: with encapsulation: %s it has no addresses either, and gets headers; leave one of them out", n.Name, api.EncapsulationNSH))
	}
	if n.passesOn {
		refused = append(refused, about(passesOnWhole(b.chain.Spec.Tuning), "function "+n.Name))
	}
	if n.shared {
		refused = append(refused, fmt.Errorf("function %s: a %s is between its chain's nodes, so it cannot stand alone", n.Name, n.Kind))
	}
	if b.oneArm() {
		refused = append(refused, fmt.Errorf("function %s: kind %s passes packets on from one interface to another, and would have one; write %s: {arms: 2}, or leave it out", n.Name, n.Kind, b.wiring.Name()))
	}
	if _, can := b.wiring.(wiring.Clear); !can {
		refused = append(refused, fmt.Errorf("function %s: over wiring %s every frame must be for the interface that it comes to, and a %s passes on others; use wiring: veth or wiring: ebpf", n.Name, b.wiring.Name(), n.Kind))
	}
	return errors.Join(refused...)
}

// checkDriver refuses what would bring packets past the drivers of functions that take them there,
// and settings that the driver does not have then.
func (b *builder) checkDriver() error {
	var refused []error
	for i, n := range b.nodes {
		if n.Hook == through.XDP {
			refused = append(refused, about(b.driven(i), "function "+n.Name))
		}
	}
	return errors.Join(refused...)
}

// driven refuses what cannot be where the driver takes packets at a place.
func (b *builder) driven(i int) error {
	if b.steered() {
		return fmt.Errorf("over wiring %s packets come to functions behind the driver, where mode: xdp takes none; use wiring: veth, or mode: tc", b.wiring.Name())
	}
	var refused []error
	for _, beside := range []Node{b.nodes[i-1], b.nodes[i+1]} {
		switch {
		case beside.Hook == through.TC:
			refused = append(refused, fmt.Errorf("what %s beside it hands on comes behind the driver, where mode: xdp takes none; give both the same mode", beside.Name))
		case beside.passesOn:
			refused = append(refused, fmt.Errorf("with mode: xdp the interfaces beside put frames together (gro), and what the program of %s passes on must come as it goes over a wire; use mode: tc", beside.Name))
		}
	}
	return errors.Join(append(refused, driverKeeps(b.chain.Spec.Tuning))...)
}

// driverKeeps refuses settings that no interface has while packets are taken in the driver of its
// far end: frames bring neither sums nor segments that are yet to be made.
func driverKeeps(t api.Tuning) error {
	var refused []error
	for _, s := range []struct {
		name    string
		on      *bool
		refused bool
	}{{"tso", t.TSO, true}, {"checksum", t.Checksum, true}, {"gro", t.GRO, false}} {
		if s.on != nil && *s.on == s.refused {
			refused = append(refused, fmt.Errorf("with mode: xdp there is no tuning.%s: %t at the interfaces beside; leave it out, or use mode: tc", s.name, s.refused))
		}
	}
	if t.TxQueues > max(t.RxQueues, 1) {
		refused = append(refused, fmt.Errorf("with mode: xdp an interface has as many rx_queues as its far end has tx_queues; tuning asks for %d of these and %d of those", t.TxQueues, max(t.RxQueues, 1)))
	}
	return errors.Join(refused...)
}

// passesOnWhole refuses settings by which frames come to a program that passes them on without their checksums, or longer than it may send them.
func passesOnWhole(t api.Tuning) error {
	var refused []error
	for _, s := range []struct {
		name string
		on   *bool
	}{{"tso", t.TSO}, {"checksum", t.Checksum}, {"gro", t.GRO}} {
		if s.on != nil && *s.on {
			refused = append(refused, fmt.Errorf("what its program passes on must come as it goes over a wire, which with tuning.%s: true it does not; leave that out", s.name))
		}
	}
	return errors.Join(refused...)
}

// uncut are the settings of an interface from which frames come to a program that passes them on: they have their checksums, and nobody has to cut them. Over a
// forwarder they may come from any node.
func (b *builder) uncut(own, far Node) []tuning.Setting {
	passedOn := false
	if b.steered() {
		passedOn = slices.ContainsFunc(b.nodes, Node.PassesOn)
	} else {
		passedOn = b.takes(own, far).passesOn
	}
	if own.passesOn || !passedOn {
		return nil
	}
	var s settings
	off := false
	s.flag("checksum", &off)
	return s
}

// takes is the node that takes what another sends to the next in the chain: programs that hand frames on leave them as they come. An end hands none on.
func (b *builder) takes(from, next Node) Node {
	place := func(of Node) int { return slices.IndexFunc(b.nodes, func(n Node) bool { return n.Name == of.Name }) }
	at, step := place(next), place(next)-place(from)
	for b.nodes[at].Hook == through.TC {
		at += step
	}
	return b.nodes[at]
}

// drives are the settings of an interface whose far end takes packets in its driver: frames come to
// it only where it collects them (gro), and what it sends must be whole (checksum).
func drives(own, far Node) []tuning.Setting {
	if far.Hook != through.XDP || own.Hook == through.XDP {
		return nil
	}
	var s settings
	on, off := true, false
	s.flag("checksum", &off)
	s.flag("gro", &on)
	return s
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
