package feature

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLoadsAmidSignals, of which the kernel leaves off checking a program: Go's runtime sends its threads some whenever cores are busy.
func TestLoadsAmidSignals(t *testing.T) {
	fd, err := loadNothing(unix.BPF_PROG_TYPE_SCHED_CLS)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
		t.Skip("no BPF programs for packets: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(fd)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread, done := unix.Gettid(), make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			default:
				_ = unix.Tgkill(os.Getpid(), thread, unix.SIGURG)
			}
		}
	}()
	defer func() { close(done); <-stopped }()
	for range 2000 {
		fd, err := loadNothing(unix.BPF_PROG_TYPE_SCHED_CLS)
		if err != nil {
			t.Fatal(err)
		}
		_ = unix.Close(fd)
	}
}
