package plan

import (
	"errors"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/through"
)

// A function without a namespace is met by whatever goes from one node to the next. Where some paths go by it and not by both of these, or one is no place for it
// otherwise, it is at a stop: a node that only hands packets on, whose ports are there for its step alone. Whether one is needed is known once there is a plan, so that it is
// made again then. Each time more functions are at stops, so that it ends.

// StopKind is the kind of a node that is a stop.
const StopKind = "stop"

// stopSuffix is behind the first function's name in that of a stop. No function is called so: one that has a namespace of its own name and comes to be at a stop has
// the one beside the other, and loses no packet.
const stopSuffix = ".stop"

// at are the functions at the stop of a place; none where the node there is none.
func (b *builder) at(place int) (all []*Inline) {
	for i := range b.inline {
		if f := &b.inline[i]; f.Stop && f.hop == place {
			all = append(all, f)
		}
	}
	return all
}

// again tells whether a plan that was refused is to be made again, with more functions at stops.
func (b *builder) again() bool {
	b.stops = slices.Concat(b.stops, b.strays)
	return len(b.strays) > 0
}

// errAstray is of a plan that is made again.
var errAstray = errors.New("a function is inline where it is to be at a stop")

// astray notes functions that cannot be between the nodes where they are, and refuses the plan, which is made again then.
func (b *builder) astray(all ...*Inline) error {
	for _, f := range all {
		if !f.Stop && !slices.Contains(b.strays, f.Name) {
			b.strays = append(b.strays, f.Name)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return errAstray
}

// stop puts a function without a namespace at a stop behind other nodes: at the one that is the last of these, if packets
// of the same paths take the step of the function before it there, right before its own; else at one of its own.
func (b *builder) stop(f *Inline, of api.Function, before []Node) []Node {
	f.Stop = true
	if before[len(before)-1].Kind != StopKind || !b.ridesAlong(f, of, len(before)-1) {
		name := f.Name + stopSuffix
		before = append(before, Node{Name: name, Kind: StopKind, Namespace: b.namespaceOf(name), Made: true, Transparent: true, Hook: through.TC, OneWay: f.OneWay})
	}
	before[len(before)-1].Next = of.Next
	f.hop = len(before) - 1
	return before
}

// ridesAlong tells whether a function can be at the stop of a place, behind those that are there.
func (b *builder) ridesAlong(f *Inline, of api.Function, stop int) bool {
	row, taps := 0, 0
	for _, other := range b.inline {
		if other.hop != stop {
			continue
		}
		if !other.Stop {
			return false
		}
		row++
		if other.steps.Tap != nil {
			taps++
		}
	}
	last := b.inline[len(b.inline)-1]
	if f.steps.NAT != nil && b.chain.Spec.Classifier != nil && slices.ContainsFunc(b.at(stop), func(o *Inline) bool { return o.steps.NAT != nil }) {
		return false // behind each it is to be known which path packets are on
	}
	if b.ledTo(of.Name) || last.OneWay != f.OneWay || row == pass.Most || f.steps.Tap != nil && taps == pass.MostTaps {
		return false
	}
	if b.chain.Spec.Classifier == nil {
		return true
	}
	return !slices.ContainsFunc(b.chain.Spec.Classifier.Rules, func(r api.PathRule) bool {
		at, before := slices.Index(r.Functions, of.Name), slices.Index(r.Functions, last.Name)
		return (at < 0) != (before < 0) || at >= 0 && at != before+1
	})
}

// ledTo tells whether a function says that packets go on to one of a name.
func (b *builder) ledTo(name string) bool {
	return slices.ContainsFunc(b.chain.Spec.Functions, func(f api.Function) bool { return slices.Contains(f.Leads(), name) })
}

// besideStops are no functions between a stop and another node: these would be one program with its own on one way and not on the other, and both ways are to have one table
// of connections.
func (b *builder) besideStops() error {
	return b.astray(b.onHops(func(f *Inline) bool { return b.nodes[f.hop].Kind == StopKind || b.nodes[f.hop+1].Kind == StopKind })...)
}

// onHops are the functions on hops of which something holds.
func (b *builder) onHops(is func(*Inline) bool) (all []*Inline) {
	for i := range b.inline {
		if f := &b.inline[i]; !f.Stop && is(f) {
			all = append(all, f)
		}
	}
	return all
}

// handOn adds what a stop has in it: programs that hand packets on.
func (b *builder) handOn(place int) error {
	for _, name := range []string{feature.Veth, feature.BPFPeer, feature.BPFIngress} {
		b.requires[name] = true
	}
	n := b.nodes[place]
	return b.take(n, n.Name, through.Both(n.Namespace, n.West.Device, n.East.Device, through.TC, append(need(n), b.links[n.Name]...)...))
}
