package run

import (
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/ruleset"
	"nfchain.dev/nfchain/internal/trial"
)

// State is a chain as it is now.
type State struct {
	SchemaVersion int         `json:"schema_version"`
	Chain         string      `json:"chain"`
	Wiring        string      `json:"wiring"`
	Nodes         []NodeState `json:"nodes"`
}

// NodeState is one endpoint or function as it is now.
type NodeState struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// State is up or missing.
	State      string                  `json:"state"`
	Namespace  string                  `json:"namespace"`
	Addresses  []string                `json:"addresses"`
	Interfaces []trial.InterfaceCounts `json:"interfaces"`
	Rules      []ruleset.Counter       `json:"rules"`
	// Dropped is what a firewall's policy dropped; nil where it accepts.
	Dropped *ruleset.Dropped `json:"policy_dropped,omitempty"`
	Program *process.Status  `json:"program,omitempty"`
	// Impairments are what an impair function did, since it was made.
	Impairments []trial.Impairment `json:"impairments,omitempty"`
}

// Inspect reads what a chain is and has counted.
func Inspect(p *plan.Plan) (State, error) {
	s := State{SchemaVersion: 1, Chain: p.Chain, Wiring: p.Wiring, Nodes: []NodeState{}}
	programs, err := process.Statuses(p.Chain)
	if err != nil {
		return s, err
	}
	for _, n := range p.Nodes {
		node, err := inspect(p, n)
		if err != nil {
			return s, err
		}
		for i := range programs {
			if programs[i].Node == n.Name {
				node.Program = &programs[i]
			}
		}
		s.Nodes = append(s.Nodes, node)
	}
	return s, nil
}

func inspect(p *plan.Plan, n plan.Node) (NodeState, error) {
	s := NodeState{Name: n.Name, Kind: n.Kind, State: "missing", Namespace: n.Namespace,
		Addresses: []string{}, Interfaces: []trial.InterfaceCounts{}, Rules: []ruleset.Counter{}}
	for _, port := range []*plan.Interface{n.West, n.East} {
		if port != nil {
			for _, a := range port.Addresses {
				s.Addresses = append(s.Addresses, a.String())
			}
		}
	}
	if !netns.Exists(n.Namespace) {
		return s, nil
	}
	s.State = "up"
	h, err := netns.Open(n.Namespace)
	if err != nil {
		return s, err
	}
	defer h.Close()
	at := resource.At(h, p.Chain)
	if s.Interfaces, err = countersOf(n.Name, at); err != nil {
		return s, err
	}
	if s.Impairments, err = impairedSince(n, at, nil); err != nil {
		return s, err
	}
	for _, r := range p.Resources {
		spec, ok := r.Spec.(ruleset.Spec)
		if !ok || r.Namespace != n.Namespace {
			continue
		}
		counters, err := ruleset.Count(at, spec)
		if err != nil {
			return s, err
		}
		s.Rules = append(s.Rules, counters.Rules...)
		if counters.Dropped != nil {
			s.Dropped = counters.Dropped
		}
	}
	return s, nil
}
