package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
)

// TestStray: the shim of a container is ended once it has had time to end by itself, also where it has its containerd by another name; those of
// other containers, of others' and of another containerd are let be, and so is what begins one.
func TestStray(t *testing.T) {
	dir := t.TempDir()
	at, other, also := filepath.Join(dir, "c.sock"), filepath.Join(dir, "other.sock"), filepath.Join(dir, "also.sock")
	for _, name := range []string{at, other} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at, also); err != nil {
		t.Fatal(err)
	}
	id := "nfchain." + filepath.Base(filepath.Dir(dir)) + ".fw" // as no other test's
	shimOf := func(namespace, id, address string, more ...string) (pid int) {
		words := []string{"/usr/bin/containerd-shim-runc-v2", "-namespace", namespace, "-id", id, "-address", address}
		return begin(t, dir, append(words, more...)...)
	}
	its := []int{shimOf(space, id, at), shimOf(space, id, also)}
	others := []int{shimOf(space, id+"2", at), shimOf("moby", id, at), shimOf(space, id, other)}
	const after = 300 * time.Millisecond
	began := time.Now()
	if err := endStray(t.Context(), id, at, after); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < after {
		t.Errorf("they had %v to end by themselves, of %v", took, after)
	}
	for _, pid := range its {
		for deadline := time.Now().Add(10 * time.Second); !Over(pid) && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		}
		if !Over(pid) {
			t.Errorf("shim %d is left", pid)
		}
	}
	began = time.Now()
	if err := endStray(t.Context(), id, at, time.Hour); err != nil || time.Since(began) > time.Minute {
		t.Errorf("none was waited for, for %v; %v", time.Since(began), err)
	}
	helper := shimOf(space, id, at, "start")
	if err := endStray(t.Context(), id, at, after); err == nil || !strings.Contains(err.Error(), "is at work") {
		t.Errorf("of what begins a shim is said: %v", err)
	}
	for _, pid := range append(others, helper) {
		if Over(pid) {
			t.Errorf("process %d has been ended", pid)
		}
	}
}

// TestShimEnds: one that is killed listens nowhere any more; one that has begun something is not killed.
func TestShimEnds(t *testing.T) {
	for name, with := range map[string]string{"nothing begun": "exec sleep 100", "something begun": "sleep 100; true"} {
		cmd := exec.Command("sh", "-c", with)
		cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		over := make(chan error, 1)
		go func() { over <- cmd.Wait() }()
		t.Cleanup(func() { _ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL); <-over })
		begun := func() bool { return len(children(cmd.Process.Pid)) > 0 }
		for deadline := time.Now().Add(10 * time.Second); strings.HasPrefix(name, "something") && !begun() && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		}
		fd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		s := shim{pid: cmd.Process.Pid, fd: fd, socket: filepath.Join(t.TempDir(), "s")}
		t.Cleanup(func() { _ = unix.Close(fd) })
		if err := os.WriteFile(s.socket, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		killed := s.kill() == nil
		_, err = os.Stat(s.socket)
		if killed != (name == "nothing begun") || (err != nil) != killed {
			t.Errorf("%s: killed: %t, and its socket: %v", name, killed, err)
		}
		if killed && !netns.Ended(fd, 10*time.Second) {
			t.Errorf("%s: it has not ended", name)
		}
	}
}

// TestSocketOf is where containerd 1.6.20 has the shim of a container listen, as seen once.
func TestSocketOf(t *testing.T) {
	const want = "/run/containerd/s/8dcc9d12f082564a2dc38f327c3873f3e6d204004e5625f5e6e8b3145c662ad3"
	if is := socketOf("/tmp/c/c.sock", "nfchain.sil.fwd"); is != want {
		t.Errorf("%s, want %s", is, want)
	}
}
