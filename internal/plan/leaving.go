package plan

import (
	"fmt"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/opens"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/resource/tuning"
	"nfchain.dev/nfchain/internal/wiring"
)

// leaves is the port of a replica that is left the flows which it has.
type leaves struct {
	number int
	port   string
}

// Leave gives the plan as it is while replicas that it has no more, by their functions and numbers, are left the flows which they have: the forwarder
// shares no new flow out to them, and has at their ports what it has at those of the function's first replica, so that their flows go on from there as
// others do, whatever is changed meanwhile. Of a replica one port of which is not there, as the names of the ports tell, nothing is left. All else of
// them stays as it is.
func (p *Plan) Leave(replicas map[string][]int, there map[string]bool) *Plan {
	left := p.leftAt(replicas, there)
	if len(left) == 0 {
		return p
	}
	all := *p
	all.Resources, all.like = nil, map[string]string{}
	for port, others := range left {
		for _, o := range others {
			all.like[o.port] = port
		}
	}
	for _, r := range p.Resources {
		if r.Namespace != p.Between() {
			all.Resources = append(all.Resources, r)
			continue
		}
		if s, is := r.Spec.(steer.Spec); is {
			r.Spec = s.WithReplicas(left.replicas)
		}
		all.Resources = append(all.Resources, left.alsoAt(r)...)
	}
	return &all
}

// leftPorts are those of replicas that are left flows, by the ports of the first ones of their functions.
type leftPorts map[string][]leaves

// replicas that get no new flows, where one is behind a port that is the first of its function.
func (left leftPorts) replicas(port string) (more []steer.Replica) {
	for _, o := range left[port] {
		more = append(more, steer.Replica{Number: o.number, Port: o.port})
	}
	return more
}

// leftAt finds them.
func (p *Plan) leftAt(replicas map[string][]int, there map[string]bool) leftPorts {
	ports := map[string][]link.Spec{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is && s.B.Namespace == p.Between() {
			ports[s.A.Node] = append(ports[s.A.Node], s)
		}
	}
	all := leftPorts{}
	for _, n := range p.Nodes {
		if n.Replica == nil || n.Again() {
			continue
		}
		for _, number := range replicas[n.Replica.Of] {
			name := fmt.Sprintf("%s-%d", n.Replica.Of, number)
			lacks := func(s link.Spec) bool { return !there[portLike(s, name)] }
			if slices.ContainsFunc(ports[n.Name], lacks) {
				continue
			}
			for _, s := range ports[n.Name] {
				all[s.B.Device] = append(all[s.B.Device], leaves{number, portLike(s, name)})
			}
		}
	}
	return all
}

// portLike that of a pair is a port in front of another node, at its interface of the same name; "" where it is not called by that.
func portLike(s link.Spec, node string) string {
	called := func(node string) string { return wiring.Port{Node: node, Device: s.A.Device}.Called("") }
	prefix, is := strings.CutSuffix(s.B.Device, called(s.A.Node))
	if !is {
		return ""
	}
	return prefix + called(node)
}

// alsoAt gives what the forwarder has at a port, and the same at those of others that are left flows.
func (left leftPorts) alsoAt(r resource.Resource) []resource.Resource {
	if s, is := r.Spec.(pass.Spec); is {
		r.Spec = left.besides(s, s.Device)
	}
	all := []resource.Resource{r}
	for _, o := range left[r.Spec.Key()] {
		switch s := r.Spec.(type) {
		case steer.Spec:
			s.Device = o.port
			all = append(all, resource.New(r.Namespace, s, r.Needs...))
		case tuning.Spec:
			s.Device = o.port
			all = append(all, resource.New(r.Namespace, s, r.Needs...))
		case opens.Spec:
			s.Device, s.Replica = o.port, o.number
			all = append(all, resource.New(r.Namespace, s, r.Needs...))
		case pass.Spec:
			all = append(all, resource.New(r.Namespace, left.besides(s, o.port), r.Needs...))
		}
	}
	return all
}

// besides is a pass, as it is at one of several ports: beside the others.
func (left leftPorts) besides(s pass.Spec, at string) pass.Spec {
	var others []string
	for _, port := range append([]string{s.Device}, s.Beside...) {
		others = append(others, port)
		for _, o := range left[port] {
			others = append(others, o.port)
		}
	}
	slices.Sort(others)
	s.Device, s.Beside = at, slices.DeleteFunc(slices.Compact(others), func(port string) bool { return port == at })
	return s
}

// Like gives, by the ports of replicas that are left flows ([Plan.Leave]), those of the first ones of their functions.
func (p *Plan) Like() map[string]string { return p.like }
