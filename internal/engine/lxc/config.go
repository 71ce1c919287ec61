// Package lxc writes the configuration of LXC's containers (lxc.container.conf(5)) from what OCI's runtime specification says of them, so that
// LXC is told what other runners are. It runs nothing.
package lxc

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"
)

// Container is what LXC is told of one beside its specification.
type Container struct {
	// ID is its name, by which its control groups are called.
	ID string
	// Files are those that it has: where they are, and below which ones.
	Files Files
	// Seccomp is the file with its profile (Seccomp); "" is none.
	Seccomp string
	// Ends is a command of the shell that is run when it has ended, and its control groups are still there.
	Ends string
}

// Group is the name of a container's control groups. It is not the ID alone, which is what containerd has for a container of this name.
func Group(id string) string { return "lxc-" + id }

// Monitor is the name of the control groups of who watches over a container.
func Monitor(id string) string { return Group(id) + ".monitor" }

// Pivot is the name of those in which that monitor ends. LXC leaves them, as it leaves lxc.pivot, where it is told of none.
func Pivot(id string) string { return Group(id) + ".pivot" }

// Files of a container.
type Files struct {
	// Root is the directory that they are in, and that it writes to.
	Root string
	// Below are those that it has beside, unless there are others in Root; "" where there are none.
	Below string
}

// String is how LXC takes them.
func (f Files) String() string {
	if f.Below == "" {
		return "dir:" + f.Root
	}
	return "overlay:" + f.Below + ":" + f.Root
}

// Config is the configuration of a container. What it runs is not in it: that is told with the command that starts it.
func Config(c Container, s *specs.Spec) (string, error) {
	var all lines
	all.add("rootfs.path", c.Files.String())
	if s.Root.Readonly {
		all.add("rootfs.options", "ro")
	}
	all.add("uts.name", s.Hostname)
	all.add("net.0.type", "empty")
	all.add("cgroup.dir.container", Group(c.ID))
	all.add("cgroup.dir.monitor", Monitor(c.ID))
	all.add("cgroup.dir.monitor.pivot", Pivot(c.ID))
	// Its program writes where whoever starts it does, and not to a terminal.
	all.add("console.path", "none")
	all.add("tty.max", "0")
	all.add("pty.max", "1024")
	all.add("autodev", "1")
	all.process(s.Process)
	all.mounts(s)
	all.resources(s.Linux.Resources)
	if c.Seccomp != "" {
		all.add("seccomp.profile", c.Seccomp)
	}
	if c.Ends != "" {
		all.add("hook.version", "1")
		all.add("hook.stop", c.Ends)
	}
	return all.text.String(), all.err
}

// lines of a configuration, and the first that cannot be one.
type lines struct {
	text strings.Builder
	err  error
}

// add a line. A value in quotes is as it is between them.
func (l *lines) add(key, value string) {
	if strings.ContainsAny(value, "\n\x00") && l.err == nil {
		l.err = fmt.Errorf("%q has a line break, which LXC's configuration cannot hold (lxc.%s); write it without", value, key)
	}
	fmt.Fprintf(&l.text, "lxc.%s = \"%s\"\n", key, value)
}

// process says as whom, where and with what the container's program runs.
func (l *lines) process(p *specs.Process) {
	l.add("init.uid", strconv.Itoa(int(p.User.UID)))
	l.add("init.gid", strconv.Itoa(int(p.User.GID)))
	var groups []string
	for _, g := range p.User.AdditionalGids {
		groups = append(groups, strconv.Itoa(int(g)))
	}
	if len(groups) > 0 {
		l.add("init.groups", strings.Join(groups, ","))
	}
	l.add("init.cwd", p.Cwd)
	for _, variable := range p.Env {
		l.add("environment", variable)
	}
	keeps := "none"
	if c := p.Capabilities; c != nil && len(c.Bounding) > 0 {
		keeps = ""
		for _, name := range c.Bounding {
			keeps += " " + strings.ToLower(strings.TrimPrefix(name, "CAP_"))
		}
	}
	l.add("cap.keep", strings.TrimSpace(keeps))
	if p.NoNewPrivileges {
		l.add("no_new_privs", "1")
	}
}

// mounts of the container. Those of the kernel's own LXC makes by itself.
func (l *lines) mounts(s *specs.Spec) {
	l.add("mount.auto", "proc:rw sys:ro")
	for _, m := range s.Mounts {
		switch m.Type {
		case "proc", "sysfs", "devpts":
			continue
		}
		if m.Destination == "/dev" && m.Type == "tmpfs" {
			continue
		}
		create := "create=dir"
		if info, err := os.Stat(m.Source); m.Type == "bind" && err == nil && !info.IsDir() {
			create = "create=file"
		}
		l.mount(m.Source, m.Destination, m.Type, append(slices.Clip(m.Options), create)...)
	}
	for _, name := range s.Linux.ReadonlyPaths {
		if _, err := os.Stat(name); err == nil {
			l.mount(strings.TrimPrefix(name, "/"), name, "bind", "bind", "relative", "ro", "optional")
		}
	}
	for _, name := range s.Linux.MaskedPaths {
		switch info, err := os.Stat(name); {
		case err != nil:
		case info.IsDir():
			l.mount("tmpfs", name, "tmpfs", "ro", "optional")
		default:
			l.mount("/dev/null", name, "bind", "bind", "optional")
		}
	}
}

// escaped is how fstab(5) has what would divide its fields.
var escaped = strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`)

func (l *lines) mount(source, target, kind string, options ...string) {
	if kind == "bind" {
		kind = "none"
	}
	within := strings.TrimPrefix(path.Clean(target), "/")
	l.add("mount.entry", fmt.Sprintf("%s %s %s %s 0 0", escaped.Replace(source), escaped.Replace(within), kind, strings.Join(options, ",")))
}

// resources are written for both versions of control groups: LXC takes those of the one that there is.
func (l *lines) resources(r *specs.LinuxResources) {
	if r == nil {
		return
	}
	for _, d := range r.Devices {
		what := "deny"
		if d.Allow {
			what = "allow"
		}
		for _, version := range []string{"cgroup", "cgroup2"} {
			l.add(version+".devices."+what, device(d))
		}
	}
	for _, limit := range Limits(r) {
		l.add("cgroup."+limit.One, limit.AsOne)
		if limit.Two != "" {
			l.add("cgroup2."+limit.Two, limit.AsTwo)
		}
	}
}

// device as control groups have it: a for all of them.
func device(d specs.LinuxDeviceCgroup) string {
	if d.Type == "" || d.Type == "a" {
		return "a"
	}
	return fmt.Sprintf("%s %s:%s %s", d.Type, number(d.Major), number(d.Minor), d.Access)
}

func number(n *int64) string {
	if n == nil || *n < 0 {
		return "*"
	}
	return strconv.FormatInt(*n, 10)
}

// Limit is a file of a control group and what is in it, in the first version of these and in the second, where it may have none.
type Limit struct{ One, AsOne, Two, AsTwo string }

// Limits that resources are.
func Limits(r *specs.LinuxResources) (all []Limit) {
	if c := r.CPU; c != nil {
		if c.Cpus != "" {
			all = append(all, Limit{"cpuset.cpus", c.Cpus, "cpuset.cpus", c.Cpus})
		}
		if c.Mems != "" {
			all = append(all, Limit{"cpuset.mems", c.Mems, "cpuset.mems", c.Mems})
		}
		if c.Quota != nil && c.Period != nil {
			share := "max"
			if *c.Quota > 0 {
				share = strconv.FormatInt(*c.Quota, 10)
			}
			period := strconv.FormatUint(*c.Period, 10)
			all = append(all, Limit{"cpu.cfs_period_us", period, "", ""}, Limit{"cpu.cfs_quota_us", strconv.FormatInt(*c.Quota, 10), "cpu.max", share + " " + period})
		}
	}
	if m := r.Memory; m != nil && m.Limit != nil {
		most := "max"
		if *m.Limit > 0 {
			most = strconv.FormatInt(*m.Limit, 10)
		}
		all = append(all, Limit{"memory.limit_in_bytes", strconv.FormatInt(*m.Limit, 10), "memory.max", most})
	}
	return all
}

// Points are those of a container's files at which something is mounted, and whether each is a directory.
func Points(s *specs.Spec) map[string]fs.FileMode {
	all := map[string]fs.FileMode{"/dev": fs.ModeDir, "/proc": fs.ModeDir, "/sys": fs.ModeDir}
	for _, m := range s.Mounts {
		kind := fs.ModeDir
		if info, err := os.Stat(m.Source); m.Type == "bind" && err == nil && !info.IsDir() {
			kind = 0
		}
		all[path.Clean(m.Destination)] = kind
	}
	return all
}
