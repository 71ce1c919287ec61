package engine_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
)

// nobody is the number of a user that is not root.
const nobody = 65534

// asNobody does something as another user, on a thread that ends with it.
func asNobody(t *testing.T, do func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and is never let go of
		if _, _, wrong := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody); wrong != 0 {
			done <- wrong
			return
		}
		done <- do()
	}()
	return <-done
}

// begun is a process, by these words, which is ended with the test.
func begun(t *testing.T, path, dir string, words ...string) (pid int) {
	t.Helper()
	cmd := &exec.Cmd{Path: path, Args: words, Dir: dir, Stderr: os.Stderr}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

// TestHostedHeedsRoot: no other user of the machine lets in who waits in its network.
func TestHostedHeedsRoot(t *testing.T) {
	nstest.Root(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := nstest.Name(t)
	pid := begun(t, self, "", "/.nfchain", engine.HostedCommand, "--", name, "sleep", "1000")
	deadline := time.Now().Add(2 * time.Minute)
	for heard := 0; heard < 3; {
		err := asNobody(t, func() error {
			c, err := net.Dial("unix", "@nfchain/gate-of/"+name)
			if err != nil {
				return err
			}
			defer func() { _ = c.Close() }()
			_, _ = io.ReadAll(c) // until it has been turned away
			return nil
		})
		switch {
		case err == nil:
			heard++
		case time.Now().After(deadline):
			t.Fatal(err)
		default: // it does not listen yet
			time.Sleep(5 * time.Millisecond)
		}
	}
	if !engine.Waits(pid) {
		t.Error("another user has let it in")
	}
	if err := engine.LetIn(t.Context(), pid, netns.Host); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if is := strings.TrimSpace(string(text)); err != nil || is != "sleep" {
		t.Errorf("it has become %q: %v", is, err)
	}
}

// TestHostedImpostor: who listens in a container's place is not taken for it, and who that is is told.
func TestHostedImpostor(t *testing.T) {
	nstest.Root(t)
	name, dir := nstest.Name(t), t.TempDir()
	var listener net.Listener
	if err := asNobody(t, func() (err error) {
		listener, err = net.Listen("unix", "@nfchain/gate-of/"+name)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	if err := unix.Mkfifo(filepath.Join(dir, engine.HostedCommand), 0o600); err != nil {
		t.Fatal(err)
	}
	pid := begun(t, "/bin/cat", dir, "/.nfchain", engine.HostedCommand, "--", name, "sh") // which reads from nobody
	want := fmt.Sprintf("process %d of user %d listens there, and not the container's, which is %d", os.Getpid(), nobody, pid)
	if err := engine.LetIn(t.Context(), pid, netns.Host); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
