package deploy

import (
	"context"
	"slices"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/namespace"
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
	done   chan struct{}
	err    error
}

// startMeanwhile makes the network namespaces of new containers, and has these start in them while the stages to come go on, as far as to what runs
// in containers.
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
	s := &starting{cancel: cancel, done: make(chan struct{})}
	w.starting = s
	go func() {
		defer close(s.done)
		s.err = eachOf(ctx, max(twiceCores(), startsAtOnce), names, start)
		<-ahead.made
	}()
	return nil
}

// failed is what keeps one of them from starting, if that is known.
func (s *starting) failed() error {
	if s == nil {
		return nil
	}
	select {
	case <-s.done:
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
	<-s.done
	s.cancel()
	return s.err
}

// stop starting them, where that is in vain.
func (s *starting) stop() {
	if s != nil {
		s.cancel()
		<-s.done
	}
}
