package deploy

import (
	"context"
	"errors"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
)

// removeDropped removes what the plan no longer has and no stage would look for:
// first programs, so that nobody starts them again, then namespaces, and interfaces
// in namespaces of others.
func (w *work) removeDropped(ctx context.Context, p *plan.Plan) error {
	if err := errors.Join(w.dropPrograms(p), w.dropShared(p)); err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, name := range p.Namespaces() {
		wanted[name] = true
	}
	wantedBy := alsoCalled(p)
	names, err := netns.List()
	if err != nil {
		return err
	}
	var own, others, joined []string
	for _, name := range names {
		owner, _, made := namespace.Split(name)
		switch {
		case wanted[name]:
		case owner == w.owner && made && container.Joined(name):
			joined = append(joined, name)
		case owner == w.owner && made:
			own = append(own, name)
		case !made && netns.Exists(name) && !wantedBy[netns.Identity(name)]:
			others = append(others, name)
		}
	}
	if err := errors.Join(w.dropJoined(joined), each(ctx, own, w.dropNamespace)); err != nil {
		return err
	}
	if err := w.dropContainers(ctx, p); err != nil {
		return err
	}
	return each(ctx, others, w.dropInterfaces)
}

// dropJoined takes names away that somebody left who was killed while containers joined namespaces by them. A container that has joined one runs
// on: where its namespace has no other name, it is given that when the container's turn comes.
func (w *work) dropJoined(names []string) error {
	if w.dry {
		return nil
	}
	for _, name := range names {
		if err := netns.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// dropShared takes the namespace of the ends away where they share it and are not to, and that of the second where they are to and do not.
func (w *work) dropShared(p *plan.Plan) error {
	if p.Alone() || p.Bare() {
		return nil
	}
	first, second := p.Client().Namespace, p.Server().Namespace
	if !namespace.Owns(w.owner, first) || !namespace.Owns(w.owner, second) || !netns.Exists(first) || !netns.Exists(second) {
		return nil
	}
	switch share := netns.Identity(first) == netns.Identity(second); {
	case share == p.Within():
		return nil
	case share:
		return errors.Join(w.dropNamespace(second), w.dropNamespace(first))
	default:
		return w.dropNamespace(second)
	}
}

func (w *work) dropPrograms(p *plan.Plan) error {
	open := &opened{place: netns.Host, work: w}
	defer open.close()
	observed, err := w.read(process.Kind{}, netns.Host, open)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, r := range p.Resources {
		if r.Kind == process.KindName {
			wanted[r.Spec.Key()] = true
		}
	}
	var changes []resource.Change
	for _, o := range observed {
		if !wanted[o.Key] {
			changes = append(changes, deletion(process.KindName, netns.Host, o.Key))
		}
	}
	w.record(changes...)
	if w.dry || len(changes) == 0 {
		return nil
	}
	defer w.sight.forget(netns.Host, process.Kind{}, changes)
	return (process.Kind{}).Apply(resource.Place{Owner: w.owner}, changes)
}

// dropNamespace takes interfaces away first, because the kernel frees a namespace
// later than it takes its name away.
func (w *work) dropNamespace(name string) error {
	w.record(deletion(namespace.KindName, netns.Host, name))
	if w.dry {
		return nil
	}
	return dissolve(name, w.owner)
}

func (w *work) dropInterfaces(name string) error {
	return inside(name, func(h *netns.Handle) error {
		mine, err := link.Mine(h, w.owner)
		if err != nil {
			return err
		}
		for _, device := range mine {
			w.record(deletion(link.KindName, name, device))
		}
		if w.dry || len(mine) == 0 {
			return nil
		}
		return removeGuest(h, name, w.owner)
	})
}

func deletion(kind, place, key string) resource.Change {
	return resource.Change{Op: resource.Delete, ID: resource.ID(kind, place, key), Kind: kind, Namespace: place, Key: key}
}
