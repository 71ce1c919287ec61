package watch

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/process"
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

// TestHaltedIsNotWaitedFor: a function whose program is stopped has failed as soon as a probe is missing, on the path, and where
// only flows go by it that stay on an older one.
func TestHaltedIsNotWaitedFor(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for _, stopped := range []bool{false, true} {
		if stopped {
			nstest.Stop(t, cmd.Process.Pid)
		}
		for _, leaving := range []bool{false, true} {
			n, now := newNode("1", true, false), time.Now()
			n.spec.Programs, n.leaving = []string{"f"}, leaving
			n.ways[0].ask(now.Add(-fast))
			w := &Watcher{config: Config{Say: func(string, string) {}}, path: process.Path{Forwarder: "nobodys"},
				programs: map[string]string{}, pids: map[string]int{"f": cmd.Process.Pid}, ended: map[string]bool{}, nodes: []*node{n}, ports: map[string]*port{"": {}}}
			w.act(now)
			if found := n.failed || w.unsure; found != stopped { // there is no forwarder, in which flows would be recalled
				t.Errorf("stopped %t, leaving %t: failed %t", stopped, leaving, found)
			}
		}
	}
}
