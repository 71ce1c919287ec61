package supervise

import (
	"context"
	"errors"
	"sync"
)

// restorer has what a chain has lost brought back, as containers, in one run after the other: all that is lost while one goes on is brought back together by the
// next, since that takes about as long for many as for one.
type restorer struct {
	ctx context.Context
	do  func(ctx context.Context) (lacking map[string]error, err error)

	mu sync.Mutex
	// runs tells that a run goes on, and next is the one after it, if anybody waits for one.
	runs bool
	next *restoring
}

// restoring is one run, and what became of it when it is done.
type restoring struct {
	done    chan struct{}
	lacking map[string]error
	err     error
}

func newRestorer(ctx context.Context, do func(context.Context) (map[string]error, error)) *restorer {
	return &restorer{ctx: ctx, do: do}
}

// restore a container, by its name. The run goes on though who waits for it does not: it is for others too, and it may be what
// replaces the one that waits.
func (r *restorer) restore(ctx context.Context, name string) error {
	if r.do == nil {
		return errors.New("nothing starts its container")
	}
	run := r.ask()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-run.done:
		return errors.Join(run.err, run.lacking[name])
	}
}

// whole has all that the chain has lost made again, unless the supervisor ends before.
func (r *restorer) whole(ends <-chan struct{}) error {
	if r.do == nil {
		return errors.New("nothing makes it again")
	}
	run := r.ask()
	select {
	case <-ends:
		return nil
	case <-run.done:
		return run.err
	}
}

// ask for a run that begins from now on.
func (r *restorer) ask() *restoring {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = &restoring{done: make(chan struct{})}
	}
	if !r.runs {
		r.runs = true
		go r.run()
	}
	return r.next
}

// run as long as somebody waits for one.
func (r *restorer) run() {
	for run := r.begin(); run != nil; run = r.begin() {
		run.lacking, run.err = r.do(r.ctx)
		close(run.done)
	}
}

// begin the next run; there is none where nobody waits for one.
func (r *restorer) begin() *restoring {
	r.mu.Lock()
	defer r.mu.Unlock()
	run := r.next
	r.next, r.runs = nil, run != nil
	return run
}
