package feature

import (
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/trial"
)

// Environment describes the machine of the Set as measurements need it (RFC 8204
// §3.3 and draft-ietf-bmwg-containerized-infra-08 §5.2, as far as a machine can
// tell); version is nfchain's own. Tools that do not answer and files that cannot be
// read leave their fields absent.
func (s Set) Environment(version string) trial.Environment {
	e := s.env
	kernel, arch := e.kernel()
	versions := s.toolVersions()
	return trial.Environment{
		NfchainVersion: version,
		Build:          build(),
		OS:             e.osRelease()["PRETTY_NAME"],
		Kernel:         kernel,
		KernelCmdline:  e.text("proc/cmdline"),
		Architecture:   arch,
		Hardware:       e.hardware(),
		Firmware:       e.firmware(),
		Virtualization: e.virtualization(),
		Container:      e.container(),
		CPUModel:       e.cpuModel(),
		Microcode:      e.Files.CPUInfo().Fields["microcode"],
		CPUs:           e.cpus(),
		Processor:      e.processor(),
		NUMANodes:      e.numaNodes(),
		NUMA:           e.numa(),
		Mitigations:    e.mitigations(),
		MemoryBytes:    e.Files.Meminfo()["MemTotal"],
		Hugepages:      e.hugepages(),
		NICs:           e.nics(),
		Governor:       strings.Join(e.governors(), ", "),
		Privileges:     e.privileges(),
		Cgroup:         e.cgroup(),
		Limits:         e.limits(),
		Tools:          versions,
		ToolsFound:     e.toolsFound(versions),
		Settings:       e.settings(),
	}
}

// toolVersions are the versions of the tools that answer, by their short names.
func (s Set) toolVersions() map[string]string {
	var wanted []*entry
	for _, e := range s.entries {
		if groupOf(e.name) == Tools || e.name == IPTables {
			wanted = append(wanted, e)
		}
	}
	versions := map[string]string{}
	for _, f := range s.list(wanted) {
		if f.Present {
			versions[strings.TrimPrefix(f.Name, "tool.")] = f.Detail
		}
	}
	return versions
}

// toolsFound says how the version of each tool was found: where it lies, and what
// it was asked.
func (e Env) toolsFound(versions map[string]string) map[string]string {
	found := map[string]string{}
	for _, t := range append(tools(), iptables) {
		name := strings.TrimPrefix(t.name, "tool.")
		if _, answered := versions[name]; !answered {
			continue
		}
		if path, err := e.look(t.program); err == nil {
			found[name] = strings.Join(append([]string{path}, t.args...), " ")
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

// build is how this binary was made: the compiler, the platform, and the commit
// where it was built from one.
func build() string {
	words := []string{runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return strings.Join(words, ", ")
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "CGO_ENABLED", s.Key == "-race", s.Key == "GOAMD64":
			words = append(words, s.Key+"="+s.Value)
		case s.Key == "vcs.revision":
			words = append(words, "commit "+s.Value)
		case s.Key == "vcs.modified" && s.Value == "true":
			words = append(words, "with changes")
		}
	}
	return strings.Join(words, ", ")
}

// text is the content of a file, empty where it cannot be read.
func (e Env) text(name string) string {
	s, _ := e.Files.Text(name)
	return s
}

// kernel is the release and build of the kernel, and the machine it is for.
func (e Env) kernel() (release, machine string) {
	machine = runtime.GOARCH
	var uts unix.Utsname
	if unix.Uname(&uts) == nil {
		machine = unix.ByteSliceToString(uts.Machine[:])
	}
	return strings.TrimSpace(e.text("proc/sys/kernel/osrelease") + " " + e.text("proc/sys/kernel/version")), machine
}

// osRelease is os-release(5), quotes removed.
func (e Env) osRelease() map[string]string {
	release := map[string]string{}
	for line := range strings.Lines(e.text("etc/os-release")) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			release[key] = strings.Trim(value, `"'`)
		}
	}
	return release
}

func (e Env) distribution() string { return e.osRelease()["ID"] }
