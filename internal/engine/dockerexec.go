package engine

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"
)

func (d docker) Exec(ctx context.Context, id string, args []string, s Streams) (int, error) {
	made, err := d.ExecCreate(ctx, id, client.ExecCreateOptions{Cmd: args, Env: s.Env, TTY: s.Terminal(), AttachStdin: s.In != nil, AttachStdout: true, AttachStderr: true})
	if err != nil {
		return 0, fmt.Errorf("run %q in container %s: %w", args, id, err)
	}
	stream, err := d.ExecAttach(ctx, made.ID, client.ExecAttachOptions{TTY: s.Terminal()})
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
	r, err := d.ExecInspect(ctx, made.ID, client.ExecInspectOptions{})
	return r.ExitCode, err
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

// endExec ends a command in a container, which the engine itself cannot.
func (d docker) endExec(id string) {
	ctx, stop := context.WithTimeout(context.Background(), answersWithin)
	defer stop()
	for {
		r, err := d.ExecInspect(ctx, id, client.ExecInspectOptions{})
		if err != nil || !r.Running {
			return
		}
		if r.PID != 0 {
			end(r.PID, r.ContainerID)
			return
		}
		time.Sleep(beginsEvery) // the engine is yet to start it
	}
}
