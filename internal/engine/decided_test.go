package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/containerd/errdefs"
)

// busy is a container of which containerd knows nothing but that it has a task, until it has been asked so often.
type busy struct {
	client.Container
	asked, until int
	// status is what it is told then, and gone that there is no task any more.
	status client.ProcessStatus
	gone   bool
}

type busyTask struct {
	client.Task
	of  *busy
	pid uint32
}

// knows tells whether containerd is told what there is, when it asks once more.
func (b *busy) knows() bool {
	b.asked++
	return b.asked > b.until
}

func (b *busy) Task(context.Context, cio.Attach) (client.Task, error) {
	switch {
	case !b.knows():
		return busyTask{of: b}, nil
	case b.gone:
		return nil, errdefs.ErrNotFound
	}
	return busyTask{of: b, pid: 7}, nil
}

func (t busyTask) Pid() uint32 { return t.pid }

func (t busyTask) Status(context.Context) (client.Status, error) {
	if !t.of.knows() {
		return client.Status{Status: client.Unknown}, nil
	}
	return client.Status{Status: t.of.status}, nil
}

// TestDecided: where containerd is not told in time what a container does, it is asked again, whether that is when it is asked for the process or
// for the status.
func TestDecided(t *testing.T) {
	for until := range 6 {
		for _, status := range []client.ProcessStatus{client.Running, client.Paused, client.Stopped, client.Created} {
			task, is, err := decided(t.Context(), &busy{until: until, status: status})
			if err != nil || is.Status != status || task.Pid() == 0 && status != client.Stopped && status != client.Created {
				t.Errorf("when asked %d times: %v, error %v", until, is, err)
			}
		}
		if _, _, err := decided(t.Context(), &busy{until: until, gone: true}); !errdefs.IsNotFound(err) {
			t.Errorf("when asked %d times: %v of what is gone", until, err)
		}
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, _, err := decided(ctx, &busy{until: 1 << 30}); err != context.Canceled {
		t.Errorf("when nobody waits any more: %v", err)
	}
}

// full is a container whose task cannot be made until this has been swept away.
type full struct {
	client.Container
	left []error
}

func (f *full) NewTask(context.Context, cio.Creator, ...client.NewTaskOpts) (client.Task, error) {
	if len(f.left) > 0 {
		return nil, f.left[0]
	}
	return busyTask{pid: 7}, nil
}

// TestAnew: a task that is there, or that is being made for somebody who was ended, is swept away until there is room for another; what else keeps
// one from being made is told at once.
func TestAnew(t *testing.T) {
	making := errors.New("failed to start shim: mkdir /run/nfchain.a.b: file exists: unknown")
	f := &full{left: []error{making, errdefs.ErrAlreadyExists, making}}
	task, err := anew(t.Context(), f, nil, func(refusal error) error {
		if refusal != f.left[0] {
			t.Errorf("told of %v", refusal)
		}
		f.left = f.left[1:]
		return nil
	})
	if err != nil || task.Pid() != 7 {
		t.Errorf("%v, error %v", task, err)
	}
	refused := errors.New("no such runtime")
	f = &full{left: []error{refused}}
	if _, err := anew(t.Context(), f, nil, func(error) error { t.Error("it is swept away"); return nil }); err != refused {
		t.Error(err)
	}
}
