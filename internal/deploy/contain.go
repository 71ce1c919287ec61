package deploy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
	if err := sameEngine(ctx, w.owner, wanted); err != nil {
		return err
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
	// What may be missing is missed before anything that runs is ended for it.
	err = each(ctx, names, func(name string) error { return due[name].Spec.(container.Spec).Prepare(ctx, w.owner, w.tell) })
	if err != nil {
		return err
	}
	if err := noteContainers(ctx, w.owner, due[names[0]].Spec.(container.Spec).Engine); err != nil {
		return err
	}
	finished := 0
	err = each(ctx, names, func(name string) error {
		err := w.startContained(ctx, due[name].Spec.(container.Spec))
		w.mu.Lock()
		defer w.mu.Unlock()
		if err != nil && w.restoring && ctx.Err() == nil {
			w.lacking[name] = err
			return nil
		}
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

// tell what is being done, by one at a time.
func (w *work) tell(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.doing != nil {
		w.doing(what)
	}
}

// startContained starts a container, and only then takes away what was in the namespace that had its name: until then
// packets go on through that.
func (w *work) startContained(ctx context.Context, s container.Spec) error {
	pid, err := s.Start(ctx, w.owner)
	if err != nil {
		return err
	}
	if !netns.Has(s.Name, pid) {
		if err := dissolve(s.Name, w.owner); err != nil {
			return err
		}
	}
	return netns.Name(s.Name, pid)
}

// sameEngine is an error if the engine that a chain's containers are to be of is not there, or is not the one that has
// them.
func sameEngine(ctx context.Context, owner string, wanted []resource.Resource) error {
	for _, r := range wanted {
		e, err := engine.Open(ctx, r.Spec.(container.Spec).Engine)
		if err != nil {
			return err
		}
		host := e.Host()
		_ = e.Close()
		if err := isOf(owner, host); err != nil {
			return err
		}
	}
	return nil
}

// isOf is an error if an owner's containers are of an engine that listens elsewhere.
func isOf(owner, host string) error {
	if of := engineOf(owner); of != "" && of != host {
		return fmt.Errorf("the containers of %s are of the engine at %s, and this one is at %s; set DOCKER_HOST to the first, or take the chain down there", owner, of, host)
	}
	return nil
}

// containersFile tells that a chain has, or had, containers, and where the engine listens that has them.
func containersFile(owner string) string { return filepath.Join(StateDir(owner), "containers") }

// noteContainers is done before the first is made.
func noteContainers(ctx context.Context, owner, name string) error {
	e, err := engine.Open(ctx, name)
	if err != nil {
		return err
	}
	host := e.Host()
	_ = e.Close()
	if err := rundir.Keep(containersFile(owner), []byte(host+"\n"), 0o644); err != nil {
		return fmt.Errorf("note that %s has containers: %w", owner, err)
	}
	return nil
}

// engineOf tells where the engine listens that has a chain's containers; "" where it has, and had, none.
func engineOf(owner string) string {
	text, err := os.ReadFile(containersFile(owner))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// dropContainers removes those that the plan no longer has. Their namespaces have gone.
func (w *work) dropContainers(ctx context.Context, p *plan.Plan) error {
	if engineOf(w.owner) == "" {
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

// removesWithin is how long the engine may take to remove all of an owner's.
const removesWithin = time.Minute

// removeContainers removes all of an owner's. Where it had some, and the engine is not there that would tell of
// them, that is an error: it would bring back what it knows of when it starts. Where it had none no engine is needed.
func removeContainers(ctx context.Context, owner string) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), removesWithin)
	defer stop()
	of := engineOf(owner)
	if e, err := engine.Open(ctx, engine.Docker); err == nil && of != "" {
		host := e.Host()
		_ = e.Close()
		if err := isOf(owner, host); err != nil {
			return err
		}
	}
	if err := container.Remove(ctx, owner, ""); err != nil && of != "" {
		return err
	}
	return nil
}
