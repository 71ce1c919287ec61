package engine

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Paused tells whether a process is kept from running by its control group, or by one above, as engines pause containers.
func Paused(pid int) bool { return len(freezersOf(pid)) > 0 }

// Resume has a process that is paused go on, so that it can end: one that is kept from running by the first version of control groups
// does not notice that it is killed.
func Resume(pid int) {
	for _, f := range freezersOf(pid) {
		_ = os.WriteFile(filepath.Join(f.dir, f.file), []byte(f.thaw), 0o600) // one above may keep it, or it has ended
	}
}

func freezersOf(pid int) []freezer {
	if pid == 0 {
		return nil
	}
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return nil
	}
	return freezers(string(groups), groupsAt)
}

// freezer is a control group that keeps processes from running, and what has them go on.
type freezer struct{ dir, file, thaw string }

// freezers are those of a process by its control groups, as /proc has them, and the directory where these are. What keeps it from running is
// a hierarchy of the first version, or the second version, which may be below the others.
func freezers(groups, at string) (all []freezer) {
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) < 3 || parts[2] == "/":
		case slices.Contains(strings.Split(parts[1], ","), "freezer"):
			dir := filepath.Join(at, "freezer", parts[2])
			text, _ := os.ReadFile(filepath.Join(dir, "freezer.state"))
			if state := strings.TrimSpace(string(text)); state == "FROZEN" || state == "FREEZING" {
				all = append(all, freezer{dir, "freezer.state", "THAWED"})
			}
		case parts[0] == "0" && parts[1] == "":
			for _, below := range []string{"", "unified"} {
				dir := filepath.Join(at, below, parts[2])
				text, _ := os.ReadFile(filepath.Join(dir, "cgroup.events"))
				if slices.Contains(strings.Split(string(text), "\n"), "frozen 1") {
					all = append(all, freezer{dir, "cgroup.freeze", "0"})
				}
			}
		}
	}
	return all
}

// Unpause is the command by which a person has a container of an engine go on that is paused.
func Unpause(engine, name string) string {
	switch engine {
	case Containerd:
		return "ctr -n " + space + " tasks resume " + idOf(name)
	case LXC:
		return "lxc-unfreeze -P " + lxc{cmp.Or(os.Getenv(lxcVariable), lxcUsual)}.containers() + " -n " + idOf(name)
	}
	return engine + " unpause " + name
}
