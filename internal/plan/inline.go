package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/wiring"
)

// Inline is a function without a namespace: packets take its step on their way from one node
// to the next.
type Inline struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// West and East are the nodes between which it is: of those with replicas, the function, and of a stop the first one at it.
	West string `json:"west"`
	East string `json:"east"`
	// Forward and Reverse are where packets of either direction take its step; absent where it
	// does not act on them.
	Forward *Taken `json:"forward,omitempty"`
	Reverse *Taken `json:"reverse,omitempty"`
	// OneWay tells that what goes from the second endpoint to the first does not take its step.
	OneWay bool `json:"one_way,omitempty"`
	// Stop tells that packets take its step at the ports of a node that is there for that, which is both West and East.
	Stop bool `json:"stop,omitempty"`
	// Addresses of one that translates: connections are sent to one of them, or come from one, where
	// it is given no others.
	Addresses []netip.Addr `json:"addresses,omitempty"`

	body  api.FunctionBody
	steps function.Steps
	// site of one that translates, without interfaces.
	site function.Site
	// hop is the place of the western node among all, or of its stop.
	hop int
	// slot that it has in the pass that it was fused into last.
	slot *uint32
}

// Taken is a step in a pass.
type Taken struct {
	// Pass is the ID of the resource, Slot where the step counts.
	Pass string `json:"pass"`
	Slot uint32 `json:"slot"`
	// Beside are the IDs of others that are one program with it, which counts for all: at the ports of the other replicas.
	Beside []string `json:"beside,omitempty"`
}

// All are the IDs of the passes that the step is in, which are one program.
func (t *Taken) All() []string {
	if t == nil {
		return nil
	}
	return append([]string{t.Pass}, t.Beside...)
}

// Length is the number of namespaces that a packet is in, both ends included; a function that is
// inline counts as one that has its own.
func (p *Plan) Length() int {
	length := len(p.Inline)
	for _, n := range p.Nodes {
		if !n.Again() && n.Kind != StopKind {
			length++
		}
	}
	return length
}

// Firewall gives the rules of a function that is one, and the pass that asks them; nil for others.
func (f Inline) Firewall(p *Plan) (spec pass.Spec, rules *pass.Firewall) {
	at := cmp.Or(f.Forward, f.Reverse)
	for _, r := range p.Resources {
		if at == nil || r.ID != at.Pass {
			continue
		}
		spec = r.Spec.(pass.Spec)
		for i := range spec.Firewalls {
			if spec.Firewalls[i].Name == f.Name {
				return spec, &spec.Firewalls[i]
			}
		}
	}
	return spec, nil
}

// InlineAfter are the functions on the hop behind the node of that place, in path order; of replicas, behind the last; and those at a stop.
func (p *Plan) InlineAfter(node int) (all []Inline) {
	if node+1 < len(p.Nodes) && p.Nodes[node+1].Again() {
		return nil
	}
	for _, f := range p.Inline {
		if f.West == p.Nodes[node].Function() {
			all = append(all, f)
		}
	}
	return all
}

// takeInline notes the function of a seat, if it is one that is inline, on the hop behind the
// nodes that there are, or at a stop behind them.
func (b *builder) takeInline(seat api.Seat, before []Node) ([]Node, bool, error) {
	for _, f := range seat.Functions {
		steps, is, err := b.inlined(f)
		if err != nil {
			return before, false, about(err, "function "+f.Name+": runtime "+api.RuntimeInline)
		}
		if is { // alone, since a group has a namespace
			one := Inline{Name: f.Name, Kind: f.Kind, OneWay: b.chain.Spec.OneWay(f), body: f.FunctionBody, steps: steps, hop: len(before) - 1}
			if one.OneWay {
				one.body.Direction = api.Forward
			}
			if slices.Contains(b.stops, f.Name) || f.Next != "" || b.ledTo(f.Name) {
				before = b.stop(&one, f, before)
			}
			b.inline = append(b.inline, one)
			return before, true, nil
		}
	}
	return before, false, nil
}

// inlined tells whether a function is to be inline, by its runtime or else the chain's. One
// that is left to the plan is where it can be and does the same as in a namespace.
func (b *builder) inlined(f api.Function) (steps function.Steps, is bool, err error) {
	runtime := cmp.Or(f.Runtime, b.chain.Spec.Runtime)
	if f.Ref != "" || runtime != api.RuntimeInline && runtime != api.RuntimeAuto || f.InContainer(runtime) {
		return steps, false, nil
	}
	steps, err = b.stepsOf(f)
	was := b.options.Runtimes[f.Name]
	if runtime == api.RuntimeInline {
		return steps, err == nil, err
	}
	if was != "" {
		b.choose(f.Name, was)
		if was == api.RuntimeInline {
			return steps, err == nil, err
		}
		return steps, false, nil
	}
	is = err == nil && b.machineHas()(feature.BPFIngress) && !steps.Less
	b.choose(f.Name, map[bool]string{true: api.RuntimeInline, false: api.RuntimeNetns}[is])
	return steps, is, nil
}

// Chose is what became of functions that left their runtime to the plan, for a person: "count is
// inline, fw is netns"; "" where none did.
func (p *Plan) Chose() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(p.Runtimes)) {
		all = append(all, name+" is "+p.Runtimes[name])
	}
	return strings.Join(all, ", ")
}

// stepsOf a function that is inline, or why it cannot be.
func (b *builder) stepsOf(f api.Function) (none function.Steps, err error) {
	kind, can := b.catalogue.Functions[f.Kind].(function.Inline)
	var refused []error
	for _, c := range []struct {
		has bool
		why string
	}{
		{!b.steered(), fmt.Sprintf("wiring %s has nothing between two nodes where packets could take a step; use wiring: %s", b.wiring.Name(), able[wiring.Steered](b.catalogue.Wirings))},
		{!can, fmt.Sprintf("a %s needs a namespace; kinds that can be without are %s", f.Kind, able[function.Inline](b.catalogue.Functions))},
		{f.Group != "", "it has no namespace to share with its group; leave group out"},
		{f.OnFailure != "", "it has nothing that could fail by itself; leave onFailure out"},
		{f.Resources != nil, "it has no process that resources could bound; leave resources out"},
		{len(f.Branches) > 0, "what goes on from it has no mark; leave branches out"},
		{f.Replicas > 1, "it is wherever its packets come by, so that replicas would be no more; leave replicas out"},
	} {
		if c.has {
			refused = append(refused, errors.New(c.why))
		}
	}
	if len(refused) > 0 {
		return none, errors.Join(refused...)
	}
	return kind.Steps(settled(kind, f.Options, b.facts.Has))
}

// able names what can be a T, in the order of names.
func able[T, K any](all map[string]K) string {
	var names []string
	for name, one := range all {
		if _, can := any(one).(T); can {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// passes contributes what packets go through on the hops that functions are on: there at the
// port by which what the western node sends comes in, and back at that of the eastern one.
func (b *builder) passes() error {
	for i := range b.inline {
		f := &b.inline[i]
		f.West, f.East = b.nodes[f.hop].Function(), b.nodes[f.hop+1].Function()
		if f.Stop {
			f.East = f.West
		}
	}
	var refused []error
	for _, over := range b.hopsOver() {
		refused = append(refused, b.fuse(over.hop, over.way))
	}
	return errors.Join(refused...)
}

// fuse the functions on a hop that act on packets of a way, in the order in which these meet
// them.
func (b *builder) fuse(hop, way int) error {
	all := b.meeting(hop, way)
	if len(all) == 0 {
		return nil
	}
	if len(all) > pass.Most {
		return b.astray(all...)
	}
	if err := b.translatesBeside(hop, all); err != nil {
		return err
	}
	at, end, n := b.ports[hop].A, b.ends[hop].A, b.nodes[hop]
	if way == function.ReverseWay {
		at, end, n = b.ports[hop].B, b.ends[hop].B, b.nodes[hop+1]
	}
	spec, places, needs := pass.Spec{Device: at.Device}, slots(all), []string{end}
	for i, f := range all {
		step := f.steps.Step(way)
		step.Slot = places[i]
		if f.steps.Tap != nil {
			if len(spec.Taps) == pass.MostTaps {
				return b.astray(all...)
			}
			out, pair := b.tap(f, at.Namespace)
			step = step.To(uint32(len(spec.Taps)))
			spec.Taps, needs = append(spec.Taps, out), append(needs, pair)
			if f.steps.Copied != (pass.Ends{}) {
				if spec.Copied == nil {
					spec.Copied = map[string]pass.Ends{}
				}
				spec.Copied[out] = f.steps.Copied
			}
		}
		spec.Steps, spec.Of = append(spec.Steps, step), append(spec.Of, f.Name)
		spec.Flows = min(spec.Flows+f.steps.Flows, pass.MostFlows)
		f.guard(&spec, way, places[i])
		if err := f.translate(&spec, way, places[i]); err != nil {
			return err
		}
	}
	r := resource.New(at.Namespace, spec, needs...)
	for i, f := range all {
		if f.steps.Acts(f.body.Direction, way) {
			f.taken(way, &Taken{Pass: r.ID, Slot: places[i]})
		}
	}
	b.requires[feature.BPFIngress] = true
	b.add(r)
	b.passBehind(n, way, r.ID)
	return nil
}

// tap makes the tap of a function beside the ports, once for both ways, and gives the interface there that leads
// to it, and what makes that.
func (b *builder) tap(f *Inline, beside string) (out, pair string) {
	chain := b.chain.Metadata.Name
	out = fmt.Sprintf("tap%08x", uint32(hash("tap", f.Name)))
	made := f.steps.Tap(function.Site{Owner: chain, Node: f.Name, Namespace: beside, MTU: b.chain.Spec.MTU, Needs: []string{resource.ID(namespace.KindName, "", beside)}},
		link.End{Node: WiringNode, Namespace: beside, Device: out, MAC: link.MAC(chain, WiringNode, out)})
	for _, r := range made {
		if !slices.ContainsFunc(b.resources, func(o resource.Resource) bool { return o.ID == r.ID }) {
			b.add(r)
		}
		pair = r.ID
	}
	return out, pair
}

// guard adds a firewall's rules to those of a pass. On a way that it does not act on, packets only
// tell of connections. These are of all firewalls of a hop, and as many on a way that fewer are on:
// both ways are to have one table of them.
func (f *Inline) guard(spec *pass.Spec, way int, slot uint32) {
	if f.steps.Firewall == nil {
		return
	}
	rules := *f.steps.Firewall
	rules.Name, rules.Slot, rules.Aside = f.Name, slot, !function.OnWay(f.body.Direction, way)
	spec.Firewalls = append(spec.Firewalls, rules)
	spec.Connections = max(spec.Connections, f.steps.Connections)
}

// meeting are the functions on a hop that packets of a way meet, in their order. Those that go back meet, at
// once, all that there are up to the next node that they visit.
func (b *builder) meeting(hop, way int) (all []*Inline) {
	first := hop
	if way == function.ReverseWay {
		if b.nodes[hop+1].OneWay {
			return nil
		}
		first = b.back(hop + 1)
	}
	for i := range b.inline {
		f := &b.inline[i]
		at := first <= f.hop && f.hop <= hop
		if f.Stop {
			at = f.hop == map[int]int{function.ForwardWay: hop, function.ReverseWay: hop + 1}[way]
		}
		if at && f.steps.Meets(f.body.Direction, way) {
			all = append(all, f)
		}
	}
	if way == function.ReverseWay {
		slices.Reverse(all)
	}
	return all
}

func (f *Inline) taken(way int, at *Taken) {
	if way == function.ForwardWay {
		f.Forward = at
	} else {
		f.Reverse = at
	}
}

// slots for functions to count at. They follow from their names, so that those that stay in a
// chain keep theirs, as far as can be; and on the second way that packets meet one from the first, as firewalls
// that are to have their rules in common are in the same slot.
func slots(all []*Inline) []uint32 {
	var taken [pass.Most]bool
	places := make([]uint32, len(all))
	for i, f := range all {
		if at := f.slot; at != nil && !taken[*at] {
			taken[*at], places[i] = true, *at
		} else {
			f.slot = nil
		}
	}
	for i, f := range all {
		if f.slot != nil {
			continue
		}
		at := hash("step", f.Name) % pass.Most
		for taken[at] {
			at = (at + 1) % pass.Most
		}
		taken[at], places[i], f.slot = true, uint32(at), &places[i]
	}
	return places
}
