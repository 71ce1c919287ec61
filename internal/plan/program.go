package plan

import (
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
	if b.transparent(api.FunctionBody{Kind: EndpointKind, Options: options}) {
		return fmt.Errorf("endpoint %s: command.transparent: an endpoint passes nothing on; leave it out", n.Name)
	}
	made, err := b.contribution(api.FunctionBody{Kind: EndpointKind, Options: options}, function.Site{
		Owner: b.chain.Metadata.Name, Node: n.Name, Namespace: n.Namespace, MTU: b.chain.Spec.MTU,
		Hosts: b.names(i), Needs: append(need(n), b.links[n.Name]...),
	})
	if err != nil {
		return err
	}
	b.seat(made)
	return b.take(n, "endpoint "+n.Name, made)
}

// names that an endpoint knows. Where others attach it to a network, who is where is known when it is there, which is too late for a
// plan to say.
func (b *builder) names(i int) []function.Host {
	if b.catalogue.Attaching(b.wiring.Name()) {
		return nil
	}
	return hosts(b.nodes, i)
}

// after has programs of replicas, and of instances, say which function they are of: those that a program waits for are called as the file
// calls them, so that another number of replicas, or another instance, is nothing to it.
func (b *builder) after() error {
	of, runs := map[string]string{}, map[string]bool{}
	for _, n := range b.everyNode() {
		if n.InFile() != n.Name && n.Kind != StopKind {
			of[n.Name] = n.InFile()
		}
	}
	for i, r := range b.resources {
		if s, is := r.Spec.(process.Spec); is {
			s.Of = of[s.Node]
			b.resources[i].Spec = s
			runs[s.Function()] = true
		}
	}
	for _, r := range b.resources {
		s, _ := r.Spec.(process.Spec)
		for _, name := range s.After {
			if !runs[name] {
				return fmt.Errorf("%s: command.after: nothing called %s runs a program", s.Node, name)
			}
		}
	}
	return nil
}
