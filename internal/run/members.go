package run

import (
	"slices"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// FunctionState is one of several functions that share a node. Its rules are among the
// node's.
type FunctionState struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Dropped is what its policy dropped; nil where that accepts.
	Dropped *ruleset.Dropped `json:"policy_dropped,omitempty"`
	Program *process.Status  `json:"program,omitempty"`
}

func functionsOf(n plan.Node) (all []FunctionState) {
	for _, m := range n.Functions {
		all = append(all, FunctionState{Name: m.Name, Kind: m.Kind})
	}
	return all
}

// runs notes a program that is the node's, or that of a function that shares it.
func (s *NodeState) runs(program *process.Status) {
	if program.Node == s.Name {
		s.Program = program
	}
	for i := range s.Functions {
		if s.Functions[i].Name == program.Node {
			s.Functions[i].Program = program
		}
	}
}

// counted adds what rule sets of a function counted. It has one for each direction where
// packets of both meet it at different places: then the same rules are in both.
func (s *NodeState) counted(function string, c ruleset.Counters) {
	for i := range s.Functions {
		if s.Functions[i].Name == function {
			s.Functions[i].Dropped = both(s.Functions[i].Dropped, c.Dropped)
		}
	}
	for _, rule := range c.Rules {
		rule.Function = function
		same := func(r ruleset.Counter) bool {
			return r.Function == function && r.Rule == rule.Rule && r.Comment == rule.Comment
		}
		if i := slices.IndexFunc(s.Rules, same); i >= 0 {
			s.Rules[i].Packets += rule.Packets
			s.Rules[i].Bytes += rule.Bytes
			continue
		}
		s.Rules = append(s.Rules, rule)
	}
}
