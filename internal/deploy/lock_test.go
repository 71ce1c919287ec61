package deploy_test

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns/abstract"
	"nfchain.dev/nfchain/internal/nstest"
)

func TestLock(t *testing.T) {
	owner := nstest.Owner(t)
	first, err := deploy.Acquire(context.Background(), owner, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
	defer cancel()
	told := 0
	if _, err := deploy.Acquire(ctx, owner, func(pid int) { told = pid }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("locked twice: %v", err)
	}
	if told != os.Getpid() {
		t.Errorf("told of process %d", told)
	}
	time.AfterFunc(100*time.Millisecond, first.Release)
	second, err := deploy.Acquire(context.Background(), owner, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	second.Release()
}

// TestLockManyAsk: a lock that is asked for often still tells who has it.
func TestLockManyAsk(t *testing.T) {
	owner := nstest.Owner(t)
	lock, err := deploy.Acquire(context.Background(), owner, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	for range 10_000 {
		c, err := abstract.Dial("nfchain/lock/" + owner)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	}
}

// TestLockSquatted: another user cannot make nfchain wait for it.
func TestLockSquatted(t *testing.T) {
	nstest.Root(t) // to become another user
	owner := nstest.Owner(t)
	var squatter net.Listener
	taken := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 65534, 65534, 65534); errno != 0 {
			taken <- errno
			return
		}
		l, err := net.Listen("unix", "@nfchain/lock/"+owner)
		squatter = l
		taken <- err
	}()
	if err := <-taken; err != nil {
		t.Fatal(err)
	}
	defer func() { _ = squatter.Close() }()
	var stranger *abstract.StrangerError
	if _, err := deploy.Acquire(context.Background(), owner, func(int) {}); !errors.As(err, &stranger) || stranger.UID != 65534 {
		t.Errorf("error %v", err)
	}
}
