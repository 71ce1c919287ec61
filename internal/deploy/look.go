package deploy

import (
	"context"
	"slices"
	"sync"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// sight is what was found before anything was changed, by place and by kind. Most updates change little,
// so that each place is looked into once, and not once a stage. What a change may have made untrue is
// forgotten, and looked for again where it is asked for.
type sight struct {
	mu    sync.Mutex
	found map[string]map[string][]resource.Observed
}

// look into all places where stages will.
func (w *work) look(ctx context.Context, p *plan.Plan) error {
	w.sight.found = map[string]map[string][]resource.Observed{}
	kinds := map[string][]resource.Kind{}
	var places []string
	for _, stage := range stages {
		if first := stage[0].Name(); first == namespace.KindName || first == container.KindName || first == container.NetworkKindName {
			continue
		}
		_, all := w.wanted(stage, p)
		for _, place := range all {
			if kinds[place] == nil && (place == netns.Host || netns.Exists(place)) {
				places = append(places, place)
			}
			kinds[place] = append(kinds[place], stage...)
		}
	}
	census := sync.OnceValues(netns.TakeCensus)
	err := each(ctx, places, func(place string) error {
		return w.inside(place, func(h *netns.Handle) error {
			return resource.Still(h, w.owner, census).Within(func(at resource.Place) error {
				found := map[string][]resource.Observed{}
				for _, k := range kinds[place] {
					observed, err := k.Read(at)
					if err != nil {
						return err
					}
					found[k.Name()] = observed
				}
				if place == namespace.Name(w.owner, plan.WiringNode) {
					var err error
					if w.stayed, err = steer.MayStay(at); err != nil {
						return err
					}
				}
				w.sight.mu.Lock()
				defer w.sight.mu.Unlock()
				w.sight.found[place] = found
				return nil
			})
		})
	})
	w.foreseeInterfaces(p)
	return err
}

// foreseeInterfaces that are to be made, or made anew.
func (w *work) foreseeInterfaces(p *plan.Plan) {
	w.coming = map[string]bool{}
	for _, r := range p.Resources {
		if r.Kind == namespace.KindName || r.Kind == container.KindName || r.Kind == container.NamesKindName || r.Kind == container.NetworkKindName || Stage(r.Kind) >= addressing {
			continue
		}
		is := resource.Observed{Key: r.Spec.Key(), Fingerprint: r.Spec.Fingerprint()}
		if observed, _ := w.sight.of(r.Namespace, kindOf(r.Kind)); slices.Contains(observed, is) {
			continue
		}
		w.coming[r.Namespace] = true
		if to, is := r.Spec.(link.Spec); is {
			w.coming[to.B.Namespace] = true
		}
	}
}

// of a kind in a place what is known still.
func (s *sight) of(place string, k resource.Kind) (observed []resource.Observed, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	observed, known = s.found[place][k.Name()]
	return observed, known
}

// note what was found meanwhile.
func (s *sight) note(place string, k resource.Kind, observed []resource.Observed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found[place] == nil {
		s.found[place] = map[string][]resource.Observed{}
	}
	s.found[place][k.Name()] = observed
}

// forget what changes may have made untrue. Interfaces that come are at both ends of a link; those that
// go, or change, may be anywhere, and all that is made in stages before addresses are.
func (s *sight) forget(place string, k resource.Kind, changes []resource.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch k.Name() {
	case pass.KindName:
		delete(s.found[place], pass.KindName) // nobody else reads it
		return
	case container.NamesKindName:
		delete(s.found[place], container.NamesKindName)
		return
	case steer.KindName:
		delete(s.found[place], steer.KindName)
		delete(s.found[place], health.KindName)
		return
	}
	if delete(s.found, place); Stage(k.Name()) >= addressing {
		return
	}
	for _, c := range changes {
		to, is := c.Spec.(link.Spec)
		if !is || c.Op != resource.Create {
			clear(s.found)
			return
		}
		delete(s.found, to.B.Namespace)
	}
}

// renewed tells whether a resource needs a namespace that was made in this pass:
// what was found of it belongs to a namespace of the same name that the kernel has
// not freed yet.
func (w *work) renewed(r resource.Resource) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.let[r.ID] && slices.ContainsFunc(r.Needs, func(id string) bool { return w.fresh[id] })
}
