package watch

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestHalted tells processes that are stopped, or have ended, from those that wait.
func TestHalted(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	becomes := func(signal syscall.Signal, want string) {
		t.Helper()
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); halted(pid) != want; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("after %v it is %q, want %q", signal, halted(pid), want)
			}
		}
	}
	becomes(syscall.SIGCONT, "")
	becomes(syscall.SIGSTOP, "is stopped")
	becomes(syscall.SIGCONT, "")
	becomes(syscall.SIGKILL, "ends")
	if how := halted(os.Getpid()); how != "" {
		t.Errorf("this one %s", how)
	}
	if how := halted(0) + halted(1<<30); how != "" {
		t.Errorf("nobody %s", how)
	}
}
