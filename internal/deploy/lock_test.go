package deploy_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/nstest"
)

func TestLock(t *testing.T) {
	owner := nstest.Owner(t)
	first, err := deploy.Acquire(context.Background(), owner, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	told := 0
	if _, err := deploy.Acquire(ctx, owner, func(pid int) { told = pid; cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("locked twice: %v", err)
	}
	if told != os.Getpid() {
		t.Errorf("told of process %d", told)
	}
	if _, err := deploy.AcquireWithin(context.Background(), owner, 50*time.Millisecond, func(int) {}); !errors.Is(err, deploy.ErrLocked) {
		t.Errorf("waited for longer than was said: %v", err)
	}
	time.AfterFunc(100*time.Millisecond, first.Release)
	second, err := deploy.Acquire(context.Background(), owner, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	second.Release()
}

// TestLockIsNoOtherUsers: no other user can keep a chain from nfchain, and nothing is
// left of a lock.
func TestLockIsNoOtherUsers(t *testing.T) {
	nstest.Root(t) // to become another user
	owner := nstest.Owner(t) + "/odd name"
	tried := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 65534, 65534, 65534); errno != 0 {
			tried <- errno
			return
		}
		_, err := deploy.Acquire(context.Background(), owner, nil)
		tried <- err
	}()
	if err := <-tried; !errors.Is(err, fs.ErrPermission) {
		t.Errorf("another user: %v", err)
	}
	lock, err := deploy.Acquire(context.Background(), owner, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := deploy.Owners()
	if err != nil || slices.ContainsFunc(all, func(o string) bool { return strings.Contains(o, "lock") }) {
		t.Errorf("a lock is taken for a chain: %v, error %v", all, err)
	}
	lock.Release()
	if _, err := os.Stat(deploy.LockFile(owner)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock left its file: %v", err)
	}
}

// TestDownSweepsLocks: down removes the files of locks whose processes were killed,
// and leaves those that are held.
func TestDownSweepsLocks(t *testing.T) {
	needs(t)
	owner := nstest.Owner(t)
	held, err := deploy.Acquire(context.Background(), owner+"/held", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	left := deploy.LockFile(owner + "/left")
	if err := os.WriteFile(left, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	down(t, owner)
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left: %v", left, err)
	}
	if _, err := os.Stat(deploy.LockFile(owner + "/held")); err != nil {
		t.Error(err)
	}
}
