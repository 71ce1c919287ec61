package feature

import (
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/trial"
)

// Environment describes the machine of the Set as measurements need it (RFC 8204
// §3.3 as far as a machine can tell it); version is nfchain's own. Tools that do not
// answer and files that cannot be read leave their fields absent.
func (s Set) Environment(version string) trial.Environment {
	e := s.env
	kernel, arch := e.kernel()
	return trial.Environment{
		NfchainVersion: version,
		OS:             e.osRelease()["PRETTY_NAME"],
		Kernel:         kernel,
		KernelCmdline:  e.text("proc/cmdline"),
		Architecture:   arch,
		Hardware:       e.hardware(),
		Virtualization: e.virtualization(),
		CPUModel:       e.cpuModel(),
		Microcode:      e.Files.CPUInfo().Fields["microcode"],
		CPUs:           e.cpus(),
		NUMANodes:      e.numaNodes(),
		MemoryBytes:    e.Files.Meminfo()["MemTotal"],
		Governor:       strings.Join(e.governors(), ", "),
		Privileges:     e.privileges(),
		Tools:          s.toolVersions(),
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
