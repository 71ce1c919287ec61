package builtin

import (
	"context"
	"math/rand/v2"

	"nfchain.dev/nfchain/internal/trial"
)

// openLanes makes a lane, or one each way. What was made before an error is given too.
func openLanes(e ends, l load, c trial.Condition) ([]*lane, error) {
	there, err := newLane(e, l)
	lanes := []*lane{there}
	if err == nil && c.Bidirectional {
		l.signature, l.core = rand.Uint32(), coreOf(c.Affinity, 1)
		var back *lane
		back, err = newLane(there.back(), l)
		lanes = append(lanes, back)
	}
	for _, a := range lanes {
		if err == nil {
			err = a.ready()
		}
	}
	return lanes, err
}

func closeLanes(lanes []*lane) {
	for _, a := range lanes {
		a.close()
	}
}

// runLanes sends all loads at once. When one fails the others end.
func runLanes(ctx context.Context, lanes []*lane) ([]outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan error, len(lanes))
	for _, a := range lanes {
		go func() { ended <- a.run(ctx) }()
	}
	var failed error
	for range lanes {
		if err := <-ended; err != nil && failed == nil {
			failed = err
			cancel(err)
		}
	}
	if failed != nil {
		return nil, failed
	}
	all := make([]outcome, len(lanes))
	for i, a := range lanes {
		var err error
		if all[i], err = a.outcome(); err != nil {
			return nil, err
		}
	}
	return all, nil
}
