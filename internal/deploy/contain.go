package deploy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
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
	// While the engine is not there its containers are not, and all else is told of as it is.
	if err := sameEngine(ctx, w.owner, wanted); err != nil && !(w.dry && errors.Is(err, engine.ErrNotThere)) {
		return err
	}
	all, err := container.Find(ctx, w.owner)
	if err != nil {
		return err
	}
	due := map[string]resource.Change{}
	for _, c := range w.difference(netns.Host, container.KindName, container.Observe(all), wanted) {
		if c.Op != resource.Delete { // that is with what else is no longer wanted
			due[c.Key] = c
		}
	}
	var images map[string]string
	if !w.dry {
		// What may be missing is missed before anything that runs is ended for it.
		if images, err = w.prepare(ctx, wanted, all, due); err != nil {
			return err
		}
	}
	names := slices.Sorted(maps.Keys(due))
	for _, name := range names {
		w.record(due[name])
	}
	if w.dry || len(names) == 0 {
		return nil
	}
	if err := noteContainers(ctx, w.owner, due[names[0]].Spec.(container.Spec).Engine); err != nil {
		return err
	}
	finished := 0
	err = each(ctx, names, func(name string) error {
		err := w.startContained(ctx, due[name].Spec.(container.Spec), images[name])
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

// prepare what containers are made from that are due, and what is to be looked for again whenever a chain is brought up: where
// that is another image now, the container is due too. It gives the images by the containers' names, where these must be of them.
func (w *work) prepare(ctx context.Context, wanted []resource.Resource, all []engine.Container, due map[string]resource.Change) (images map[string]string, err error) {
	images = map[string]string{}
	from := map[string][]resource.Resource{} // each image is prepared once
	for _, r := range wanted {
		s := r.Spec.(container.Spec)
		_, is := due[s.Name]
		if again := s.Pull == api.PullAlways && !w.restoring; is || again {
			key := strings.Join([]string{s.Engine, s.Image, s.Pull}, " ")
			from[key] = append(from[key], r)
		}
	}
	err = each(ctx, slices.Sorted(maps.Keys(from)), func(key string) error {
		s := from[key][0].Spec.(container.Spec)
		again := s.Pull == api.PullAlways && !w.restoring
		if w.restoring && s.Pull == api.PullAlways {
			s.Pull = api.PullMissing
		}
		image, err := s.Prepare(ctx, w.owner, w.tell)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err != nil && w.restoring && ctx.Err() == nil {
			for _, r := range from[key] {
				w.lacking[r.Spec.Key()] = err
				delete(due, r.Spec.Key())
			}
			return nil
		}
		if err != nil || !again {
			return err
		}
		for _, r := range from[key] {
			name := r.Spec.Key()
			images[name] = image
			older := func(c engine.Container) bool { return c.Name == name && c.Image != image }
			if _, is := due[name]; !is && slices.ContainsFunc(all, older) {
				due[name] = resource.Change{Op: resource.Update, ID: r.ID, Kind: container.KindName, Namespace: netns.Host, Key: name, Spec: r.Spec}
			}
		}
		return nil
	})
	return images, err
}

// startContained starts a container, and only then takes away what was in the namespace that had its name: until then
// packets go on through that. Where an image is given, it is started anew if it is of another.
func (w *work) startContained(ctx context.Context, s container.Spec, image string) error {
	pid, err := s.Start(ctx, w.owner, image)
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
	err := container.Remove(ctx, owner, "")
	if of == "" && errors.Is(err, engine.ErrNotThere) {
		return nil
	}
	return err
}
