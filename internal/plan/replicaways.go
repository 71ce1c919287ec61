package plan

import (
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// shareWays has the ways that lead on from a port to a function with replicas lead to one of these, and so past others that fail.
func (b *builder) shareWays(f faces, g Graph, r *resource.Resource) error {
	s := r.Spec.(steer.Spec)
	at := f.behind[s.Device]
	place := f.places[at.node]
	from := b.nodes[place]
	east := from.East != nil && from.East.Device == at.device
	r.Needs = slices.Clone(r.Needs)
	among := func(n Node) steer.Among {
		a, needs := f.among(n, east)
		for _, id := range needs {
			if !slices.Contains(r.Needs, id) {
				r.Needs = append(r.Needs, id)
			}
		}
		return a
	}
	shared := func(port string) *Node {
		if n := b.nodes[f.places[f.behind[port].node]]; n.Replica != nil {
			return &n
		}
		return nil
	}
	if s.Branch == nil {
		if n := shared(s.To); n != nil {
			a := among(*n)
			s.To, s.Among = "", &a
		}
		r.Spec = s
		return nil
	}
	on := *s.Branch
	on.Ways = slices.Clone(on.Ways)
	for i, w := range on.Ways {
		if shared(w.Port) != nil {
			on.Ways[i].Port = ""
		}
	}
	for _, to := range b.beyondWays(g, place, on.Back) {
		if n := b.nodes[to]; n.Replica != nil {
			on.Among = append(on.Among, among(n))
		}
	}
	if many := len(on.Among); many > steer.MostShared {
		return fmt.Errorf("function %s: packets may go on to %d functions with replicas, and there can be %d; put one without onFailure: %s between them", from.Function(), many, steer.MostShared, process.Bypass)
	}
	s.To, s.Branch = on.Ways[0].Port, &on
	r.Spec = s
	return nil
}
