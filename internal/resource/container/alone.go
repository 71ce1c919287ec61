package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns/rundir"
)

// byItself is behind the name of a container that is started by itself, and of its node. With a dot it is no other node's.
const byItself = ".alone"

// aloneWithin is how long engines may take to start containers by themselves, and to remove them.
const aloneWithin = 5 * time.Minute

// StartAlone has the engines start an owner's containers by themselves, all at once and on no network, as their command lines do, and gives how long it
// was from when the first was asked for until each ran, by its node. Their images are there. They have nothing to run, and are gone when it returns; what
// somebody who is killed leaves of them goes with what else is the owner's, and before others are started here.
func StartAlone(ctx context.Context, owner string, all []Spec) (took map[string]time.Duration, err error) {
	program, err := engine.Program()
	if err != nil {
		return nil, err
	}
	// What an engine was asked for comes to be there, so that it is done with before anybody looks for what to remove.
	doing, stop := engine.AtMost(context.WithoutCancel(ctx), aloneWithin)
	defer stop()
	engines := map[string]engine.Engine{}
	defer func() {
		for _, e := range engines {
			_ = e.Close()
		}
	}()
	for _, s := range all {
		if engines[s.Engine] != nil {
			continue
		}
		e, err := engine.Open(ctx, s.Engine)
		if err != nil {
			return nil, err
		}
		engines[s.Engine] = e
	}
	defer func() { err = errors.Join(err, removeAlone(ctx, engines, owner, all)) }()
	if err := removeAlone(ctx, engines, owner, all); err != nil {
		return nil, err
	}
	type start struct {
		node string
		took time.Duration
		err  error
	}
	started, began := make(chan start), time.Now()
	for _, s := range all {
		go func() {
			e, w := engines[s.Engine], s.alone(owner, program)
			id, err := e.Create(doing, w)
			if err == nil {
				_, err = e.Start(doing, id)
			}
			if err != nil {
				err = fmt.Errorf("container %s: %w", w.Name, err)
			}
			started <- start{s.Node, time.Since(began), err}
		}()
	}
	took = map[string]time.Duration{}
	for range all {
		s := <-started
		took[s.node], err = s.took, errors.Join(err, s.err)
	}
	return took, errors.Join(err, ctx.Err())
}

// alone is one like it, by itself.
func (s Spec) alone(owner, program string) engine.Wanted {
	s.Node, s.Name, s.Network, s.Publish, s.Beside, s.Names = s.Node+byItself, s.Name+byItself, "", "", "", false
	w := s.wanted(owner, program)
	w.Args, w.Hostname, w.Plain = engine.Resting(), "alone", true
	return w
}

// removeAlone removes those of an owner that are by themselves, and where engines have them write to.
func removeAlone(ctx context.Context, engines map[string]engine.Engine, owner string, all []Spec) error {
	ctx, stop := engine.AtMost(context.WithoutCancel(ctx), aloneWithin)
	defer stop()
	var wrong []error
	for _, e := range engines {
		has, err := e.List(ctx, owner)
		has = slices.DeleteFunc(has, func(c engine.Container) bool { return !strings.HasSuffix(c.Name, byItself) })
		wrong = append(wrong, err, removeEach(ctx, e, has))
	}
	for _, s := range all {
		_ = os.Remove(rundir.Log(owner, s.Node+byItself))
	}
	_ = os.Remove(rundir.Of(owner)) // where the chain has nothing else in it
	return errors.Join(wrong...)
}
