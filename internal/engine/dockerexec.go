package engine

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"
)

func (d docker) Exec(ctx context.Context, id string, args []string, s Streams) (int, error) {
	made, err := d.ExecCreate(ctx, id, client.ExecCreateOptions{Cmd: args, Env: s.Env, TTY: s.Terminal(), AttachStdin: s.In != nil, AttachStdout: true, AttachStderr: true})
	if err != nil {
		return 0, fmt.Errorf("run %q in container %s: %w", args, id, err)
	}
	if err := s.named(made.ID); err != nil {
		return 0, fmt.Errorf("run %q in container %s: %w", args, id, err)
	}
	stream, err := d.attach(ctx, made.ID, s)
	if err != nil {
		return 0, fmt.Errorf("run %q in container %s: %w", args, id, err)
	}
	defer stream.Close()
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(over)
		d.endExec(made.ID)
		stream.Close()
	})
	defer func() {
		if !stop() {
			<-over
		}
	}()
	if s.Begun != nil {
		beginning, cease := context.WithCancel(ctx)
		defer cease()
		go d.begins(beginning, made.ID, s.Begun)
	}
	if s.In != nil {
		go func() {
			_, _ = io.Copy(stream.Conn, s.In)
			_ = stream.CloseWrite()
		}()
	}
	if s.Terminal() {
		go d.resize(ctx, made.ID, s.Sizes)
	}
	if s.Terminal() {
		_, err = io.Copy(s.Out, stream.Reader)
	} else {
		_, err = stdcopy.StdCopy(s.Out, s.errors(), stream.Reader)
	}
	if err != nil {
		return 0, fmt.Errorf("run %q in container %s: %w", args, id, err)
	}
	return d.codeOf(ctx, made.ID)
}

// codeOf a command, when it has ended: it may have closed what it writes to before.
func (d docker) codeOf(ctx context.Context, id string) (int, error) {
	for {
		r, err := d.ExecInspect(ctx, id, client.ExecInspectOptions{})
		if err != nil || !r.Running {
			return r.ExitCode, err
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// attach to a command, by which it begins. Who is told to end meanwhile has it end: the engine may have been told to start it, and does when it
// gets to it.
func (d docker) attach(ctx context.Context, id string, s Streams) (stream client.ExecAttachResult, err error) {
	if err := ctx.Err(); err != nil {
		return stream, err
	}
	attaching, stop := unbroken(ctx)
	defer stop()
	stream, err = d.ExecAttach(attaching, id, client.ExecAttachOptions{TTY: s.Terminal()})
	if ctx.Err() == nil {
		return stream, err
	}
	if stream.Conn != nil {
		stream.Close()
	}
	d.endExec(id)
	return stream, ctx.Err()
}

// beginsEvery is the time between two looks whether a command in a container has begun. Most have ended before the first.
const beginsEvery = 100 * time.Millisecond

// begins tells when a command has begun, which the engine does not say of itself: it answers who attaches to one before it starts that.
func (d docker) begins(ctx context.Context, id string, begun func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(beginsEvery):
		}
		if r, err := d.ExecInspect(ctx, id, client.ExecInspectOptions{}); err == nil && r.PID != 0 {
			begun()
			return
		}
	}
}

// resize the terminal of a command.
func (d docker) resize(ctx context.Context, id string, sizes <-chan Size) {
	for size := range sizes {
		_, _ = d.ExecResize(ctx, id, client.ExecResizeOptions{Height: uint(size.Rows), Width: uint(size.Columns)})
	}
}

// endExec ends a command in a container as far as the engine says in time what that is.
func (d docker) endExec(id string) {
	ctx, stop := context.WithTimeout(context.Background(), answersWithin)
	defer stop()
	_ = d.EndExec(ctx, "", id)
}

// heardWithin is how long an engine that answers may take until it has heard that it is to start a command, which it was told before.
const heardWithin = 2 * time.Second

// looksAtLeast is how many looks have seen such a command not begin until it is taken for one that never does: who gets no turn for that time has
// not looked.
const looksAtLeast = int(heardWithin / beginsEvery / 2)

// EndExec implements Engine: the engine itself cannot end a command, and names of those are its own, whatever their container.
func (d docker) EndExec(ctx context.Context, _, command string) error {
	var first time.Time
	for looks := 1; ; looks++ {
		r, err := d.ExecInspect(ctx, command, client.ExecInspectOptions{})
		switch {
		case errdefs.IsNotFound(err):
			return nil
		case err != nil:
			return fmt.Errorf("look at command %s: %w", command, err)
		case r.Running && r.PID != 0:
			end(r.PID, r.ContainerID)
			return nil
		case r.Running: // and is just being started
		case r.PID != 0 || r.ExitCode != 0 || !first.IsZero() && looks > looksAtLeast && time.Since(first) > heardWithin: // has ended, or never begins
			return nil
		case first.IsZero():
			first = time.Now()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(beginsEvery):
		}
	}
}
