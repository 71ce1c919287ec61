package plan

import (
	"cmp"
	"fmt"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource/process"
)

// EndpointKind is the kind of function whose work endpoints can do too: they run programs.
const EndpointKind = "command"

// endpointProgram is what an endpoint runs, if it runs anything.
func (b *builder) endpointProgram(i int) error {
	n := b.nodes[i]
	options, runs := n.endpoint.Options[EndpointKind]
	if !runs {
		return nil
	}
	made, err := b.contribution(api.FunctionBody{Kind: EndpointKind, Options: options}, function.Site{
		Owner: b.chain.Metadata.Name, Node: n.Name, Namespace: n.Namespace, MTU: b.chain.Spec.MTU,
		Hosts: hosts(b.nodes, i), Needs: append(need(n), b.links[n.Name]...),
	})
	if err != nil {
		return err
	}
	b.seat(made)
	return b.take(n, "endpoint "+n.Name, made)
}

// after has programs wait for those of nodes, where a file names endpoints and functions: for all of a
// function's replicas.
func (b *builder) after() error {
	of, programs := map[string]string{}, map[string][]string{}
	for _, n := range b.everyNode() {
		of[n.Name] = n.Function()
	}
	for _, r := range b.resources {
		if s, is := r.Spec.(process.Spec); is {
			name := cmp.Or(of[s.Node], s.Node) // a function of a group is no node
			programs[name] = append(programs[name], s.Node)
		}
	}
	for i, r := range b.resources {
		s, is := r.Spec.(process.Spec)
		if !is || len(s.After) == 0 {
			continue
		}
		var nodes []string
		for _, name := range s.After {
			if programs[name] == nil {
				return fmt.Errorf("%s: command.after: nothing called %s runs a program; copies have their place behind their name", s.Node, name)
			}
			nodes = append(nodes, programs[name]...)
		}
		s.After = nodes
		b.resources[i].Spec = s
	}
	return nil
}
