package feature

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"nfchain.dev/nfchain/internal/feature/procfs"
)

// TestMemoryNodes reads a machine of two sockets and a node without CPUs.
func TestMemoryNodes(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"sys/devices/system/node/online":        "0-2\n",
		"sys/devices/system/node/node0/cpulist": "0-1,4\n",
		"sys/devices/system/node/node1/cpulist": "2-3\n",
		"sys/devices/system/node/node2/cpulist": "\n",
		"proc/meminfo":                          "MemTotal: 100 kB\nHugePages_Total:  5\nHugePages_Free:  3\nHugepagesize:    2048 kB\n",
		"proc/self/status":                      "Name:\tx\nCpus_allowed_list:\t1-3\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := Probe(t.Context(), Env{Files: procfs.Root(root)})
	if got := fmt.Sprint(s.MemoryNodes()); got != "map[0:[0 1 4] 1:[2 3]]" {
		t.Error(got)
	}
	if size, reserved, told := s.ReservedHugepages(); size != 2<<20 || reserved != 5 || !told {
		t.Error(size, reserved, told)
	}
	if got := fmt.Sprint(s.AllowedCPUs()); got != "[1 2 3]" {
		t.Error(got)
	}
}

// TestNameableCPUs: a file may name those that are on and of the cpuset, whatever this process runs on (isolcpus=, taskset(1)).
func TestNameableCPUs(t *testing.T) {
	for _, c := range []struct {
		groups, mount string
		files         map[string]string
		want          string
	}{
		{want: "[0 1 2 3]"},
		{groups: "0::/\n", mount: "- cgroup2 x rw", files: map[string]string{"cpuset.cpus.effective": "0-3"}, want: "[0 1 2 3]"},
		{groups: "0::/a/b\n", mount: "- cgroup2 x rw", files: map[string]string{"cpuset.cpus.effective": "0-3", "a/cpuset.cpus.effective": "2-7"}, want: "[2 3]"},
		{groups: "3:cpuset:/a\n", mount: "- cgroup x rw,cpuset", files: map[string]string{"a/cpuset.effective_cpus": "1,3", "a/cpuset.cpus": "0-7"}, want: "[1 3]"},
		{groups: "3:cpuset:/a\n", mount: "- cgroup x rw,cpuset", files: map[string]string{"a/cpuset.cpus": "\n"}, want: "[0 1 2 3]"},
	} {
		root := t.TempDir()
		put := func(name, text string) {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		put("sys/devices/system/cpu/online", "0-3\n")
		put("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-1\n")
		put("proc/self/cgroup", c.groups)
		put("proc/self/mountinfo", "30 20 0:1 / /groups rw "+c.mount+"\n")
		for name, text := range c.files {
			put("groups/"+name, text)
		}
		s := Probe(t.Context(), Env{Files: procfs.Root(root)})
		if got := fmt.Sprint(s.NameableCPUs()); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	if got := Probe(t.Context(), Env{Files: procfs.Root(t.TempDir())}).NameableCPUs(); got != nil {
		t.Errorf("a machine that does not tell: %v", got)
	}
}
