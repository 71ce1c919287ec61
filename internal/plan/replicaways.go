package plan

import (
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// shareWays has the ways that lead on from a port to a function with replicas lead to one of these.
func (b *builder) shareWays(f faces, r *resource.Resource) error {
	s := r.Spec.(steer.Spec)
	at := f.behind[s.Device]
	from := b.nodes[f.places[at.node]]
	east := from.East != nil && from.East.Device == at.device
	r.Needs = slices.Clone(r.Needs)
	among := func(port string) *steer.Among {
		n := b.nodes[f.places[f.behind[port].node]]
		if n.Replica == nil {
			return nil
		}
		a, needs := f.among(n, east)
		for _, id := range needs {
			if !slices.Contains(r.Needs, id) {
				r.Needs = append(r.Needs, id)
			}
		}
		return &a
	}
	if s.Branch == nil {
		if s.Among = among(s.To); s.Among != nil {
			s.To = ""
		}
		r.Spec = s
		return nil
	}
	on := *s.Branch
	on.Ways = slices.Clone(on.Ways)
	for i, w := range on.Ways {
		if a := among(w.Port); a != nil {
			on.Ways[i].Port, on.Among = "", append(on.Among, *a)
		}
	}
	if many := len(on.Among); many > steer.MostShared {
		return fmt.Errorf("function %s: packets may go on to %d functions with replicas, and there can be %d; put a function between", from.Function(), many, steer.MostShared)
	}
	s.To, s.Branch = on.Ways[0].Port, &on
	r.Spec = s
	return nil
}
