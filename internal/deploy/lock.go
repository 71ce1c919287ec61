package deploy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// Lock keeps other nfchain processes from a chain. It is a listening socket with
// an abstract name: the kernel frees it when its process dies, however it dies,
// and no file is left behind.
type Lock struct{ listener net.Listener }

// ErrLocked is returned when another nfchain process has the chain.
var ErrLocked = errors.New("another nfchain process is working on it")

// patience is how long a command waits for another to finish with a chain.
const patience = 30 * time.Second

// Acquire takes the lock of a chain. It waits a while for another process, telling
// wait once, and then gives up with ErrLocked.
func Acquire(ctx context.Context, owner string, wait func(pid int)) (*Lock, error) {
	name := "@nfchain/lock/" + owner
	began := time.Now()
	for deadline, told := began.Add(patience), false; ; {
		l, err := net.Listen("unix", name)
		if err == nil {
			return &Lock{l}, nil
		}
		if !errors.Is(err, unix.EADDRINUSE) {
			return nil, fmt.Errorf("lock chain %s: %w", owner, err)
		}
		pid := holder(name)
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("chain %s: %w (process %d); wait for it or end it", owner, ErrLocked, pid)
		}
		if !told && pid != 0 && time.Since(began) > time.Second {
			told = true
			wait(pid)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// holder asks the kernel whose listening socket it is; 0 when it is gone.
func holder(name string) int {
	c, err := net.Dial("unix", name)
	if err != nil {
		return 0
	}
	defer func() { _ = c.Close() }()
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	_ = raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	return pid
}

// Release gives the lock back.
func (l *Lock) Release() { _ = l.listener.Close() }
