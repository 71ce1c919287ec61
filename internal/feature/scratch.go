package feature

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// errNoScratch is a scratch namespace that could not be made.
var errNoScratch = errors.New("a scratch network namespace is refused")

// inScratch runs fn in a new network namespace, on a thread that dies with it,
// and the namespace with the thread. When ctx is done first, fn is left to end by
// itself: the kernel's answers cannot be interrupted.
func inScratch(ctx context.Context, fn func() error) error {
	done := make(chan error, 1)
	go unshareAndRun(fn, done)
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unshareAndRun never unlocks its thread, so the runtime ends it.
func unshareAndRun(fn func() error, done chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		avoidMainThread(fn, done)
		return
	}
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		done <- fmt.Errorf("%w: %w", errNoScratch, err)
		return
	}
	done <- fn()
}

// avoidMainThread holds the main thread until another has been used. The runtime
// cannot end the main thread: it would stay in the scratch namespace, and with it
// everything that reads /proc/self/net.
func avoidMainThread(fn func() error, done chan<- error) {
	defer runtime.UnlockOSThread()
	other := make(chan error)
	go unshareAndRun(fn, other)
	done <- <-other
}
