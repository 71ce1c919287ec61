package supervise

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestEnding of a process is told though nobody waits for it, and not before.
func TestEnding(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, feature.PerfEvents)
	var at unix.Statfs_t
	if err := unix.Statfs("/sys/kernel/tracing", &at); err != nil || at.Type != unix.TRACEFS_MAGIC {
		t.Skipf("the kernel's tracepoints are not to be seen: no tracefs is at /sys/kernel/tracing (%v)", err)
	}
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	e, err := openEnding(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	told := make(chan error, 1)
	go func() { told <- e.wait(t.Context()) }()
	select {
	case err := <-told:
		t.Fatalf("it is told while the process runs (%v)", err)
	case <-time.After(100 * time.Millisecond):
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-told:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it is not told")
	}
	if again, err := openEnding(cmd.Process.Pid); err == nil {
		again.close()
		t.Error("it is to be told once more")
	}
}
