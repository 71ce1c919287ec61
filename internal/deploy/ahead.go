package deploy

import (
	"context"
	"slices"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
)

// ahead is what is made of a chain while its containers start, each in a namespace that the engine makes then.
type ahead struct {
	// made is closed when it is there, or cannot be made.
	made chan struct{}
	err  error
	// furnishing tells that each container is furnished as soon as it runs, while others start.
	furnishing bool
	// joins tells that each joins its network namespace, which is there before and is furnished like any other meanwhile.
	joins bool
}

// wait until it is there.
func (a *ahead) wait() error {
	<-a.made
	return a.err
}

// makeAhead begins to start the supervisor, and to make of a new chain what is not in its containers, so that pairs can be made from these as
// each of them starts. Interfaces do not wait for their containers elsewhere: to take one from a namespace to another costs the kernel a grace
// period and more, under its lock of the network, and to make it there does not.
func (w *work) makeAhead(ctx context.Context, p *plan.Plan, containers []string, joins bool) *ahead {
	a := &ahead{made: make(chan struct{}), furnishing: !joins && w.furnishes(p, containers), joins: joins}
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		if !w.restoring { // else it is who asks
			_ = process.Begin(w.owner) // what is wrong is told when it is to keep programs
		}
	}()
	go func() {
		defer close(a.made)
		if a.furnishing {
			a.err = w.makeOthers(ctx, p, containers)
		}
		<-begun
	}()
	return a
}

// furnishes tells whether these containers are furnished one by one: they are new, as what is between them is, and all interfaces are ends of
// pairs, each from a container to what is none. Where one that does not start keeps nothing from others, none is.
func (w *work) furnishes(p *plan.Plan, containers []string) bool {
	if w.phase != making || w.restoring || netns.Exists(p.Between()) || slices.ContainsFunc(containers, netns.Exists) {
		return false
	}
	for _, r := range p.Resources {
		if at := Stage(r.Kind); at <= Stage(namespace.KindName) || at >= addressing {
			continue
		}
		if pair, is := r.Spec.(link.Spec); !is || slices.Contains(containers, pair.B.Namespace) {
			return false
		}
	}
	return !slices.ContainsFunc(containers, func(name string) bool {
		pairs, _ := joined(p, name)
		return len(pairs) == 0
	})
}

// makeOthers makes the namespaces that are no container's, and the pairs from these.
func (w *work) makeOthers(ctx context.Context, p *plan.Plan, containers []string) error {
	for _, kind := range []string{namespace.KindName, link.KindName} {
		if err := w.visitAhead(ctx, stages[Stage(kind)], p, func(place string) bool { return !slices.Contains(containers, place) }); err != nil {
			return err
		}
	}
	return nil
}

// furnish a new container, which has its name: its settings, its pairs, and what is at these.
func (w *work) furnish(ctx context.Context, p *plan.Plan, container string) error {
	w.mu.Lock()
	w.fresh[resource.ID(namespace.KindName, netns.Host, container)] = true
	w.mu.Unlock()
	for _, at := range []int{Stage(namespace.KindName), Stage(link.KindName), addressing} {
		if err := w.visitAhead(ctx, stages[at], p, func(place string) bool { return place == container }); err != nil {
			return err
		}
	}
	return nil
}

// visitAhead brings a stage's kinds to what the plan says in some places, to which the stage does not come any more then.
func (w *work) visitAhead(ctx context.Context, kinds []resource.Kind, p *plan.Plan, in func(place string) bool) error {
	wanted, places := w.wanted(kinds, p)
	places = slices.DeleteFunc(places, func(place string) bool { return !in(place) })
	return each(ctx, places, func(place string) error {
		if err := w.visit(place, kinds, wanted[place]); err != nil {
			return err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.early[visited{kinds[0].Name(), place}] = true
		return nil
	})
}

// visited is a place and the first kind of a stage.
type visited struct{ kind, place string }

// stillDue are places to which a stage comes yet.
func (w *work) stillDue(kinds []resource.Kind, places []string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(places, func(place string) bool { return w.early[visited{kinds[0].Name(), place}] })
}
