package engine

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/containerd/containerd/api/services/tasks/v1"
	types "github.com/containerd/containerd/api/types/task"
	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/errdefs"

	"nfchain.dev/nfchain/internal/netns/rundir"
)

func (d containerd) Exec(ctx context.Context, id string, args []string, s Streams) (int, error) {
	if s.Err == nil {
		s.Out = &oneAtATime{out: s.Out}
		s.Err = s.Out
	}
	code, err := d.exec(ctx, idOf(id), args, s)
	if err != nil {
		return 0, fmt.Errorf("run %q in container %s: %w", args, id, err)
	}
	return code, nil
}

func (d containerd) exec(ctx context.Context, id string, args []string, s Streams) (int, error) {
	c, err := d.client.LoadContainer(ctx, id)
	if err != nil {
		return 0, err
	}
	info, err := c.Info(ctx, client.WithoutRefreshedMetadata)
	if err != nil {
		return 0, err
	}
	spec, err := c.Spec(ctx)
	if err != nil {
		return 0, err
	}
	task, err := c.Task(ctx, nil)
	if err != nil {
		return 0, err
	}
	how := *spec.Process
	how.Args, how.Env, how.Terminal = args, slices.Concat(how.Env, s.Env), s.Terminal()
	// What a killed process leaves of pipes goes with the chain.
	streams := []cio.Opt{cio.WithStreams(nil, s.Out, s.Err), cio.WithFIFODir(rundir.Of(info.Labels[labelOwner]))}
	in := &ending{of: s.In, ended: make(chan struct{})}
	if s.In != nil {
		streams = append(streams, cio.WithStreams(in, s.Out, s.Err))
	}
	if s.Terminal() {
		streams = append(streams, cio.WithTerminal)
	}
	pipes := cio.NewCreator(streams...)
	name := newCommand()
	if err := s.named(name); err != nil {
		return 0, err
	}
	run, err := task.Exec(ctx, name, &how, pipes)
	if err != nil {
		return 0, err
	}
	defer func() {
		ctx, stop := afterwards(ctx, answersWithin)
		defer stop()
		_, _ = run.Delete(ctx, client.WithProcessKill)
	}()
	exited, err := run.Wait(ctx)
	if err != nil {
		return 0, err
	}
	if err := startWhole(ctx, run); err != nil {
		return 0, err
	}
	s.begun()
	calling, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-in.ended:
			_ = run.CloseIO(calling, client.WithStdinCloser)
		case <-calling.Done():
		}
	}()
	if s.Terminal() {
		go func() {
			for size := range s.Sizes {
				_ = run.Resize(calling, uint32(size.Columns), uint32(size.Rows))
			}
		}()
	}
	status := <-exited
	code, _, err := status.Result()
	if err != nil {
		if ctx.Err() != nil {
			end(int(run.Pid()), id) // with what it has started, of which containerd knows nothing
		}
		return 0, err
	}
	said := make(chan struct{})
	go func() { defer close(said); run.IO().Wait() }()
	select {
	case <-said:
	case <-ctx.Done(): // what it left runs on, and holds its output
	}
	return int(code), nil
}

// startWhole starts a command. Who is told to end meanwhile waits until it is known what to end, unless containerd does not answer: of one that
// has begun, and has started others, nothing else tells.
func startWhole(ctx context.Context, run client.Process) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	starting, stop := unbroken(ctx)
	defer stop()
	return run.Start(starting)
}

// EndExec implements Engine. One that containerd has made and not started is started by nobody any more, but for who asked for it before.
func (d containerd) EndExec(ctx context.Context, id, command string) error {
	ctx, stop := context.WithTimeout(ctx, stopsWithin)
	defer stop()
	for {
		err := d.endExec(ctx, idOf(id), command)
		if err == nil || errdefs.IsNotFound(err) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("end command %s in container %s: %w", command, id, err)
		case <-time.After(10 * time.Millisecond): // as long as it takes to end
		}
	}
}

func (d containerd) endExec(ctx context.Context, id, command string) error {
	c, err := d.client.LoadContainer(ctx, id)
	if err != nil {
		return err
	}
	task, err := c.Task(ctx, nil)
	if err != nil {
		return err
	}
	run, err := task.LoadProcess(ctx, command, nil)
	if err != nil {
		return err
	}
	// It does not have the number, which is asked for by itself, in the space that the client is for.
	r, err := d.client.TaskService().Get(namespaces.WithNamespace(ctx, space), &tasks.GetRequest{ContainerID: id, ExecID: command})
	if pid := int(r.GetProcess().GetPid()); err == nil && pid != 0 && r.GetProcess().GetStatus() != types.Status_STOPPED { // else it may be another's by now
		end(pid, id)
	}
	_, err = run.Delete(ctx)
	return err
}

// ending is a reader that tells when all of it has been read.
type ending struct {
	of    io.Reader
	once  sync.Once
	ended chan struct{}
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.of.Read(p)
	if err != nil {
		e.once.Do(func() { close(e.ended) })
	}
	return n, err
}

// oneAtATime is a writer that several write to.
type oneAtATime struct {
	mu  sync.Mutex
	out io.Writer
}

func (o *oneAtATime) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.Write(p)
}
