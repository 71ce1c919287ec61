package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/opens"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/wiring"
)

// Replica is one of several nodes that are the same function, each for a share of the flows.
// They have the same addresses: the wiring knows by itself which one is next.
type Replica struct {
	// Of is the function.
	Of string `json:"of"`
	// Number of the replica, from 1.
	Number int `json:"number"`
	// All is how many there are.
	All int `json:"all"`
	// Weight of the replica among them; 0 where all have the same.
	Weight int `json:"weight,omitempty"`
	// Rests tells that no new flow goes to it: its weight is 0 among others.
	Rests bool `json:"rests,omitempty"`
}

// weight is what its part of the new flows is among those of all replicas.
func (r Replica) weight() int {
	if r.Rests {
		return 0
	}
	return max(r.Weight, 1)
}

// Function is what the chain's file calls the node.
func (n Node) Function() string {
	if n.Replica != nil {
		return n.Replica.Of
	}
	return strings.TrimSuffix(n.Name, stopSuffix)
}

// Again tells that the node is one more replica of the function before it: the path goes
// through one of them.
func (n Node) Again() bool { return n.Replica != nil && n.Replica.Number > 1 }

// replicas is how many nodes are in this one's place.
func (n Node) replicas() uint64 {
	if n.Replica == nil {
		return 1
	}
	return uint64(n.Replica.All)
}

// replica makes a node the replica of a function whose turn it is; where there are fewer, the
// first.
func (b *builder) replica(n *Node, f api.Function) error {
	all := f.Replicas
	if all < 2 {
		return nil
	}
	if err := b.repeatable(*n); err != nil {
		return err
	}
	number := max(b.turn, 1)
	if number > all {
		number = 1
	}
	n.Replica = &Replica{Of: n.Name, Number: number, All: all}
	if len(f.Weights) == all {
		n.Replica.Weight = f.Weights[number-1]
		n.Replica.Rests = n.Replica.Weight == 0
	}
	n.Name = fmt.Sprintf("%s-%d", n.Name, number)
	n.Namespace = b.namespaceOf(n.Name)
	return nil
}

// repeatable refuses what cannot be several times in one place.
func (b *builder) repeatable(n Node) error {
	var refused []error
	if _, can := b.wiring.(wiring.Sharing); !can {
		refused = append(refused, fmt.Errorf("replicas: wiring %s cannot share packets out over several", b.wiring.Name()))
	}
	if _, translates := b.catalogue.Functions[n.Kind].(function.Translator); translates {
		refused = append(refused, fmt.Errorf("replicas: a %s gives connections addresses, and several would give the same ones to different connections; leave replicas out", n.Kind))
	}
	if p := b.chain.Spec.Placement; p.Functions.Exclusive || p.Softirqs.Exclusive {
		refused = append(refused, errors.New("replicas: placement gives each function a CPU to itself (exclusive), and replicas of one would have the same; share the CPUs, or leave replicas out"))
	}
	return errors.Join(refused...)
}

// first is the namespace of the first of the nodes that are in one's place.
func (b *builder) first(n Node) string {
	if n.Replica == nil {
		return n.Namespace
	}
	return b.namespaceOf(fmt.Sprintf("%s-1", n.Replica.Of))
}

// replicate plans the chain again for each further replica, as if that alone were in its
// function's place, and takes what is the replica's own: all else is in every such plan the
// same, since replicas have the same addresses and their neighbours do not know them.
func (b *builder) replicate() error {
	most := 1
	for _, n := range b.nodes {
		most = max(most, int(n.replicas()))
	}
	if most == 1 {
		b.gather()
		return nil
	}
	for turn := 2; turn <= most; turn++ {
		v := &builder{chain: b.chain, catalogue: b.catalogue, wiring: b.wiring, facts: b.facts, options: b.options, stops: b.stops, asFile: b.asFile, turn: turn}
		if err := v.build(); err != nil {
			return err
		}
		b.include(v)
	}
	if err := b.share(); err != nil {
		return err
	}
	b.joinPasses()
	b.gather()
	if b.classifier != nil {
		b.everyReplica(b.classifier)
		b.steerLast()
	}
	b.opened(b.faces())
	return nil
}

// include what another plan of the chain has and this one lacks.
func (b *builder) include(v *builder) {
	known := map[string]bool{}
	for _, r := range b.resources {
		known[r.ID] = true
	}
	for _, r := range v.resources {
		if !known[r.ID] {
			b.add(r)
		}
	}
	for _, n := range v.nodes {
		if n.Replica != nil && n.Replica.Number == v.turn {
			b.replicas = append(b.replicas, n)
		}
	}
	for at, ids := range v.behind {
		for _, id := range ids {
			if !slices.Contains(b.behind[at], id) {
				b.behind[at] = append(b.behind[at], id)
			}
		}
	}
	if b.placement != nil {
		maps.Copy(b.placement.Functions, v.placement.Functions)
		maps.Copy(b.placement.Softirqs, v.placement.Softirqs)
		maps.Copy(b.placement.Memory, v.placement.Memory)
	}
}

// everyNode is the path with all replicas, each function's next to each other.
func (b *builder) everyNode() (all []Node) {
	for _, n := range b.nodes {
		all = append(all, n)
		for _, other := range b.replicas {
			if n.Replica != nil && n.Replica.Of == other.Replica.Of {
				all = append(all, other)
			}
		}
	}
	return all
}

// end of a pair at a node.
type end struct{ node, device string }

// share packets out over replicas at all ports from which they come to some.
func (b *builder) share() error {
	f, g := b.faces(), graphOf(b.nodes)
	for i, r := range b.resources {
		s, is := r.Spec.(steer.Spec)
		if !is {
			continue
		}
		if b.classifier != nil && !b.chain.Spec.Parts() {
			if err := b.shareOn(f, &b.resources[i]); err != nil {
				return err
			}
			continue
		}
		if b.chain.Spec.Parts() && !g.Line() {
			if err := b.shareWays(f, g, &b.resources[i]); err != nil {
				return err
			}
			continue
		}
		from, to := f.places[f.behind[s.Device].node], f.places[f.behind[s.To].node]
		at, err := b.faced(from, to)
		if err != nil {
			return err
		}
		if at == noPlace {
			continue
		}
		needs := slices.Clone(r.Needs)
		if at == to {
			s.To, needs = "", needs[:1] // the port itself
		}
		among, more := f.among(b.nodes[at], at > from)
		s.Among = &among
		b.resources[i].Spec, b.resources[i].Needs = s, append(needs, more...)
	}
	// Who makes one after the other has all ports then.
	slices.SortStableFunc(b.resources, func(x, y resource.Resource) int { return among(x) - among(y) })
	return nil
}

// opened has ports behind replicas whose programs may have connections of their own know which flows come from there, where ports share
// packets out over these: answers come back to the same one then.
func (b *builder) opened(f faces) {
	facing := map[string][]string{}
	for _, r := range b.resources {
		if s, is := r.Spec.(steer.Spec); is {
			for _, a := range s.Shared() {
				facing[a.Of] = append(facing[a.Of], r.ID)
			}
		}
	}
	for _, n := range b.everyNode() {
		if n.Replica == nil || len(facing[n.Replica.Of]) == 0 || !slices.ContainsFunc(n.members(), b.runs) {
			continue
		}
		for _, at := range []*Interface{n.West, n.East} {
			pair := f.pairs[end{n.Name, at.Device}]
			s := opens.Spec{Device: pair.Spec.(link.Spec).B.Device, Of: n.Replica.Of, Replica: n.Replica.Number, Flows: f.flows}
			b.add(resource.New(pair.Spec.(link.Spec).B.Namespace, s, append([]string{pair.ID}, facing[n.Replica.Of]...)...))
		}
	}
}

// faces of functions with replicas: what is behind each port, the pair at each end, and where the nodes are.
type faces struct {
	behind   map[string]end
	pairs    map[end]resource.Resource
	replicas map[string][]Node
	places   map[string]int
	flows    uint32
	idle     api.Duration
}

func (b *builder) faces() (f faces) {
	f.behind, f.pairs = b.pairs()
	f.replicas, f.places = b.seats()
	f.flows, f.idle = b.wiring.(wiring.Sharing).Flows(b.wiringOptions())
	return f
}

// among the replicas of a node's function, as packets come to them on their way east or west, and what leads there.
func (f faces) among(of Node, east bool) (a steer.Among, needs []string) {
	a = steer.Among{Of: of.Function(), Flows: f.flows, Idle: f.idle}
	for _, n := range f.replicas[of.Function()] {
		pair := f.pairs[end{n.Name, n.facing(east).Device}]
		a.Replicas = append(a.Replicas, steer.Replica{Number: n.Replica.Number, Port: pair.Spec.(link.Spec).B.Device, Weight: n.Replica.weight()})
		needs = append(needs, pair.ID)
	}
	return a, needs
}

// seats are the replicas of functions, and the place in the path that each node is in.
func (b *builder) seats() (replicas map[string][]Node, places map[string]int) {
	replicas, places = map[string][]Node{}, map[string]int{}
	place := -1
	for _, n := range b.everyNode() {
		if !n.Again() {
			place++
		}
		places[n.Name] = place
		if n.Replica != nil {
			replicas[n.Replica.Of] = append(replicas[n.Replica.Of], n)
		}
	}
	return replicas, places
}

// facing is the interface that faces what comes from the west, or from the east.
func (n Node) facing(west bool) *Interface {
	if west {
		return n.West
	}
	return n.East
}

// noPlace is no place in a path.
const noPlace = -1

// faced is the place of the function with replicas to which packets may come from a place that leads to
// another: that one, or one behind it where they may be led past it; noPlace if there is none.
func (b *builder) faced(from, to int) (at int, err error) {
	at = noPlace
	next := b.back
	switch {
	case to == from+1:
		next = func(i int) int { return i + 1 }
	case from == 0 || to != b.back(from):
		return at, nil // beside the chain
	}
	for i := to; i > 0 && i < len(b.nodes)-1; i = next(i) {
		n := b.nodes[i]
		if n.Replica != nil && at != noPlace {
			first := b.nodes[at].Function()
			return at, fmt.Errorf("function %s: onFailure: bypass would lead to the replicas of %s, and a port can choose among those of one function; use block or replica for %s, or leave replicas out of one of them", first, n.Function(), first)
		}
		if n.Replica != nil {
			at = i
		}
		if n.onFailure != process.Bypass {
			break
		}
	}
	return at, nil
}

// among is 1 for what shares packets out over replicas, and 0 for all else.
func among(r resource.Resource) int {
	if s, is := r.Spec.(steer.Spec); is && s.Paths == nil && len(s.Shared()) > 0 {
		return 1
	}
	return 0
}

// pairs lead from nodes to ports: what is behind each port, and the pair at each end.
func (b *builder) pairs() (behind map[string]end, pairs map[end]resource.Resource) {
	behind, pairs = map[string]end{}, map[end]resource.Resource{}
	for _, r := range b.resources {
		if s, is := r.Spec.(link.Spec); is {
			at := end{s.A.Node, s.A.Device}
			behind[s.B.Device], pairs[at] = at, r
		}
	}
	return behind, pairs
}
