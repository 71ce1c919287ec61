package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// groupOf is controlGroup of a container whose first process has a number.
func groupOf(pid int, id, controller string) (dir string, version int, err error) {
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return "", 0, err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", 0, err
	}
	dir, version = controlGroup(string(groups), string(mounts), id, controller)
	return dir, version, nil
}

// controlGroup is the directory of the control group by which a controller counts what a container uses, and the version of it; "" where it has none
// of its own. It is of the first version where that has the controller, and else of the second.
func controlGroup(groups, mounts, id, controller string) (dir string, version int) {
	within := map[int]string{}
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) < 3 || !names(parts[2], id):
		case slices.Contains(strings.Split(parts[1], ","), controller):
			within[1] = parts[2]
		case parts[0] == "0" && parts[1] == "":
			within[2] = parts[2]
		}
	}
	for version = 1; version <= 2; version++ {
		if at := mountedAt(mounts, version, within[version], controller); at != "" {
			return at, version
		}
	}
	return "", 0
}

// mountedAt is where a control group is, by what mountinfo (proc_pid_mountinfo(5)) tells; "" where it is not to be found.
func mountedAt(mounts string, version int, group, controller string) string {
	if group == "" {
		return ""
	}
	for line := range strings.Lines(mounts) {
		front, back, _ := strings.Cut(strings.TrimSpace(line), " - ")
		at, of := strings.Fields(front), strings.Fields(back)
		if len(at) < 5 || len(of) < 3 {
			continue
		}
		if !(version == 1 && of[0] == "cgroup" && slices.Contains(strings.Split(of[2], ","), controller) || version == 2 && of[0] == "cgroup2") {
			continue
		}
		if below, is := strings.CutPrefix(group, strings.TrimSuffix(at[3], "/")+"/"); is {
			return filepath.Join(at[4], below)
		}
	}
	return ""
}
