package plan

import (
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// shareOn has the paths that lead on from a port to a function with replicas lead to one of these.
func (b *builder) shareOn(f faces, r *resource.Resource) error {
	s := r.Spec.(steer.Spec)
	if s.Paths == nil {
		return nil
	}
	at := f.behind[s.Device]
	node := f.places[at.node]
	side := b.nodes[node].East
	east := side != nil && side.Device == at.device
	shared := b.sharedBeyond(b.classifier, node, east)
	if len(shared) == 0 {
		return nil
	}
	if len(shared) > steer.MostShared {
		return fmt.Errorf("classifier: from %s packets may go on to %d functions with replicas, and there can be %d; put one without onFailure: %s between it and some of them", b.nodes[node].Function(), len(shared), steer.MostShared, process.Bypass)
	}
	on := *s.Paths
	on.Ways = slices.Clone(on.Ways)
	for i, w := range on.Ways {
		if n := b.nodes[f.places[f.behind[w.Port].node]]; n.Replica != nil {
			on.Ways[i].Port, on.Ways[i].Of = "", n.Replica.Of
		}
	}
	for _, place := range shared {
		among, needs := f.among(b.nodes[place], east)
		on.Among = append(on.Among, among)
		for _, id := range needs {
			if !slices.Contains(r.Needs, id) {
				r.Needs = append(r.Needs[:len(r.Needs):len(r.Needs)], id)
			}
		}
	}
	s.Paths = &on
	r.Spec = s
	return nil
}

// everyReplica of a function is on the paths that go by it.
func (b *builder) everyReplica(c *Classifier) {
	_, places := b.seats()
	all := make([][]string, len(b.nodes))
	for _, n := range b.everyNode() {
		all[places[n.Name]] = append(all[places[n.Name]], n.Name)
	}
	named := func(at []int) (names []string) {
		for _, place := range at {
			names = append(names, all[place]...)
		}
		return names
	}
	for i, p := range c.Paths {
		if c.Paths[i].Nodes = named(p.at); p.Back != nil {
			c.Paths[i].Back = named(p.back)
		}
	}
}
