package feature

import (
	"maps"
	"reflect"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

const mounts2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"

const mounts1 = "30 23 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs ro\n" +
	"31 30 0:27 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" +
	"32 30 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
	"33 30 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"

func float(f float64) *float64 { return &f }

func number(n uint64) *uint64 { return &n }

func TestCgroup(t *testing.T) {
	cases := map[string]struct {
		files map[string]string
		want  *trial.Cgroup
	}{
		"v2, the tightest limit lies above": {map[string]string{
			"proc/self/cgroup":                                       "0::/user.slice/a.scope\n",
			"proc/self/mountinfo":                                    mounts2,
			"sys/fs/cgroup/user.slice/a.scope/cpu.max":               "max 100000\n",
			"sys/fs/cgroup/user.slice/cpu.max":                       "150000 100000\n",
			"sys/fs/cgroup/user.slice/a.scope/cpu.weight":            "100\n",
			"sys/fs/cgroup/user.slice/a.scope/memory.max":            "1073741824\n",
			"sys/fs/cgroup/user.slice/memory.max":                    "max\n",
			"sys/fs/cgroup/user.slice/pids.max":                      "99\n",
			"sys/fs/cgroup/user.slice/a.scope/cpuset.cpus.effective": "0-3\n",
		}, &trial.Cgroup{Version: "v2", Path: "/user.slice/a.scope", CPUs: float(1.5), CPUWeight: "100", CPUSet: "0-3",
			MemoryBytes: number(1 << 30), Pids: number(99)}},
		"v1 in a container, with an empty v2": {map[string]string{
			"proc/self/cgroup":                              "3:cpu,cpuacct:/docker/abc\n2:memory:/docker/abc\n1:name=systemd:/docker/abc\n0::/docker/abc\n",
			"proc/self/mountinfo":                           mounts1,
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":    "50000\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us":   "100000\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":    "9223372036854771712\n",
			"sys/fs/cgroup/unified/cgroup.controllers":      "\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.shares":          "1024\n",
			"sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.junk": "1\n",
		}, &trial.Cgroup{Version: "v1", Path: "/docker/abc", CPUs: float(.5), CPUWeight: "1024"}},
		"no limit at all": {map[string]string{
			"proc/self/cgroup": "2:cpu,cpuacct:/\n", "proc/self/mountinfo": mounts1, "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
		}, &trial.Cgroup{Version: "v1", Path: "/"}},
		"both": {map[string]string{
			"proc/self/cgroup": "2:cpu:/\n0::/\n", "proc/self/mountinfo": mounts1, "sys/fs/cgroup/unified/cgroup.controllers": "hugetlb\n",
		}, &trial.Cgroup{Version: "v1 and v2", Path: "/"}},
	}
	for name, c := range cases {
		if got := (Env{Files: tree(t, c.files)}).cgroup(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestParseLimits(t *testing.T) {
	got := parseLimits("Limit                     Soft Limit           Hard Limit           Units     \n" +
		"Max open files            1024                 1048576              files     \n" +
		"Max locked memory         unlimited            unlimited            bytes     \n" +
		"Max nice priority         0                    0                    \n")
	want := map[string]string{"nofile": "1024 / 1048576", "memlock": "unlimited / unlimited", "nice": "0 / 0"}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestContainer(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"Docker":         {".dockerenv": ""},
		"Podman":         {"run/.containerenv": ""},
		"Kubernetes":     {".dockerenv": "", "var/run/secrets/kubernetes.io/serviceaccount/token": "x"},
		"lxc":            {"proc/1/environ": "PATH=/bin\x00container=lxc\x00"},
		"systemd-nspawn": {"run/systemd/container": "systemd-nspawn\n"},
		"":               {"proc/1/environ": "PATH=/bin\x00"},
	} {
		if got := (Env{Files: tree(t, files)}).container(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func FuzzCgroup(f *testing.F) {
	f.Add("0::/a/b\n", mounts2)
	f.Add("3:cpu,cpuacct:/docker/abc\n", mounts1)
	f.Fuzz(func(t *testing.T, groups, mounts string) {
		g, m := parseCgroup(groups), parseCgroupMounts(mounts)
		for controller := range g {
			if dirs := (Env{Files: "/nowhere"}).cgroupDirs(g, m, controller); len(dirs) > len(groups)+2 {
				t.Errorf("%d directories", len(dirs))
			}
		}
	})
}
