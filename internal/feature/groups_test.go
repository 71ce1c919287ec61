package feature

import "testing"

// TestHugepagesLimits: where containers' hugepages are counted, by the version of control groups that engines use.
func TestHugepagesLimits(t *testing.T) {
	const (
		known  = "#subsys_name\thierarchy\tnum_cgroups\tenabled\nhugetlb\t0\t1\t1\n"
		one    = "42 32 0:37 / /sys/fs/cgroup/hugetlb rw,relatime - cgroup cgroup rw,hugetlb\n"
		hybrid = "43 32 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
		two    = "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
	)
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"proc/cgroups": known, "proc/self/mountinfo": one}, "control groups at /sys/fs/cgroup/hugetlb"},
		{map[string]string{"proc/cgroups": known, "proc/self/mountinfo": two, "sys/fs/cgroup/cgroup.controllers": "cpu hugetlb\n"}, "control groups of the second version"},
		{map[string]string{"proc/cgroups": known, "proc/self/mountinfo": two, "sys/fs/cgroup/cgroup.controllers": "cpu\n"}, ""},
		{map[string]string{"proc/cgroups": known, "proc/self/mountinfo": hybrid, "sys/fs/cgroup/unified/cgroup.controllers": "hugetlb\n"}, ""},
		{map[string]string{"proc/cgroups": "memory\t1\t1\t1\n", "proc/self/mountinfo": one}, ""},
		{nil, ""},
	} {
		expect(t, c.files, map[string]string{HugepagesLimits: c.want})
	}
}
