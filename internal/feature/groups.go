package feature

import (
	"context"
	"path"
	"slices"
	"strings"
)

// groupsMount has an engine's containers counted by hugepages where the first version of control groups is in use.
const groupsMount = "mkdir -p /sys/fs/cgroup/hugetlb && mount -t cgroup -o hugetlb hugetlb /sys/fs/cgroup/hugetlb, and start the engine anew"

// askHugepagesLimits looks whether control groups count hugepages, where engines make theirs: in a hierarchy of the first version, or in that
// of the second where that is all there is.
func askHugepagesLimits(_ context.Context, env Env) answer {
	if !slices.ContainsFunc(strings.Split(env.text("proc/cgroups"), "\n"), func(line string) bool { return strings.HasPrefix(line, "hugetlb\t") }) {
		return no("this kernel's control groups count no hugepages", "a kernel built with CONFIG_CGROUP_HUGETLB")
	}
	mounts := parseCgroupMounts(env.text("proc/self/mountinfo"))
	if at, is := mounts["hugetlb"]; is {
		return yes("control groups at " + at.point)
	}
	if at := mounts[""].point; at == "/sys/fs/cgroup" && slices.Contains(strings.Fields(env.text(relative(path.Join(at, "cgroup.controllers")))), "hugetlb") {
		return yes("control groups of the second version")
	}
	return no("no control groups that count them are mounted", groupsMount)
}
