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
	"nfchain.dev/nfchain/internal/resource/steer"
)

// ahead is what is made of a chain while its containers start, each in a namespace that the engine makes then.
type ahead struct {
	// made is closed when it is there, or cannot be made.
	made chan struct{}
	err  error
}

// wait until it is there.
func (a *ahead) wait() error {
	<-a.made
	return a.err
}

// makeAhead begins to start the supervisor, and to make a new forwarder with its ports and the programs at them, which takes the kernel a
// grace period each, and their pairs. For each container a namespace of its name stands in until it has its own, to which its interfaces go
// over. Of other chains nothing is made ahead.
func (w *work) makeAhead(ctx context.Context, p *plan.Plan, containers []string) *ahead {
	a := &ahead{made: make(chan struct{})}
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		if !w.restoring { // else it is who asks
			_ = process.Begin(w.owner) // what is wrong is told when it is to keep programs
		}
	}()
	go func() {
		defer close(a.made)
		if w.standsIn(p, containers) {
			a.err = w.standIn(ctx, p, containers)
		}
		<-begun
	}()
	return a
}

// standsIn tells whether a forwarder is made ahead of these containers: it is new, as they are, and all interfaces are ends of pairs. Where one
// that does not start keeps nothing from others, nothing may stand in for it.
func (w *work) standsIn(p *plan.Plan, containers []string) bool {
	if w.phase != making || w.restoring || netns.Exists(p.Between()) || slices.ContainsFunc(containers, netns.Exists) {
		return false
	}
	for _, r := range p.Resources {
		if at := Stage(r.Kind); at > Stage(namespace.KindName) && at < addressing && r.Kind != link.KindName {
			return false
		}
	}
	return !slices.ContainsFunc(containers, func(name string) bool {
		pairs, _ := joined(p, name)
		return len(pairs) == 0
	})
}

func (w *work) standIn(ctx context.Context, p *plan.Plan, containers []string) error {
	err := each(ctx, containers, func(name string) error {
		_, settings := joined(p, name)
		made := resource.Change{Op: resource.Create, Kind: namespace.KindName, Key: name, Spec: settings}
		return (namespace.Kind{}).Apply(resource.Place{Owner: w.owner}, []resource.Change{made})
	})
	for at, stage := range stages {
		if err != nil {
			return err
		}
		switch {
		case at == Stage(namespace.KindName):
			err = w.visitAhead(ctx, stage, p, func(place string) bool { return !slices.Contains(containers, place) })
		case at == Stage(link.KindName):
			err = w.visitAhead(ctx, []resource.Kind{link.Kind{Lowered: containers}}, p, func(string) bool { return true })
		case at >= addressing && at <= Stage(steer.KindName):
			err = w.visitAhead(ctx, stage, p, func(place string) bool { return place == p.Between() })
		}
	}
	return err
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

// stoodIn tells whether a namespace is there in place of a container's.
func (w *work) stoodIn(container string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.early[visited{link.KindName, container}]
}

// madeInVain forgets what was made ahead of a container that has not taken it over: its pairs are made anew, and so is what is at the ports.
func (w *work) madeInVain(p *plan.Plan, container string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for v := range w.early {
		if v.place == container || v.place == p.Between() && v.kind != namespace.KindName {
			delete(w.early, v)
		}
	}
}
