package feature

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/trial"
)

// cgroup is the control group of this process; nil where there is none to see.
func (e Env) cgroup() *trial.Cgroup {
	groups := parseCgroup(e.text("proc/self/cgroup"))
	mounts := parseCgroupMounts(e.text("proc/self/mountinfo"))
	if len(groups) == 0 {
		return nil
	}
	c := trial.Cgroup{Version: e.cgroupVersion(groups, mounts), Path: cgroupPath(groups)}
	for _, dir := range e.cgroupDirs(groups, mounts, "cpu") {
		tighten(&c.CPUs, e.cpuLimit(dir))
	}
	for _, dir := range e.cgroupDirs(groups, mounts, "memory") {
		tighten(&c.MemoryBytes, e.limit(dir, "memory.max", "memory.limit_in_bytes"))
	}
	for _, dir := range e.cgroupDirs(groups, mounts, "pids") {
		tighten(&c.Pids, e.limit(dir, "pids.max", "pids.max"))
	}
	c.CPUWeight = e.nearest(groups, mounts, "cpu", "cpu.weight", "cpu.shares")
	c.CPUSet = e.cpuset(groups, mounts)
	return &c
}

// cpuset are the CPUs that a group has.
func (e Env) cpuset(groups map[string]string, mounts map[string]cgroupMount) string {
	return e.nearest(groups, mounts, "cpuset", "cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus")
}

// parseCgroup reads /proc/PID/cgroup (cgroups(7)): the path by controller, and of
// v2 under the empty name.
func parseCgroup(text string) map[string]string {
	groups := map[string]string{}
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, controller := range strings.Split(parts[1], ",") {
			if !strings.HasPrefix(controller, "name=") {
				groups[controller] = parts[2]
			}
		}
	}
	return groups
}

// cgroupMount is where a hierarchy is seen, and which of its groups is seen there.
type cgroupMount struct{ point, root string }

// parseCgroupMounts reads /proc/PID/mountinfo: mounts by controller, of v2 under
// the empty name.
func parseCgroupMounts(text string) map[string]cgroupMount {
	mounts := map[string]cgroupMount{}
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 5 || len(right) < 3 {
			continue
		}
		m := cgroupMount{point: left[4], root: left[3]}
		switch right[0] {
		case "cgroup2":
			mounts[""] = m
		case "cgroup":
			for _, option := range strings.Split(right[2], ",") {
				mounts[option] = m
			}
		}
	}
	return mounts
}

// cgroupVersion tells which of the two carries controllers.
func (e Env) cgroupVersion(groups map[string]string, mounts map[string]cgroupMount) string {
	_, has2 := groups[""]
	has1 := len(groups) > 1 || !has2
	if has2 && has1 {
		has2 = e.text(relative(path.Join(mounts[""].point, "cgroup.controllers"))) != ""
	}
	switch {
	case has1 && has2:
		return "v1 and v2"
	case has1:
		return "v1"
	}
	return "v2"
}

// cgroupPath is the longest of the paths: the others are roots.
func cgroupPath(groups map[string]string) string {
	var all []string
	for _, p := range groups {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return all[0]
}

// cgroupDirs are the directories of a controller's group and of those above it, as
// far as they can be seen.
func (e Env) cgroupDirs(groups map[string]string, mounts map[string]cgroupMount, controller string) (dirs []string) {
	name := controller
	if _, ok := groups[name]; !ok {
		name = ""
	}
	group, ok := groups[name]
	mount, mounted := mounts[name]
	if !ok || !mounted {
		return nil
	}
	inside, below := strings.CutPrefix(group, strings.TrimSuffix(mount.root, "/"))
	if !below {
		inside = "/" // the mount shows another part of the tree
	}
	for at := path.Join("/", inside); ; at = path.Dir(at) {
		dirs = append(dirs, relative(path.Join(mount.point, at)))
		if at == "/" {
			return dirs
		}
	}
}

func relative(p string) string { return strings.TrimPrefix(p, "/") }

// cpuLimit is how many cores' worth of time a group may use; nil is unlimited.
func (e Env) cpuLimit(dir string) *float64 {
	fields := strings.Fields(e.text(path.Join(dir, "cpu.max")))
	if len(fields) == 0 {
		fields = []string{e.text(path.Join(dir, "cpu.cfs_quota_us")), e.text(path.Join(dir, "cpu.cfs_period_us"))}
	}
	if len(fields) != 2 {
		return nil
	}
	quota, err := strconv.ParseFloat(fields[0], 64)
	period, errPeriod := strconv.ParseFloat(fields[1], 64)
	if err != nil || errPeriod != nil || quota <= 0 || period <= 0 {
		return nil
	}
	cores := quota / period
	return &cores
}

// unlimited is from where v1 means that there is no limit.
const unlimited = 1 << 62

// limit is the number in the first of the files; nil is none.
func (e Env) limit(dir string, files ...string) *uint64 {
	for _, name := range files {
		if n, ok := e.Files.Uint(path.Join(dir, name)); ok && n < unlimited {
			return &n
		}
	}
	return nil
}

// tighten keeps the smaller of two limits.
func tighten[T float64 | uint64](limit **T, other *T) {
	if other != nil && (*limit == nil || *other < **limit) {
		*limit = other
	}
}

// nearest is the content of the first of the files in the group itself, or in the
// nearest one above that has it.
func (e Env) nearest(groups map[string]string, mounts map[string]cgroupMount, controller string, files ...string) string {
	for _, dir := range e.cgroupDirs(groups, mounts, controller) {
		for _, name := range files {
			if s, ok := e.Files.Text(path.Join(dir, name)); ok {
				return s
			}
		}
	}
	return ""
}
