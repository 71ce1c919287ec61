package engine

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFrozen: a process is kept from running by its control group of either version, wherever these are.
func TestFrozen(t *testing.T) {
	at := t.TempDir()
	for file, text := range map[string]string{
		"freezer/docker/a/freezer.state":       "FROZEN\n",
		"freezer/docker/b/freezer.state":       "FREEZING\n",
		"freezer/docker/c/freezer.state":       "THAWED\n",
		"system.slice/d.scope/cgroup.events":   "populated 1\nfrozen 1\n",
		"system.slice/e.scope/cgroup.events":   "populated 1\nfrozen 0\n",
		"unified/system.slice/f/cgroup.events": "populated 1\nfrozen 1\n",
	} {
		name := filepath.Join(at, file)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for groups, want := range map[string]bool{
		"8:pids:/docker/a\n6:freezer:/docker/a\n0::/\n": true,
		"8:pids:/docker/b\n6:freezer:/docker/b\n":       true,
		"6:freezer:/docker/c\n0::/\n":                   false,
		"6:freezer:/\n0::/system.slice/d.scope\n":       true,
		"8:pids:/docker/a\n0::/system.slice/e.scope\n":  false,
		"6:freezer:/docker/c\n0::/system.slice/f\n":     true,
		"6:freezer:/nowhere\n0::/nowhere\n":             false,
		"":                                              false,
	} {
		if len(freezers(groups, at)) > 0 != want {
			t.Errorf("by %q: not %v", groups, want)
		}
	}
}

// TestUnpause is a command for each engine.
func TestUnpause(t *testing.T) {
	t.Setenv(lxcVariable, "/srv/lxc")
	for engine, want := range map[string]string{
		Docker: "docker unpause nfchain.edge.web", Podman: "podman unpause nfchain.edge.web",
		Containerd: "ctr -n nfchain tasks resume nfchain.edge.web", LXC: "lxc-unfreeze -P /srv/lxc/containers -n nfchain.edge.web",
	} {
		if got := Unpause(engine, "nfchain.edge.web"); got != want {
			t.Errorf("of %s: %q", engine, got)
		}
	}
}
