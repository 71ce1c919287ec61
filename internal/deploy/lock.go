package deploy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"nfchain.dev/nfchain/internal/netns/abstract"
)

// Lock keeps other nfchain processes of this user from a chain. It is a listening
// socket with an abstract name: the kernel frees it when its process dies, however
// it dies, and no file is left behind.
type Lock struct{ listener net.Listener }

// ErrLocked is returned when another nfchain process has the chain.
var ErrLocked = errors.New("another nfchain process is working on it")

// patience is how long a command waits for another to finish with a chain.
const patience = 30 * time.Second

// Acquire takes the lock of a chain. It waits a while for another process, telling
// wait once, and then gives up with ErrLocked.
func Acquire(ctx context.Context, owner string, wait func(pid int)) (*Lock, error) {
	name := "nfchain/lock/" + owner
	began := time.Now()
	for deadline, told := began.Add(patience), false; ; {
		l, err := abstract.Listen(name)
		if err == nil {
			go answer(l)
			return &Lock{l}, nil
		}
		if !errors.Is(err, abstract.ErrTaken) {
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
			return nil, Interrupted(ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// answer hangs up on everyone who connects to learn who has the lock; those that
// are never answered would fill its queue.
func answer(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_ = c.Close()
	}
}

// holder is the process that has the lock; 0 when it is gone.
func holder(name string) int {
	c, err := abstract.Dial(name)
	if err != nil {
		return 0
	}
	_ = c.Close()
	return c.PID
}

// Release gives the lock back.
func (l *Lock) Release() { _ = l.listener.Close() }
