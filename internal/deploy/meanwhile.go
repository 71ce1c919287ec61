package deploy

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/adopted"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
)

// joins tells whether the containers that are due start while the chain is made in their network namespaces: nothing of the chain is there yet, so that
// nothing that runs is changed for one that cannot start, and each has a namespace of its own, of an engine that has it join that. Where one that
// does not start keeps nothing from others, what it is to join is not made before.
func (w *work) joins(ctx context.Context, p *plan.Plan, due map[string]resource.Change) (bool, error) {
	had, err := w.own(ctx, p)
	if err != nil || w.restoring || len(had) > 0 {
		return false, err
	}
	if made, err := namespacesOf(w.owner); err != nil || len(made) > 0 {
		return false, err
	}
	var engines []string
	for _, c := range due {
		s := c.Spec.(container.Spec)
		if !s.Joins() {
			return false, nil
		}
		engines = append(engines, s.Engine)
	}
	slices.Sort(engines)
	for _, name := range slices.Compact(engines) {
		if does, err := engineJoins(ctx, name); err != nil || !does {
			return false, err
		}
	}
	return true, nil
}

// engineJoins tells whether an engine has containers join network namespaces.
func engineJoins(ctx context.Context, name string) (bool, error) {
	e, err := engine.Open(ctx, name)
	if err != nil {
		return false, err
	}
	defer func() { _ = e.Close() }()
	return e.Joins(), nil
}

// starting is the containers of a chain that start while it is made.
type starting struct {
	cancel context.CancelFunc
	// started is closed when all of them have, or one cannot, as err tells then.
	started chan struct{}
	err     error
	// furnished is closed, by furnish, when all is made that comes before programs: theirs begin from then on, as each has started.
	furnished chan struct{}
	furnish   func()
	// done is closed when all that could begin have, and unbegun tells what kept one from it.
	done    chan struct{}
	unbegun error
	// asking is held by whoever asks the supervisor, so that one alone starts it where it is not there.
	asking sync.Mutex
}

// startMeanwhile makes the network namespaces of new containers, and has these start in them while the stages to come go on. What runs in them
// begins when all is made that comes before it, and does not wait for other containers.
func (w *work) startMeanwhile(ctx context.Context, p *plan.Plan, names []string, ahead *ahead, start func(string) error) error {
	for _, name := range names {
		w.coming[name] = true
	}
	w.sight.mu.Lock()
	clear(w.sight.found)
	w.sight.mu.Unlock()
	err := w.visitAhead(ctx, stages[Stage(namespace.KindName)], p, func(place string) bool { return slices.Contains(names, place) })
	if err != nil {
		<-ahead.made
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &starting{cancel: cancel, started: make(chan struct{}), furnished: make(chan struct{}), done: make(chan struct{})}
	s.furnish = sync.OnceFunc(func() { close(s.furnished) })
	w.starting = s
	go func() {
		defer close(s.done)
		var beginning sync.WaitGroup
		defer beginning.Wait()
		s.err = eachOf(ctx, max(twiceCores(), startsAtOnce), names, func(name string) error {
			if err := start(name); err != nil {
				return err
			}
			beginning.Add(1)
			go func() {
				defer beginning.Done()
				w.beginIn(ctx, p, name)
			}()
			return nil
		})
		<-ahead.made
		close(s.started)
	}()
	return nil
}

// beginIn a container what runs in it, when all is made that comes before that.
func (w *work) beginIn(ctx context.Context, p *plan.Plan, name string) {
	select {
	case <-ctx.Done():
		return
	case <-w.starting.furnished:
	}
	var its []resource.Resource
	for _, r := range p.Resources {
		if s, is := r.Spec.(process.Spec); is && s.Container != nil && s.Container.Name == name {
			its = append(its, r)
		}
	}
	changes := w.difference(netns.Host, process.KindName, nil, its)
	if len(changes) == 0 {
		return
	}
	w.starting.asking.Lock()
	defer w.starting.asking.Unlock()
	if err := (process.Kind{}).Apply(resource.Place{Owner: w.owner}, changes); err != nil {
		w.starting.unbegun = err
		return
	}
	w.record(changes...)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range changes {
		w.let[c.ID] = true
	}
}

// adopts tells of a plan by which a chain takes interfaces that the machine has.
func adopts(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Resources, func(r resource.Resource) bool { return r.Kind == adopted.KindName })
}

// failed is what keeps one of them from starting, if that is known.
func (s *starting) failed() error {
	if s == nil {
		return nil
	}
	select {
	case <-s.started:
		return s.err
	default:
		return nil
	}
}

// wait until all of them have started, or one cannot.
func (s *starting) wait() error {
	if s == nil {
		return nil
	}
	<-s.started
	return s.err
}

// finish when all is made that comes before programs: wait until all have started and theirs have begun, or one cannot.
func (s *starting) finish() error {
	if s == nil {
		return nil
	}
	s.furnish()
	<-s.done
	s.cancel()
	return cmp.Or(s.err, s.unbegun)
}

// stop starting them, where that is in vain.
func (s *starting) stop() {
	if s != nil {
		s.cancel()
		<-s.done
	}
}
