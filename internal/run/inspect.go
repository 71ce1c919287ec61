package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/observe"
	"nfchain.dev/nfchain/internal/observe/told"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/ruleset"
	"nfchain.dev/nfchain/internal/trial"
)

// State is a chain or standalone function as it is now.
type State struct {
	SchemaVersion int    `json:"schema_version"`
	Chain         string `json:"chain"`
	// Kind is chain or function.
	Kind   string `json:"kind"`
	Wiring string `json:"wiring"`
	// WiringSettings are what the wiring chose.
	WiringSettings trial.Map[string] `json:"wiring_settings"`
	// State is up, partial, changed, failing or waiting.
	State string `json:"state"`
	// Failing are the nodes with a program that does not run, or is not ready, and those that are watched and have failed.
	Failing []string    `json:"failing,omitempty"`
	Nodes   []NodeState `json:"nodes"`
	// Back are what packets come by on their way back, in that order; absent where that is all that they came by.
	Back []string `json:"back,omitempty"`
	// Inline are the functions that have no namespace, in path order.
	Inline []InlineState `json:"inline"`
	// Hops are what a forwarder between the nodes counted, in path order; none where there
	// is no forwarder.
	Hops []HopState `json:"hops"`
	// Shared is how flows are shared out over replicas; none where no function has any.
	Shared []SharedState `json:"shared,omitempty"`
	// Path is how many flows stay on which; nil where all packets go the newest.
	Path *PathState `json:"path,omitempty"`
	// Classifier is how flows got one of several paths; nil where there is one.
	Classifier *ClassifierState `json:"classifier,omitempty"`
	// Branches are the flows that are known where ways come together; absent where they do not part.
	Branches *BranchState `json:"branches,omitempty"`
	// Taps are what taps of mirrors take of the cores; none where nothing is copied.
	Taps []TapState `json:"taps,omitempty"`
	// Drift that is no node's.
	Drift
}

// NodeState is one endpoint or function as it is now.
type NodeState struct {
	Name string `json:"name"`
	// Called is what the chain's file calls the function, where the node is another that was put in beside the one before it; absent elsewhere.
	Called string `json:"called,omitempty"`
	Kind   string `json:"kind"`
	// OneWay tells that what goes from the second endpoint to the first does not visit the function.
	OneWay bool `json:"one_way,omitempty"`
	// State is up, partial, changed, missing, failing, or waiting for its container.
	State string `json:"state"`
	// Container is the one that another runtime put into the node's place; nil where there is none.
	Container *deploy.Brought `json:"container,omitempty"`
	// Waits tells that another runtime is to put one in, and has not.
	Waits bool `json:"waits,omitempty"`
	Drift
	Namespace  string                  `json:"namespace"`
	Addresses  []string                `json:"addresses"`
	Interfaces []trial.InterfaceCounts `json:"interfaces"`
	Rules      []ruleset.Counter       `json:"rules"`
	// Dropped is what a firewall's policy dropped; nil where it accepts.
	Dropped *ruleset.Dropped `json:"policy_dropped,omitempty"`
	// Connections are those that the namespace's kernel tracks, as for rules that ask for a state; nil where it tracks none, and of the host's own namespace, where
	// they are everybody's.
	Connections *observe.ConnectionCounts `json:"connections,omitempty"`
	Program     *process.Status           `json:"program,omitempty"`
	// Limits are those of what its container may use; nil where there are none, and where its engine does not tell.
	Limits *LimitState `json:"limits,omitempty"`
	// Told is what the program tells of its work; nil where it tells nothing.
	Told *told.Told `json:"told,omitempty"`
	// Health is what is known of a function that is watched; nil where nobody watches.
	Health *process.Health `json:"health,omitempty"`
	// NSH is what a function got and gave back that gets frames whole; nil for others.
	NSH *NSHState `json:"nsh,omitempty"`
	// Functions are those that share the node; none where it is for one.
	Functions []FunctionState `json:"functions,omitempty"`
	// Passes are what functions at the node's interfaces did with what came in there, since
	// they were made; none where there are no such functions.
	Passes []PassState `json:"passes,omitempty"`
	// Through is what programs handed on from one of its interfaces to the other, since they
	// are there; none of a node whose kernel does.
	Through []ThroughState `json:"through,omitempty"`
	// Impairments are what an impair function did, since it was made.
	Impairments []trial.Impairment `json:"impairments,omitempty"`
}

// Inspect reads what a chain or standalone function is and has counted, and compares
// it with its plan.
func Inspect(ctx context.Context, p *plan.Plan) (State, error) {
	s := State{SchemaVersion: 1, Chain: p.Chain, Kind: "chain", Wiring: p.Wiring, WiringSettings: p.Settings, Nodes: []NodeState{}, Back: p.Back(), Inline: []InlineState{}, Hops: []HopState{}, Drift: noDrift()}
	if p.Alone() {
		s.Kind = "function"
	}
	programs, watched, err := process.Known(p.Chain)
	if err != nil {
		return s, err
	}
	heldStill(p, programs)
	s.Failing = failingOf(p, programs, watched)
	brought, err := deploy.BroughtTo(p.Chain)
	if err != nil {
		return s, err
	}
	for _, n := range p.Nodes {
		node, err := inspect(p, n)
		if err != nil {
			return s, err
		}
		for i := range programs {
			node.runs(&programs[i])
		}
		node.lives(watched)
		node.tells(p)
		node.Waits = n.Waits
		if of, is := brought[n.Name]; is && n.Brought && !n.Waits {
			node.Container = &of
		}
		s.Nodes = append(s.Nodes, node)
	}
	passes, err := between(p)
	if err != nil {
		return s, err
	}
	s.Inline = inlineOf(p, passes)
	if err := s.decided(p); err != nil {
		return s, err
	}
	parted, err := partedOf(p)
	if err != nil {
		return s, err
	}
	s.Branches = branchesOf(parted)
	s.limit(ctx, p)
	if s.Hops, err = hopsOf(p, passes, parted); err != nil {
		return s, err
	}
	if s.Taps, err = tapsOf(p, s.Inline); err != nil {
		return s, err
	}
	if err = s.flowsOf(p); err != nil {
		return s, err
	}
	if s.Classifier, err = classifiedBy(p); err != nil {
		return s, err
	}
	return s, s.compare(ctx, p)
}

// lives notes the health of the node, if it is among those that are watched.
func (s *NodeState) lives(watched []process.Health) {
	for i := range watched {
		if watched[i].Node == s.Name {
			s.Health = &watched[i]
		}
	}
}

// compare what is there with the plan, node by node.
func (s *State) compare(ctx context.Context, p *plan.Plan) error {
	changes, err := drift(ctx, p)
	if err != nil {
		return err
	}
	s.State = stateOf(p, total(changes), s.Failing)
	s.inlineDrift(p, changes)
	for _, c := range changes {
		if i := concerned(p, c); i >= 0 {
			s.Nodes[i].add(c)
		} else {
			s.add(c)
		}
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.State != StateMissing {
			n.State = n.Drift.State()
			switch {
			case n.State != StateUp:
			case n.failsAmong(s.Failing):
				n.State = StateFailing
			case p.Nodes[i].Waits:
				n.State = StateWaiting
			}
		}
	}
	return nil
}

func inspect(p *plan.Plan, n plan.Node) (NodeState, error) {
	s := NodeState{Name: n.Name, Called: n.Called, Kind: n.Kind, OneWay: !p.Returns(n, nil), State: StateMissing, Namespace: n.Namespace, Drift: noDrift(),
		Addresses: []string{}, Interfaces: []trial.InterfaceCounts{}, Rules: []ruleset.Counter{}, Functions: functionsOf(n)}
	for _, port := range []*plan.Interface{n.West, n.East} {
		if port != nil && n.Apart == 0 {
			for _, a := range port.Addresses {
				s.Addresses = append(s.Addresses, a.String())
			}
		}
	}
	if !netns.Exists(n.Namespace) {
		return s, nil
	}
	s.State = StateUp
	h, err := netns.Open(n.Namespace)
	if err != nil {
		return s, err
	}
	defer h.Close()
	at := resource.At(h, p.Chain)
	counted := ofChain(p, n)
	if p.Alone() {
		counted = ofAnyChain
	}
	if s.Interfaces, err = countersOf(n.Name, at, counted); err != nil {
		return s, err
	}
	if !p.Alone() { // what impairs is at interfaces, which a function has of its chain
		if s.Impairments, err = impairedSince(n, at, nil); err != nil {
			return s, err
		}
	}
	if s.Passes, err = passes(p, n, at); err != nil {
		return s, err
	}
	if s.Through, err = throughOf(p, n, at); err != nil {
		return s, err
	}
	if s.NSH, err = whole(p, n, at); err != nil {
		return s, err
	}
	if s.Connections, err = connections(n.Namespace); err != nil {
		return s, err
	}
	return s, s.count(p, n, at)
}

// connections that the kernel tracks in a namespace.
func connections(namespace string) (c *observe.ConnectionCounts, err error) {
	if namespace == netns.Host {
		return nil, nil
	}
	err = netns.Do(namespace, func() error {
		c, err = observe.Connections("")
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what %s knows of connections: %w", namespace, err)
	}
	return c, nil
}

// both are the drops of two policies together; nil where neither drops.
func both(a, b *ruleset.Dropped) *ruleset.Dropped {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return &ruleset.Dropped{Packets: a.Packets + b.Packets, Bytes: a.Bytes + b.Bytes}
}

// count reads the counters of the node's rule sets. One that is not there is told
// as missing.
func (s *NodeState) count(p *plan.Plan, n plan.Node, at resource.Place) error {
	found, err := (ruleset.Kind{}).Read(at)
	if err != nil {
		return err
	}
	for _, r := range p.Resources {
		spec, ok := r.Spec.(ruleset.Spec)
		if !ok || r.Namespace != s.Namespace || !slices.ContainsFunc(found, func(o resource.Observed) bool { return o.Key == spec.Key() }) {
			continue
		}
		counters, err := ruleset.Count(at, spec)
		if err != nil {
			return err
		}
		s.Dropped = both(s.Dropped, counters.Dropped)
		if m := n.Maker(r.ID); m != nil {
			s.counted(m.Name, counters)
			continue
		}
		s.Rules = append(s.Rules, counters.Rules...)
	}
	return nil
}
