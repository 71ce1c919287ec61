package container

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nfchain.dev/nfchain/internal/engine"
)

// byItself is behind the name of a container that is started by itself, and of its node. With a dot it is no other node's.
const byItself = ".alone"

// StartAlone has the engines start an owner's containers by themselves, all at once and on no network, and gives how long it was from when the first was
// asked for until each ran, by its node. They have nothing to run, and are gone when it returns; what somebody who is killed leaves of them goes
// with what else is the owner's.
func StartAlone(ctx context.Context, owner string, all []Spec) (took map[string]time.Duration, err error) {
	program, err := engine.Program()
	if err != nil {
		return nil, err
	}
	engines := map[string]engine.Engine{}
	defer func() {
		for _, e := range engines {
			_ = e.Close()
		}
	}()
	wanted := make([]engine.Wanted, len(all))
	for i, s := range all {
		s.Node, s.Name, s.Network, s.Publish, s.Beside, s.Names = s.Node+byItself, s.Name+byItself, "", "", "", false
		w := s.wanted(owner, program)
		w.Args, w.Hostname = engine.Resting(), "alone"
		wanted[i] = w
		if engines[s.Engine] == nil {
			if engines[s.Engine], err = engine.Open(ctx, s.Engine); err != nil {
				delete(engines, s.Engine)
				return nil, err
			}
		}
		if _, err := engines[s.Engine].Prepare(ctx, w, nil); err != nil {
			return nil, err
		}
	}
	defer func() {
		for i, w := range wanted {
			err = errors.Join(err, removeFrom(context.WithoutCancel(ctx), engines[all[i].Engine], owner, w.Name))
		}
	}()
	type start struct {
		node string
		took time.Duration
		err  error
	}
	started, began := make(chan start), time.Now()
	for i, w := range wanted {
		go func() {
			e := engines[all[i].Engine]
			id, err := e.Create(ctx, w)
			if err == nil {
				_, err = e.Start(ctx, id)
			}
			if err != nil {
				err = fmt.Errorf("container %s: %w", w.Name, err)
			}
			started <- start{all[i].Node, time.Since(began), err}
		}()
	}
	took = map[string]time.Duration{}
	for range wanted {
		s := <-started
		took[s.node], err = s.took, errors.Join(err, s.err)
	}
	return took, err
}
