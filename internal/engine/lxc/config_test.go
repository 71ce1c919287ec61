package lxc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"
)

// spec of a container, as others are made from it.
func spec() *specs.Spec {
	return &specs.Spec{
		Root: &specs.Root{}, Hostname: "web",
		Process: &specs.Process{
			Cwd: "/www", Env: []string{"A= two  words "}, NoNewPrivileges: true, User: specs.User{UID: 7, GID: 8, AdditionalGids: []uint32{8, 9}},
			Capabilities: &specs.LinuxCapabilities{Bounding: []string{"CAP_NET_RAW", "CAP_KILL"}},
		},
		Linux: &specs.Linux{},
	}
}

func has(t *testing.T, text string, lines ...string) {
	t.Helper()
	all := strings.Split(text, "\n")
	for _, line := range lines {
		if !slices.Contains(all, line) {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
}

func TestConfig(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `a "b"`)
	file := filepath.Join(t.TempDir(), "f")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := spec()
	s.Root.Readonly = true
	s.Mounts = []specs.Mount{
		{Type: "proc", Source: "proc", Destination: "/proc"}, {Type: "tmpfs", Source: "tmpfs", Destination: "/dev"},
		{Type: "tmpfs", Source: "shm", Destination: "/dev/shm", Options: []string{"nosuid"}},
		{Type: "bind", Source: dir, Destination: "/data/", Options: []string{"rbind", "ro"}},
		{Type: "bind", Source: file, Destination: "/etc/f", Options: []string{"rbind"}},
	}
	s.Linux.ReadonlyPaths, s.Linux.MaskedPaths = []string{"/proc/sys", "/proc/nothere"}, []string{"/proc/version", "/proc/fs"}
	text, err := Config(Container{ID: "c", Files: Files{Root: "/r", Below: "/b"}, Seccomp: "/s", Ends: "cat a >b"}, s)
	if err != nil {
		t.Fatal(err)
	}
	has(t, text,
		`lxc.rootfs.path = "overlay:/b:/r"`, `lxc.rootfs.options = "ro"`, `lxc.uts.name = "web"`, `lxc.net.0.type = "empty"`,
		`lxc.cgroup.dir.container = "lxc-c"`, `lxc.cgroup.dir.monitor = "lxc-c.monitor"`, `lxc.cgroup.dir.monitor.pivot = "lxc-c.pivot"`, `lxc.init.uid = "7"`, `lxc.init.gid = "8"`, `lxc.init.groups = "8,9"`,
		`lxc.init.cwd = "/www"`, `lxc.environment = "A= two  words "`, `lxc.cap.keep = "net_raw kill"`, `lxc.no_new_privs = "1"`,
		`lxc.mount.entry = "shm dev/shm tmpfs nosuid,create=dir 0 0"`,
		`lxc.mount.entry = "`+strings.ReplaceAll(dir, " ", `\040`)+` data none rbind,ro,create=dir 0 0"`,
		`lxc.mount.entry = "`+file+` etc/f none rbind,create=file 0 0"`,
		`lxc.mount.entry = "proc/sys proc/sys none bind,relative,ro,optional 0 0"`,
		`lxc.mount.entry = "/dev/null proc/version none bind,optional 0 0"`, `lxc.mount.entry = "tmpfs proc/fs tmpfs ro,optional 0 0"`,
		`lxc.seccomp.profile = "/s"`, `lxc.hook.stop = "cat a >b"`,
	)
	if strings.Contains(text, "nothere") || strings.Contains(text, "tmpfs dev ") {
		t.Error(text)
	}
}

// TestNoCapability is none at all, and not LXC's own choice.
func TestNoCapability(t *testing.T) {
	s := spec()
	s.Process.Capabilities.Bounding = nil
	text, err := Config(Container{ID: "c", Files: Files{Root: "/r"}}, s)
	if err != nil {
		t.Fatal(err)
	}
	has(t, text, `lxc.cap.keep = "none"`, `lxc.rootfs.path = "dir:/r"`)
	if strings.Contains(text, "seccomp") || strings.Contains(text, "rootfs.options") {
		t.Error(text)
	}
}

// TestLineBreak would be another line of the configuration.
func TestLineBreak(t *testing.T) {
	s := spec()
	s.Process.Env = []string{"A=b\nlxc.cap.keep = sys_admin"}
	if _, err := Config(Container{ID: "c"}, s); err == nil || !strings.Contains(err.Error(), "line break") || !strings.Contains(err.Error(), "lxc.environment") {
		t.Error(err)
	}
}

// TestLimits in both versions of control groups.
func TestLimits(t *testing.T) {
	quota, period, most, all := int64(50000), uint64(100000), int64(1<<20), int64(-1)
	one, three := int64(1), int64(3)
	s := spec()
	s.Linux.Resources = &specs.LinuxResources{
		Devices: []specs.LinuxDeviceCgroup{{Access: "rwm"}, {Allow: true, Type: "c", Major: &one, Minor: &three, Access: "rwm"}, {Allow: true, Type: "c", Major: &one, Access: "m"}},
		CPU:     &specs.LinuxCPU{Cpus: "0-1", Mems: "0", Quota: &quota, Period: &period}, Memory: &specs.LinuxMemory{Limit: &most},
	}
	text, err := Config(Container{ID: "c"}, s)
	if err != nil {
		t.Fatal(err)
	}
	has(t, text,
		`lxc.cgroup.devices.deny = "a"`, `lxc.cgroup2.devices.deny = "a"`, `lxc.cgroup2.devices.allow = "c 1:3 rwm"`, `lxc.cgroup.devices.allow = "c 1:* m"`,
		`lxc.cgroup.cpuset.cpus = "0-1"`, `lxc.cgroup2.cpuset.mems = "0"`, `lxc.cgroup.cpu.cfs_quota_us = "50000"`, `lxc.cgroup.cpu.cfs_period_us = "100000"`,
		`lxc.cgroup2.cpu.max = "50000 100000"`, `lxc.cgroup.memory.limit_in_bytes = "1048576"`, `lxc.cgroup2.memory.max = "1048576"`,
	)
	if strings.Index(text, "devices.deny") > strings.Index(text, "devices.allow") {
		t.Error("what is allowed is denied behind it")
	}
	limits := Limits(&specs.LinuxResources{CPU: &specs.LinuxCPU{Quota: &all, Period: &period}, Memory: &specs.LinuxMemory{Limit: &all}})
	if want := []Limit{{"cpu.cfs_period_us", "100000", "", ""}, {"cpu.cfs_quota_us", "-1", "cpu.max", "max 100000"}, {"memory.limit_in_bytes", "-1", "memory.max", "max"}}; !slices.Equal(limits, want) {
		t.Errorf("%v, want %v", limits, want)
	}
}

func TestSeccomp(t *testing.T) {
	two := uint(2)
	for _, c := range []struct {
		of   specs.LinuxSeccomp
		want string
	}{
		{specs.LinuxSeccomp{DefaultAction: specs.ActErrno, Syscalls: []specs.LinuxSyscall{
			{Names: []string{"read", "write"}, Action: specs.ActAllow},
			{Names: []string{"clone"}, Action: specs.ActAllow, Args: []specs.LinuxSeccompArg{{Index: 0, Value: 2114060288, Op: specs.OpMaskedEqual}}},
			{Names: []string{"personality"}, Action: specs.ActAllow, Args: []specs.LinuxSeccompArg{{Index: 0, Value: 8, Op: specs.OpEqualTo}, {Index: 1, Value: 1, Op: specs.OpLessThan}}},
			{Names: []string{"mount"}, Action: specs.ActErrno},
			{Names: []string{"clone3"}, Action: specs.ActErrno, ErrnoRet: &two},
		}}, "2\nallowlist errno 1\n[all]\nread allow\nwrite allow\nclone allow [0,0,SCMP_CMP_MASKED_EQ,2114060288]\npersonality allow [0,8,SCMP_CMP_EQ] [1,1,SCMP_CMP_LT]\nclone3 errno 2\n"},
		{specs.LinuxSeccomp{DefaultAction: specs.ActAllow, Syscalls: []specs.LinuxSyscall{
			{Names: []string{"mkdir"}, Action: specs.ActErrno, ErrnoRet: &two}, {Names: []string{"reboot"}, Action: specs.ActKill}, {Names: []string{"read"}, Action: specs.ActAllow},
		}}, "2\ndenylist\n[all]\nmkdir errno 2\nreboot kill\n"},
	} {
		if got, err := Seccomp(&c.of); err != nil || got != c.want {
			t.Errorf("%v\n%s\nwant\n%s", err, got, c.want)
		}
	}
}

// TestSeccompWithoutWords for what LXC has none.
func TestSeccompWithoutWords(t *testing.T) {
	for want, of := range map[string]specs.LinuxSeccomp{
		"defaultAction is SCMP_ACT_LOG":     {DefaultAction: specs.ActLog},
		"syscalls[0].action is SCMP_ACT_TR": {DefaultAction: specs.ActAllow, Syscalls: []specs.LinuxSyscall{{Names: []string{"read"}, Action: specs.ActTrace}}},
		"syscalls[0].args has \"about\"":    {DefaultAction: specs.ActErrno, Syscalls: []specs.LinuxSyscall{{Names: []string{"read"}, Action: specs.ActAllow, Args: []specs.LinuxSeccompArg{{Op: "about"}}}}},
	} {
		if _, err := Seccomp(&of); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestPoints(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := spec()
	s.Mounts = []specs.Mount{{Type: "bind", Source: file, Destination: "/a/f"}, {Type: "bind", Source: filepath.Dir(file), Destination: "/a/d/"}}
	all := Points(s)
	if d, is := all["/a/d"]; !is || !d.IsDir() {
		t.Errorf("%v", all)
	}
	if f, is := all["/a/f"]; !is || f.IsDir() {
		t.Errorf("%v", all)
	}
}
