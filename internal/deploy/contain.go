package deploy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// contain makes the plan's containers, and starts those again that have ended. Each has another network namespace
// whenever it starts: what was in the one from before goes first, and all of it is made again in the stages to come.
func (w *work) contain(ctx context.Context, p *plan.Plan) error {
	var wanted []resource.Resource
	for _, r := range p.Resources {
		if r.Kind == container.KindName {
			wanted = append(wanted, r)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	observed, err := (container.Kind{}).Read(resource.Place{Owner: w.owner})
	if err != nil {
		return err
	}
	due := map[string]resource.Change{}
	var names []string
	for _, c := range w.difference(netns.Host, container.KindName, observed, wanted) {
		if c.Op == resource.Delete {
			continue // with what else is no longer wanted
		}
		w.record(c)
		due[c.Key] = c
		names = append(names, c.Key)
	}
	if w.dry || len(names) == 0 {
		return nil
	}
	if err := noteContainers(w.owner); err != nil {
		return err
	}
	finished := 0
	err = each(ctx, names, func(name string) error {
		if err := dissolve(name, w.owner); err != nil {
			return err
		}
		err := (container.Kind{}).Apply(resource.Place{Owner: w.owner}, []resource.Change{due[name]})
		w.mu.Lock()
		defer w.mu.Unlock()
		w.fresh[resource.ID(namespace.KindName, netns.Host, name)], w.coming[name] = true, true
		if finished++; w.progress != nil {
			w.progress(container.KindName, finished, len(names))
		}
		return err
	})
	w.sight.mu.Lock()
	defer w.sight.mu.Unlock()
	clear(w.sight.found)
	return err
}

// containersFile tells that a chain has, or had, containers: they are asked for then.
func containersFile(owner string) string { return filepath.Join(StateDir(owner), "containers") }

// noteContainers is done before the first is made.
func noteContainers(owner string) error {
	if err := rundir.Keep(containersFile(owner), []byte("made by nfchain\n"), 0o644); err != nil {
		return fmt.Errorf("note that the chain has containers: %w", err)
	}
	return nil
}

// hasContainers tells whether a chain has, or had, any.
func hasContainers(owner string) bool {
	_, err := os.Stat(containersFile(owner))
	return err == nil
}

// dropContainers removes those that the plan no longer has. Their namespaces have gone.
func (w *work) dropContainers(ctx context.Context, p *plan.Plan) error {
	if !hasContainers(w.owner) {
		return nil
	}
	all, err := container.Find(ctx, w.owner)
	if err != nil {
		return err
	}
	for _, c := range all {
		if slices.ContainsFunc(p.Resources, func(r resource.Resource) bool { return r.Kind == container.KindName && r.Spec.Key() == c.Name }) {
			continue
		}
		w.record(deletion(container.KindName, netns.Host, c.Name))
		if w.dry {
			continue
		}
		if err := container.Remove(ctx, w.owner, c.Name); err != nil {
			return err
		}
	}
	return nil
}

// removeContainers removes all of an owner's. Where it had some, and the engine is not there that would tell of
// them, that is an error: it would bring back what it knows of when it starts.
func removeContainers(ctx context.Context, owner string) error {
	err := container.Remove(ctx, owner, "")
	if errors.Is(err, engine.ErrNotThere) && !hasContainers(owner) {
		return nil
	}
	return err
}
