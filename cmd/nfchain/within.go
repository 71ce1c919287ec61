package main

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/container"
)

// containerOf a node, if it is one of an image: where there is none nothing of the container's can be run.
func containerOf(p *plan.Plan, n plan.Node) (container.Spec, bool) {
	for _, r := range p.Resources {
		if c, is := r.Spec.(container.Spec); is && c.Node == n.Name && c.Image != "" {
			return c, true
		}
	}
	return container.Spec{}, false
}

// within runs a command in a container with this process's streams, and passes its exit code on.
func (a *app) within(ctx context.Context, c container.Spec, words []string) error {
	e, err := engine.Open(ctx, c.Engine)
	if err != nil {
		return err
	}
	defer func() { _ = e.Close() }()
	streams := engine.Streams{In: a.stdin, Out: a.stdout, Err: a.stderr}
	if in, out := asTerminal(a.stdin), asTerminal(a.stdout); in != nil && out != nil {
		was, err := term.MakeRaw(int(in.Fd()))
		if err != nil {
			return err
		}
		defer func() { _ = term.Restore(int(in.Fd()), was) }()
		var stop func()
		streams.Sizes, stop = sizes(out)
		defer stop()
	}
	if !signal.Ignored(unix.SIGHUP) { // a command whose terminal goes ends, but one that nohup began
		var stop func()
		ctx, stop = signal.NotifyContext(ctx, unix.SIGHUP)
		defer stop()
	}
	code, err := e.Exec(ctx, c.Name, words, streams)
	if err != nil || code == 0 {
		return err
	}
	return exitCode{code}
}

// asTerminal is a stream that is one; nil where it is not.
func asTerminal(stream any) *os.File {
	if f, is := stream.(*os.File); is && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// sizes of a terminal, now and whenever it has another.
func sizes(of *os.File) (all <-chan engine.Size, stop func()) {
	changes, told, over := make(chan os.Signal, 1), make(chan engine.Size), make(chan struct{})
	signal.Notify(changes, unix.SIGWINCH)
	changes <- unix.SIGWINCH
	go func() {
		defer close(told)
		for {
			select {
			case <-over:
				return
			case <-changes:
			}
			columns, rows, err := term.GetSize(int(of.Fd()))
			if err != nil {
				continue
			}
			select {
			case <-over:
				return
			case told <- engine.Size{Rows: uint16(rows), Columns: uint16(columns)}:
			}
		}
	}()
	return told, func() {
		signal.Stop(changes)
		close(over)
	}
}
