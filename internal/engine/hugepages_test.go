package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHugepageGroup: a container's group is found in the hierarchy that counts hugepages, of either version, and no group of others is taken
// for it.
func TestHugepageGroup(t *testing.T) {
	const (
		one   = "41 32 0:36 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n42 32 0:37 / /sys/fs/cgroup/hugetlb rw,relatime shared:10 - cgroup cgroup rw,hugetlb\n"
		two   = "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
		both  = one + "43 32 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
		inner = "42 32 0:37 /outer /sys/fs/cgroup/hugetlb rw,relatime - cgroup cgroup rw,hugetlb\n"
	)
	for _, c := range []struct {
		groups, mounts, dir string
		version             int
	}{
		{"9:memory:/docker/abc\n8:hugetlb:/docker/abc\n0::/docker/abc\n", both, "/sys/fs/cgroup/hugetlb/docker/abc", 1},
		{"8:hugetlb:/lxc-abc\n", one, "/sys/fs/cgroup/hugetlb/lxc-abc", 1},
		{"0::/system.slice/docker-abc.scope\n", two, "/sys/fs/cgroup/system.slice/docker-abc.scope", 2},
		{"8:hugetlb:/\n0::/docker/abc\n", both, "/sys/fs/cgroup/unified/docker/abc", 2},
		{"8:hugetlb:/outer/abc\n", inner, "/sys/fs/cgroup/hugetlb/abc", 1},
		{"8:hugetlb:/elsewhere/abc\n", inner, "", 0},
		{"8:hugetlb:/docker/other\n0::/docker/other\n", both, "", 0},
		{"9:memory:/docker/abc\n8:hugetlb:/\n0::/\n", both, "", 0},
		{"8:hugetlb:/docker/abc\n", two, "", 0},
		{"", "", "", 0},
	} {
		dir, version := controlGroup(c.groups, c.mounts, "abc", "hugetlb")
		if dir != c.dir || version != c.version {
			t.Errorf("%q: %q of version %d, want %q of %d", c.groups, dir, version, c.dir, c.version)
		}
	}
	if dir, version := controlGroup("9:memory:/docker/abc\n8:hugetlb:/\n0::/\n", both, "abc", "memory"); dir != "/sys/fs/cgroup/memory/docker/abc" || version != 1 {
		t.Errorf("that of memory is %q of version %d", dir, version)
	}
}

// TestHugepageBounds: what a group says of each size, in the words of its version.
func TestHugepageBounds(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"hugetlb.2MB.limit_in_bytes": "4194304\n", "hugetlb.2MB.rsvd.limit_in_bytes": "4194304\n", "hugetlb.2MB.usage_in_bytes": "0\n",
		"hugetlb.1GB.limit_in_bytes": "9223372035781033984\n", "hugetlb.64KB.limit_in_bytes": "0\n",
		"hugetlb.2MB.max": "max\n", "hugetlb.2MB.rsvd.max": "max\n", "hugetlb.1GB.max": "1073741824\n", "hugetlb.odd.max": "1\n",
	} {
		put(t, filepath.Join(dir, name), text)
	}
	type said struct {
		page, most uint64
		bound      bool
	}
	for version, want := range map[int][]said{
		1: {{64 << 10, 0, true}, {2 << 20, 4 << 20, true}, {1 << 30, 9223372035781033984, false}},
		2: {{2 << 20, 0, false}, {1 << 30, 1 << 30, true}},
	} {
		bounds := boundsIn(dir, version)
		if len(bounds) != len(want) {
			t.Fatalf("version %d: %+v", version, bounds)
		}
		for i, b := range bounds {
			if most, bound := b.most(); b.page != want[i].page || most != want[i].most || bound != want[i].bound {
				t.Errorf("version %d: %d bytes: %d, %t, want %+v", version, b.page, most, bound, want[i])
			}
			if _, err := os.Stat(b.reserved); b.page == 2<<20 && err != nil {
				t.Error(err)
			}
		}
	}
}

// TestNoHugepages: a process that is in no group of its own cannot be bound, and is told to have no bound.
func TestNoHugepages(t *testing.T) {
	c := Container{ID: strings.Repeat("f", 64), Name: "nf", PID: os.Getpid(), pages: "2097152"}
	err := c.BoundHugepages(Limits{HugepageBytes: 4 << 20, PageBytes: 2 << 20})
	if err == nil || !strings.Contains(err.Error(), "its engine has put it into no control group of hugepages of its own") {
		t.Errorf("error %v", err)
	}
	if c.furnished(); c.Limits.HugepageBytes != 0 {
		t.Errorf("%+v", c.Limits)
	}
}

// TestHugepagesInWords: they are told with their size, and are no limit that an engine keeps.
func TestHugepagesInWords(t *testing.T) {
	l := Limits{CPUs: "0", HugepageBytes: 64 << 20, PageBytes: 2 << 20}
	if got := l.String(); got != "CPUs 0, hugepages 64MiB of 2MiB" {
		t.Error(got)
	}
	if got := l.Kept(); got != "CPUs 0" {
		t.Error(got)
	}
}
