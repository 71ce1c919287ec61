package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource/process"
)

// startContained has the first process of the program's container become the program, now that its network is there,
// and follows it until it ends. One that runs already is followed.
func (p *program) startContained(ctx context.Context) error {
	e, err := engine.Open(ctx, p.spec.Container.Engine)
	if err != nil {
		return err
	}
	defer func() { _ = e.Close() }()
	c, err := p.contained(ctx, e)
	if err != nil {
		return err
	}
	if c.PID == 0 {
		return errors.New(c.How)
	}
	following, stop := context.WithCancel(ctx)
	defer stop()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		p.copyLog(following, e, c)
	}()
	if err := letIn(ctx, c.PID, p.spec.Netns); err != nil {
		stop()
		<-copied
		return err
	}
	err = p.watch(ctx, c.PID, nil, c.StopSignal, func() error { return howEnded(ctx, e, c) })
	select {
	case <-copied: // to its last word
	case <-time.After(saysWithin):
	case <-ctx.Done():
	}
	stop()
	<-copied
	return err
}

// overWithin is how long a process may take to end that has said why it cannot become the program: on a busy machine, though it does nothing
// else any more.
const overWithin = 30 * time.Second

// letIn has the first process of a container become the program. One that says it cannot has ended then: who tries again would take it for one
// that was told before, and forget why it ended.
func letIn(ctx context.Context, pid int, namespace string) error {
	err := engine.LetIn(ctx, pid, namespace)
	for deadline := time.Now().Add(overWithin); errors.Is(err, engine.ErrCannot) && !engine.Over(pid) && ctx.Err() == nil && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	return err
}

// startContainedAgain has the container started again first, and its network made.
func (p *program) startContainedAgain(ctx context.Context) error {
	if err := p.restorer.restore(ctx, p.spec.Container.Name); err != nil {
		return fmt.Errorf("could not be started again: %w", err)
	}
	return p.startContained(ctx)
}

// begun tells whether the program's container runs it already, as where another supervisor had it do so: it has nothing to
// wait for any more.
func (p *program) begun(ctx context.Context) bool {
	if p.spec.Container == nil || len(p.spec.After) == 0 {
		return false
	}
	e, err := engine.Open(ctx, p.spec.Container.Engine)
	if err != nil {
		return false
	}
	defer func() { _ = e.Close() }()
	return p.runsIn(ctx, e)
}

func (p *program) runsIn(ctx context.Context, e engine.Engine) bool {
	c, err := p.contained(ctx, e)
	return err == nil && c.PID != 0 && !engine.Waits(c.PID)
}

// contained is the program's container, as the plan has it made.
func (p *program) contained(ctx context.Context, e engine.Engine) (engine.Container, error) {
	c, err := e.Inspect(ctx, p.spec.Container.Name)
	switch {
	case err != nil:
		return c, err
	case c.Owner != p.config.Owner:
		return c, fmt.Errorf("container %s is not nfchain's", c.Name)
	case c.Digest != p.spec.Container.Digest, c.PID != 0 && !netns.Has(p.spec.Netns, c.PID):
		return c, fmt.Errorf("its container %s is being made anew", c.Name)
	}
	return c, nil
}

// saysWithin is how long an engine may take to say how a container has ended.
const saysWithin = 5 * time.Second

// howEnded waits for the end of a container and says how it was.
func howEnded(ctx context.Context, e engine.Engine, c engine.Container) error {
	_ = waitAdopted(c.PID)
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), saysWithin)
	defer stop()
	for ctx.Err() == nil {
		now, err := e.Inspect(ctx, c.ID)
		switch {
		case errors.Is(err, engine.ErrNotThere):
			return errors.New("ended: somebody removed its container")
		case err != nil:
			return fmt.Errorf("ended, and the engine does not say how: %w", err)
		case now.PID != c.PID && now.How == "":
			return errors.New("ended: somebody started its container again")
		case now.PID != c.PID && now.Code == 0:
			return nil
		case now.PID != c.PID:
			return errors.New(now.How)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return errors.New("ended, and the engine does not say how")
}

// followsAgain is how long it takes until an engine that told no more of what a container writes is asked again.
const followsAgain = 500 * time.Millisecond

// copyLog of the container to the function's, as long as the container runs, though its engine may end and begin again. The time of
// the log is that of the last piece in it, behind which whoever comes next goes on.
func (p *program) copyLog(ctx context.Context, e engine.Engine, c engine.Container) {
	if e.Writes() {
		return
	}
	name := p.config.LogFile(p.spec.Node)
	var from time.Time
	if info, err := os.Stat(name); err == nil {
		from = info.ModTime().Add(1)
	}
	log, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	defer func() { _ = log.Close() }()
	for ctx.Err() == nil {
		// Where a full disk takes nothing, what was written meanwhile is lost, as it is to any program.
		err := e.Logs(ctx, c.ID, from, func(at time.Time, text []byte) error {
			_, _ = log.Write(text)
			from = at.Add(1)
			_ = os.Chtimes(name, at, at)
			return nil
		})
		if !netns.Has(p.spec.Netns, c.PID) && (err == nil || errors.Is(err, engine.ErrNotThere)) {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(followsAgain):
		}
	}
}

// askContained runs the ready command in the container. An engine that does not run it has told nothing of the program.
func (p *program) askContained(ctx context.Context, args []string) (said string, err error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	limit := time.AfterFunc(askTakes, end)
	defer limit.Stop()
	e, err := engine.Open(ctx, p.spec.Container.Engine)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUnasked, err)
	}
	defer func() { _ = e.Close() }()
	if err := p.endBegunHere(ctx); err != nil {
		return "", fmt.Errorf("%w: %w", errUnasked, err)
	}
	return p.askBy(ctx, e, limit, args)
}

// askBy an engine, until the limit ends that; from when the command has begun, it has as long again.
func (p *program) askBy(ctx context.Context, e engine.Engine, limit *time.Timer, args []string) (said string, err error) {
	var wrote tail
	var begun atomic.Bool
	mark := []string{process.Asking(p.config.Owner, p.spec.Node)}
	code, err := e.Exec(ctx, p.spec.Container.Name, args, engine.Streams{Out: &wrote, Err: &wrote, Env: mark, Named: p.noteBegins, Begun: func() {
		if limit.Stop() {
			begun.Store(true)
			limit.Reset(askTakes)
		}
	}})
	if err == nil {
		p.noteEnded()
	}
	switch {
	case ctx.Err() != nil && !begun.Load():
		return "", errUnbegun
	case ctx.Err() != nil && p.answers(e):
		return wrote.line(), errNoAnswer
	case ctx.Err() != nil:
		return "", fmt.Errorf("%w: its engine says nothing", errUnasked)
	case err != nil:
		return "", fmt.Errorf("%w: %w", errUnasked, err)
	case code != 0:
		return wrote.line(), fmt.Errorf("exit code %d", code)
	}
	return wrote.line(), nil
}

// answers tells whether the engine does, so that it was a command of the container's that took too long.
func (p *program) answers(e engine.Engine) bool {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	_, err := e.Inspect(ctx, p.spec.Container.Name)
	return err == nil
}
