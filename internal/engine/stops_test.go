package engine

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestHeeds: of a process is told which signals it does something with, or keeps until it looks; of one that is not there, that it does nothing.
func TestHeeds(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR2)
	defer signal.Stop(c)
	if !heeds(os.Getpid(), syscall.SIGUSR2) {
		t.Error("this process catches SIGUSR2")
	}
	if heeds(os.Getpid(), syscall.SIGKILL) || heeds(-1, syscall.SIGTERM) {
		t.Error("nobody catches SIGKILL, and nobody that is not there anything")
	}
	runtime.LockOSThread() // and is never let go of, so that it ends with what it keeps
	const kept = 34        // which Go catches nowhere
	if heeds(unix.Gettid(), kept) {
		t.Error("this thread does not keep a signal yet")
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &unix.Sigset_t{Val: [16]uint64{1 << (kept - 1)}}, nil); err != nil {
		t.Fatal(err)
	}
	if !heeds(unix.Gettid(), kept) {
		t.Error("this thread keeps a signal")
	}
}
