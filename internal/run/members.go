package run

import (
	"slices"

	"nfchain.dev/nfchain/internal/observe/told"
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
	// Told is what its program tells of its work; nil where it tells nothing.
	Told *told.Told `json:"told,omitempty"`
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

// tells notes what programs of the node's, or of functions that share it, tell of their work.
func (s *NodeState) tells(p *plan.Plan) {
	for _, r := range p.Resources {
		spec, is := r.Spec.(process.Spec)
		if !is || spec.Tells == "" || spec.Netns != s.Namespace {
			continue
		}
		if spec.Node == s.Name {
			s.Told = toldBy(s.Program, spec)
		}
		for i := range s.Functions {
			if f := &s.Functions[i]; f.Name == spec.Node {
				f.Told = toldBy(f.Program, spec)
			}
		}
	}
}

// toldBy a program that is ready: before that, its process may yet be one of nfchain's.
func toldBy(program *process.Status, spec process.Spec) *told.Told {
	if program == nil || program.State != process.Running && program.State != process.Unready {
		return nil
	}
	return told.Read(spec.Netns, program.PID, spec.Tells)
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
