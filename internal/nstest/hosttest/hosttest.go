// Package hosttest keeps tests that change what the whole machine has one of from those
// that look at it, and what others mount from those that look at mounts. It knows of nothing else, so that every package's tests may use it.
package hosttest

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Changes waits until no test looks at what the whole machine has one of, and
// keeps the others from looking until the test has ended.
func Changes(tb testing.TB) {
	tb.Helper()
	lock(tb, unix.LOCK_EX)
}

// Looks waits until no test changes what the whole machine has one of, and keeps
// it from being changed until the test has ended.
func Looks(tb testing.TB) {
	tb.Helper()
	lock(tb, unix.LOCK_SH)
}

// Forget takes what is mounted below some directories out of this mount namespace: others' namespaces
// and containers, which would vanish from it whenever they remove them. It leaves what the tests
// themselves lie on.
func Forget(dirs ...string) {
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	here, _ := os.Getwd()
	for _, line := range slices.Backward(strings.Split(string(mounts), "\n")) {
		f := strings.Fields(line)
		if len(f) < 5 || strings.HasPrefix(here+"/", f[4]+"/") {
			continue
		}
		for _, dir := range dirs {
			if strings.HasPrefix(f[4], dir+"/") {
				_ = unix.Unmount(f[4], unix.MNT_DETACH)
			}
		}
	}
}

// lock is on a directory that is always there, so that no file is left; the
// kernel lets go of it when its process ends, however that is.
func lock(tb testing.TB, how int) {
	tb.Helper()
	dir, err := os.Open("/run")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = dir.Close() })
	for {
		if err = unix.Flock(int(dir.Fd()), how); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
}
