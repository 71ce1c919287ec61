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

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// startsAtOnce is how many containers an engine is asked to start at a time, at least: most of that is the engine's waiting, not its work.
const startsAtOnce = 8

// contain makes the plan's containers, and starts those again that have ended. Each has another network namespace
// whenever it starts, unless it is in that of another container, which is started before it: what was in the one from
// before goes over, or goes and is made again in the stages to come.
func (w *work) contain(ctx context.Context, p *plan.Plan) error {
	is, err := w.dueContainers(ctx, p)
	if err != nil || len(is.wanted) == 0 {
		return err
	}
	wanted, due, limited := is.wanted, is.due, is.limited
	var images map[string]string
	if !w.dry {
		// Those of an engine that the plan does not name would be found by nobody once others are noted.
		if err := noteContainers(ctx, w.owner, enginesOfAll(is.all)...); err != nil {
			return err
		}
		// What may be missing is missed before anything that runs is ended for it.
		if images, err = w.prepare(ctx, is); err != nil {
			return err
		}
	}
	join(wanted, due)
	names := slices.Sorted(maps.Keys(due))
	for _, name := range names {
		delete(limited, name)
		w.record(due[name])
	}
	if err := w.limit(ctx, limited); err != nil || w.dry || len(names) == 0 {
		return err
	}
	if err := noteContainers(ctx, w.owner, enginesIn(wanted)...); err != nil {
		return err
	}
	joins, err := w.joins(ctx, p, due)
	if err != nil {
		return err
	}
	finished, carried := 0, map[string]bool{}
	ahead := w.makeAhead(ctx, p, names, joins)
	w.begun = !w.restoring
	start := func(name string) error {
		all, err := w.startContained(ctx, p, due[name].Spec.(container.Spec), images[name], ahead)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err != nil && w.restoring && ctx.Err() == nil {
			w.lacking[name] = err
			return nil
		}
		carried[name] = all
		if finished++; w.progress != nil {
			w.progress(container.KindName, finished, len(names))
		}
		return err
	}
	if joins {
		return w.startMeanwhile(ctx, p, names, ahead, start)
	}
	first, beside := parted(names, due)
	if err = eachOf(ctx, max(twiceCores(), startsAtOnce), first, start); err == nil {
		err = eachOf(ctx, max(twiceCores(), startsAtOnce), beside, start)
	}
	err = errors.Join(err, ahead.wait())
	for name, all := range carried {
		w.fresh[resource.ID(namespace.KindName, netns.Host, name)], w.coming[name] = !all, true
	}
	w.sight.mu.Lock()
	defer w.sight.mu.Unlock()
	clear(w.sight.found)
	return err
}

// dueContainers are a plan's containers, and what is to become of them.
type dueContainers struct {
	wanted []resource.Resource
	// all that the owner has.
	all []engine.Container
	// due are those that are to be started, or made, and limited those of which only what they may use is to be another, by their names.
	due, limited map[string]resource.Change
}

func (w *work) dueContainers(ctx context.Context, p *plan.Plan) (is dueContainers, err error) {
	for _, r := range p.Resources {
		if r.Kind == container.KindName {
			is.wanted = append(is.wanted, r)
		}
	}
	if len(is.wanted) == 0 {
		return is, nil
	}
	// While the engine is not there its containers are not, and all else is told of as it is.
	if err := sameEngine(ctx, w.owner, enginesIn(is.wanted)); err != nil && !(w.dry && errors.Is(err, engine.ErrNotThere)) {
		return is, err
	}
	if is.all, err = w.own(ctx, p); err != nil {
		return is, err
	}
	is.due, is.limited = map[string]resource.Change{}, map[string]resource.Change{}
	for _, c := range w.difference(netns.Host, container.KindName, container.Observe(is.all), is.wanted) {
		switch {
		case c.Op == resource.Delete: // that is with what else is no longer wanted
		case container.Limited(c):
			is.limited[c.Key] = c
		default:
			is.due[c.Key] = c
		}
	}
	return is, nil
}

// join to those that are due the containers that are in the network namespace of one of them, which is another then.
func join(wanted []resource.Resource, due map[string]resource.Change) {
	for _, r := range wanted {
		s := r.Spec.(container.Spec)
		if _, is := due[s.Name]; is || s.Beside == "" {
			continue
		}
		if _, is := due[s.Beside]; is {
			due[s.Name] = resource.Change{Op: resource.Update, ID: r.ID, Kind: container.KindName, Namespace: netns.Host, Key: s.Name, Spec: s}
		}
	}
}

// parted are the names of containers that have a network namespace of their own, and of those that are in that of another.
func parted(names []string, due map[string]resource.Change) (own, beside []string) {
	for _, name := range names {
		if due[name].Spec.(container.Spec).Beside == "" {
			own = append(own, name)
		} else {
			beside = append(beside, name)
		}
	}
	return own, beside
}

// limit what containers may use that run on as they are.
func (w *work) limit(ctx context.Context, due map[string]resource.Change) error {
	return each(ctx, slices.Sorted(maps.Keys(due)), func(name string) error {
		w.record(due[name])
		if w.dry {
			return nil
		}
		err := due[name].Spec.(container.Spec).Limit(ctx)
		if err != nil && w.restoring && ctx.Err() == nil {
			return nil // which keeps nothing from being as it is
		}
		return err
	})
}

// tell what is being done, by one at a time.
func (w *work) tell(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.doing != nil {
		w.doing(what)
	}
}

// enginesIn are those of containers and networks, each once.
func enginesIn(wanted []resource.Resource) (names []string) {
	for _, r := range wanted {
		name := ""
		switch s := r.Spec.(type) {
		case container.Spec:
			name = s.Engine
		case container.Network:
			name = s.Engine
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// sameEngine is an error if an engine that a chain's containers are to be of is not there, or is not the one that has
// them.
func sameEngine(ctx context.Context, owner string, engines []string) error {
	for _, name := range engines {
		host, err := hostOf(ctx, name)
		if err == nil {
			err = isOf(owner, name, host)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hostOf tells where an engine listens, if it answers.
func hostOf(ctx context.Context, name string) (string, error) {
	e, err := engine.Open(ctx, name)
	if err != nil {
		return "", err
	}
	defer func() { _ = e.Close() }()
	return e.Host(), nil
}

// isOf is an error if an owner's containers are of an engine of that name that listens elsewhere.
func isOf(owner, name, host string) error {
	if of := enginesOf(owner)[name]; of != "" && of != host {
		return fmt.Errorf("the containers of %s are of the engine at %s, and this one is at %s; set %s to the first, or take the chain down there", owner, of, host, engine.Variable(name))
	}
	return nil
}

// containersFile tells that a chain has, or had, containers: the name of each engine that has them, and where it listens.
func containersFile(owner string) string { return filepath.Join(StateDir(owner), "containers") }

// noteContainers is done before the first is made of an engine.
func noteContainers(ctx context.Context, owner string, engines ...string) error {
	of := enginesOf(owner)
	noted := len(of)
	for _, name := range engines {
		if of[name] != "" {
			continue
		}
		host, err := hostOf(ctx, name)
		if err != nil {
			return err
		}
		of[name] = host
	}
	if len(of) == noted {
		return nil
	}
	return keepEngines(owner, of)
}

// enginesOfAll containers, each once.
func enginesOfAll(all []engine.Container) (names []string) {
	for _, c := range all {
		if !slices.Contains(names, c.Engine) {
			names = append(names, c.Engine)
		}
	}
	return names
}

func keepEngines(owner string, of map[string]string) error {
	if len(of) == 0 {
		return os.Remove(containersFile(owner))
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintf(&text, "%s %s\n", name, of[name])
	}
	if err := rundir.Keep(containersFile(owner), []byte(text.String()), 0o644); err != nil {
		return fmt.Errorf("note that %s has containers: %w", owner, err)
	}
	return nil
}

// enginesOf tells where the engines listen that have a chain's containers, by their names; none where it has, and had,
// none.
func enginesOf(owner string) map[string]string {
	of := map[string]string{}
	text, err := os.ReadFile(containersFile(owner))
	if err != nil {
		return of
	}
	for line := range strings.Lines(string(text)) {
		name, host, named := strings.Cut(strings.TrimSpace(line), " ")
		if !named { // as versions wrote it that knew one engine
			name, host = engine.Docker, name
		}
		of[name] = host
	}
	return of
}

// inOrder are engines by their names, in the order in which they are asked.
func inOrder(of map[string]string) []string {
	return slices.DeleteFunc(engine.Names(), func(name string) bool { return of[name] == "" })
}

// dropContainers removes those that the plan no longer has. Their namespaces have gone.
func (w *work) dropContainers(ctx context.Context, p *plan.Plan) error {
	if len(w.asked(p)) == 0 {
		return w.dropForgotten(ctx)
	}
	if !w.dry {
		_ = os.Remove(withoutFile(w.owner)) // some engine may have something from now on
	}
	all, err := w.own(ctx, p)
	if err != nil {
		return err
	}
	var unwanted []engine.Container
	for _, c := range all {
		if wants(p, func(s container.Spec) bool { return s.Name == c.Name && s.Engine == c.Engine }) {
			continue
		}
		if !wants(p, func(s container.Spec) bool { return s.Name == c.Name }) {
			w.record(deletion(container.KindName, netns.Host, c.Name))
		}
		unwanted = append(unwanted, c)
	}
	if w.dry || len(unwanted) == 0 {
		return nil
	}
	w.containers = nil
	return container.RemoveThese(ctx, w.owner, unwanted)
}

// asked are the engines that may have containers of the owner's: the plan's, and those that are noted since they had some. Where the plan has
// containers and nothing is noted it is all of them: what was known of the chain may be lost, as when the machine was started anew.
func (w *work) asked(p *plan.Plan) []string {
	of, wanted := enginesOf(w.owner), enginesIn(p.Resources)
	if len(of) == 0 && len(wanted) > 0 {
		return engine.Names()
	}
	return slices.DeleteFunc(engine.Names(), func(name string) bool { return of[name] == "" && !slices.Contains(wanted, name) })
}

// own containers, as they were when they were first looked for.
func (w *work) own(ctx context.Context, p *plan.Plan) ([]engine.Container, error) {
	if w.containers == nil {
		all, err := container.FindIn(ctx, w.asked(p), w.owner)
		if err != nil {
			return nil, err
		}
		w.containers = &all
	}
	return *w.containers, nil
}

// forgetEngines that have nothing of the plan's: what they had is gone.
func (w *work) forgetEngines(ctx context.Context, p *plan.Plan) error {
	of, wanted := enginesOf(w.owner), enginesIn(p.Resources)
	left := len(of)
	for name, at := range maps.Clone(of) {
		if w.dry || slices.Contains(wanted, name) {
			continue
		}
		if host, err := hostOf(ctx, name); err == nil && host == at { // else some may be there still
			delete(of, name)
		}
	}
	if len(of) == left {
		return nil
	}
	return keepEngines(w.owner, of)
}

// wants tells whether a plan has a container that is so.
func wants(p *plan.Plan, is func(container.Spec) bool) bool {
	return slices.ContainsFunc(p.Resources, func(r resource.Resource) bool {
		return r.Kind == container.KindName && is(r.Spec.(container.Spec))
	})
}

// removesWithin is how long the engines may take to remove all of an owner's: 498 of Docker took 43 s.
const removesWithin = 5 * time.Minute

// removeContainers removes all of an owner's. Where it had some of an engine, and that is not there to tell of
// them, that is an error: it would bring back what it knows of when it starts. Where it had none no engine is needed.
func removeContainers(ctx context.Context, owner string) error {
	ctx, stop := engine.AtMost(context.WithoutCancel(ctx), removesWithin)
	defer stop()
	of := enginesOf(owner)
	for _, name := range engine.Names() {
		host, err := hostOf(ctx, name)
		if err == nil {
			err = isOf(owner, name, host)
		}
		if err == nil {
			err = container.Remove(ctx, name, owner, container.All)
		}
		if err == nil {
			err = container.RemoveNetworks(ctx, name, owner, nil)
		}
		if err != nil && (of[name] != "" || !errors.Is(err, engine.ErrNotThere)) {
			return err
		}
	}
	return nil
}
