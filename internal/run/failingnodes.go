package run

import (
	"slices"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/process"
)

// failingOf are the nodes, in path order, with a program that does not run, or does and is not ready, and those that are watched and have
// failed. What just begins is none.
func failingOf(p *plan.Plan, programs []process.Status, watched []process.Health) (nodes []string) {
	bad := map[string]bool{}
	for _, s := range programs {
		bad[s.Node] = bad[s.Node] || fails(s)
	}
	for _, h := range watched {
		bad[h.Node] = bad[h.Node] || h.State == process.Failed
	}
	for _, n := range p.Nodes {
		for _, name := range append([]string{n.Name}, membersOf(n)...) {
			if bad[name] && !slices.Contains(nodes, name) {
				nodes = append(nodes, name)
			}
		}
	}
	return nodes
}

// membersOf a node that several functions share.
func membersOf(n plan.Node) (names []string) {
	for _, f := range functionsOf(n) {
		names = append(names, f.Name)
	}
	return names
}

// fails tells whether a program is not what it is to be. One that ended and is not to be started again is done.
func fails(s process.Status) bool {
	switch s.State {
	case process.Waiting, process.Unready:
		return true
	case process.Starting:
		return s.Late || s.Failures > 0
	}
	return s.Late
}

// failsAmong tells whether a node, or a function that shares it, is one of those that fail.
func (s *NodeState) failsAmong(names []string) bool {
	return slices.Contains(names, s.Name) || slices.ContainsFunc(s.Functions, func(f FunctionState) bool { return slices.Contains(names, f.Name) })
}
