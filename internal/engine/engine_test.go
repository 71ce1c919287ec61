package engine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/engine/entry"
)

// TestNotThere: an engine that does not answer, or may be on another machine, is not there, and the error says
// what to do.
func TestNotThere(t *testing.T) {
	for host, want := range map[string]string{
		"unix://" + filepath.Join(t.TempDir(), "none.sock"): "systemctl start docker",
		"tcp://198.51.100.1:2375":                           "another machine",
	} {
		t.Setenv("DOCKER_HOST", host)
		_, err := Open(t.Context(), Docker)
		if !errors.Is(err, ErrNotThere) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), host) {
			t.Errorf("%s: %v", host, err)
		}
	}
	if _, err := Open(t.Context(), "rkt"); err == nil || !strings.Contains(err.Error(), Docker) {
		t.Errorf("an engine that there is none of: %v", err)
	}
}

// TestWaits: a process waits as long as it is what a container begins with, and no longer.
func TestWaits(t *testing.T) {
	for line, want := range map[string]bool{
		"/.nfchain enter -- sleep 100": true, "/usr/bin/runc init": true, "lxc-start --foreground --name x": true, "lxc-attach --name x": false, "/usr/bin/crun --root /run/crun create --bundle /x y": true, "/usr/bin/crun": false, "/usr/bin/crun --root /run/crun exec y sh": false, "sleep": false, "/.nfchain idle": false, "init": false, "": false,
	} {
		if got := begins(strings.Split(line+" ", " ")); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
	if Waits(os.Getpid()) {
		t.Error("this process waits")
	}
}

// TestRests: what a container begins with waits, unless it is called as what has nothing to become.
func TestRests(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, EnterCommand), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/bin/cat", filepath.Join(dir, entry.Resting)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"/bin/cat": true, filepath.Join(dir, entry.Resting): false} {
		cmd := &exec.Cmd{Path: path, Args: append(Wanted{}.entry(), Resting()...), Dir: dir} // which reads from nobody
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		become(t, cmd.Process.Pid)
		if got := Waits(cmd.Process.Pid); got != want {
			t.Errorf("%s waits: %v", path, got)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// become waits until a process that was just started is what it is to be: for a moment it has no words.
func become(t *testing.T, pid int) {
	t.Helper()
	for {
		said, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			t.Fatal(err)
		}
		if len(said) > 0 {
			return
		}
	}
}

// TestIsOfThatContainer: what crun begins a container with is not taken for that of another one.
func TestIsOfThatContainer(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, "create"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: "/bin/cat", Args: []string{"crun", "create", "0123"}, Dir: dir} // from nobody
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	become(t, cmd.Process.Pid)
	for id, want := range map[string]bool{"0123": true, "4567": false} {
		if Is(cmd.Process.Pid, id) != want {
			t.Errorf("it is of %s: not %v", id, want)
		}
	}
}

// TestProgramIsStatic: what needs a library is not given to containers.
func TestProgramIsStatic(t *testing.T) {
	for needs, flags := range map[string]string{"": "0", "CGO_ENABLED=0": "1"} {
		name := filepath.Join(t.TempDir(), "program")
		cmd := exec.Command("go", "build", "-o", name, "./testdata")
		cmd.Env = append(os.Environ(), "CGO_ENABLED="+flags)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if err := static(name); (err == nil) != (needs == "") || err != nil && !strings.Contains(err.Error(), needs) {
			t.Errorf("with CGO_ENABLED=%s: %v", flags, err)
		}
	}
}

// TestNames: a container's processes are told by their control groups from those of one whose name begins or ends alike.
func TestNames(t *testing.T) {
	const id = "chain.web"
	for groups, want := range map[string]bool{
		"0::/nfchain/chain.web\n": true, "12:memory:/x\n0::/nfchain/chain.web": true, "0::/nfchain/chain.web/init\n": true,
		"0::/system.slice/docker-chain.web.scope\n": true, "0::/machine.slice/libpod-chain.web.scope/container\n": true,
		"0::/nfchain/chain.web-1\n": false, "0::/nfchain/2chain.web\n": false, "0::/nfchain/chain.we\n": false, "0::/\n": false, "": false,
	} {
		if names(groups, id) != want {
			t.Errorf("%q: not %v", groups, want)
		}
	}
}
