package engine

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
		"/.nfchain enter -- sleep 100": true, "/usr/bin/runc init": true, "/usr/bin/crun --root /run/crun create --bundle /x y": true, "/usr/bin/crun": false, "sleep": false, "/.nfchain idle": false, "init": false, "": false,
	} {
		if got := begins(strings.Split(line+" ", " ")); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
	if waits(os.Getpid()) {
		t.Error("this process waits")
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
