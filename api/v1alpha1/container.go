package v1alpha1

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/distribution/reference"

	"nfchain.dev/nfchain/api/v1alpha1/internal/nearest"
)

// The runtimes whose functions are containers.
const (
	// RuntimeDocker is a container of the Docker engine of this machine.
	RuntimeDocker = "docker"
	// RuntimeContainerd is one of its containerd.
	RuntimeContainerd = "containerd"
	// RuntimePodman is one of its Podman.
	RuntimePodman = "podman"
	// RuntimeLXC is one of LXC's programs.
	RuntimeLXC = "lxc"
)

// When the image of a container is fetched: where the engine does not have it, whenever the chain is brought up, or never.
const (
	PullMissing = "missing"
	PullAlways  = "always"
	PullNever   = "never"
)

// engines are the runtimes whose functions are containers.
var engines = []string{RuntimeDocker, RuntimeContainerd, RuntimePodman, RuntimeLXC}

// IsEngine tells whether functions of a runtime are containers.
func IsEngine(runtime string) bool { return slices.Contains(engines, runtime) }

// InContainer tells whether a function is a container, its runtime being its own or else the chain's.
func (b FunctionBody) InContainer(runtime string) bool {
	return IsEngine(runtime) || runtime == RuntimeAuto && b.Container != nil
}

// Containers are how many of a chain's nodes are containers that are made for it.
func (s ChainSpec) Containers() (n int) {
	for _, e := range s.Endpoints {
		if IsEngine(e.Runtime) {
			n++
		}
	}
	for _, f := range s.Functions {
		if f.Ref == "" && f.InContainer(s.runtimeOf(f)) {
			n += max(1, f.Replicas)
		}
	}
	return n
}

// Container says what a function's container is, where its runtime is a container engine.
type Container struct {
	// Image by name, tag or digest, or by its path, which begins with ./, ../ or / and is from where the file is:
	// of a tarball, as docker save writes it, with an OCI layout in it or of a plain root filesystem, of a directory that is such a
	// root filesystem, or of one with a Dockerfile.
	// Default: one with nothing in it, for a function that is the kernel's work.
	Image string `json:"image,omitempty"`
	// Pull says when the image is fetched: missing (default) from the engine, always when the
	// chain is brought up, or never.
	Pull string `json:"pull,omitempty" jsonschema:"enum=missing,enum=always,enum=never"`
	// Mounts are files and directories of the host's that it sees.
	Mounts []Mount `json:"mounts,omitempty"`
	// Capabilities that it has, and no others, as capabilities(7) lists them without CAP_; ALL is
	// every one. Default: what servers need, of kind command (CHOWN, DAC_OVERRIDE, FOWNER, KILL,
	// NET_BIND_SERVICE, SETGID, SETUID); none for a function that is the kernel's work.
	Capabilities *[]string `json:"capabilities,omitempty"`
	// ReadOnly has it write to no file but those of its mounts.
	ReadOnly bool `json:"read_only,omitempty"`
	// Seccomp is which system calls it may make: those that the engine allows by itself (default), unconfined, which is
	// all, or those of a profile in JSON, by its path, which begins with ./, ../ or / and is from where the file is.
	Seccomp string `json:"seccomp,omitempty"`
	// User that it runs as, by name or number. Default: the image's.
	User string `json:"user,omitempty"`
}

// Local tells whether the image is given by its path.
func (c *Container) Local() bool { return c != nil && ofPath.MatchString(c.Image) }

// OwnPlace is where nfchain's own program is in a container, which begins what runs there.
const OwnPlace = "/.nfchain"

// ofPath is how a path begins, and no name of an image does.
var ofPath = regexp.MustCompile(`^(/|\.\.?(/|$))`)

// Mount of a file or directory into a container.
type Mount struct {
	// Source on the host and Target in the container, both absolute.
	Source string `json:"source" jsonschema:"required"`
	Target string `json:"target" jsonschema:"required"`
	// ReadOnly has the container not write to it.
	ReadOnly bool `json:"read_only,omitempty"`
}

// Programmed are options of a kind whose function is a program of the user's, which an image may name too.
type Programmed interface {
	// NamesProgram tells whether these options do, and Program is the field that would.
	NamesProgram() bool
	Program() (field, message string)
}

// Housed are options of a kind some of which are for a program in a namespace alone.
type Housed interface {
	// InNamespace gives those fields that are, and are set, each with what to do instead in a container.
	InNamespace() []FieldProblem
}

// Writing are options of a kind whose program writes into a directory wherever it runs.
type Writing interface {
	// Writes gives the directory, and what for.
	Writes() (dir, what string)
}

// capabilities that there are (capabilities(7)), and all of them.
var capabilities = strings.Fields(`ALL AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND BPF CHECKPOINT_RESTORE CHOWN DAC_OVERRIDE
	DAC_READ_SEARCH FOWNER FSETID IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE MAC_ADMIN MAC_OVERRIDE MKNOD NET_ADMIN NET_BIND_SERVICE
	NET_BROADCAST NET_RAW PERFMON SETFCAP SETGID SETPCAP SETUID SYSLOG SYS_ADMIN SYS_BOOT SYS_CHROOT SYS_MODULE SYS_NICE SYS_PACCT
	SYS_PTRACE SYS_RAWIO SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG WAKE_ALARM`)

// checkContainers wants what is said of containers to be said where there are any, and those to have what they
// run from.
func checkContainers(s *ChainSpec) []FieldProblem {
	var f findings
	for i, fn := range s.Functions {
		path, runtime := item("functions", i), s.runtimeOf(fn)
		switch {
		case fn.Ref != "":
			continue
		case !fn.InContainer(runtime):
			if fn.Container != nil {
				f.addf(path+".container", "is for a function with runtime: %s or %s; this one has %s", strings.Join(engines, ", "), RuntimeAuto, quote(runtime))
			}
			if r := fn.Resources; r != nil && r.CPUTime > 0 {
				f.addf(path+".resources.cpu_time", "is for a container, and the runtime is %s; leave it out, or give the function CPUs by cpus", quote(runtime))
			}
			f.under(path, fn.checkProgram())
			continue
		case fn.Group != "":
			f.addf(path+".group", "functions of a group share a namespace, and one with runtime: %s has that of its container; leave one of them out", runtime)
		case fn.Encapsulation != "":
			f.addf(path+".encapsulation", "a function with runtime: %s gets packets without a header; leave one of them out", runtime)
		}
		if fn.Container == nil || fn.Container.Image == "" {
			f.under(path, fn.checkProgram())
			if o, is := fn.Options.(Programmed); is && o.NamesProgram() {
				f.addf(path+".container", "has no image, in which the program would be found; write container: {image: NAME}")
			}
		}
		if fn.Container != nil {
			f.under(path+".container", fn.Container.check())
			if o, is := fn.Options.(Writing); is && fn.Container.ReadOnly {
				f.under(path+".container", fn.Container.checkWrites(o))
			}
		}
		if o, is := fn.Options.(Housed); is {
			f.under(joinPath(path, fn.Kind), o.InNamespace())
		}
	}
	return f
}

// checkWrites wants a read-only container to have a directory that its program writes into.
func (c *Container) checkWrites(o Writing) []FieldProblem {
	dir, what := o.Writes()
	for _, m := range c.Mounts {
		if target := filepath.Clean(m.Target); !m.ReadOnly && (dir == target || strings.HasPrefix(dir, target+"/")) {
			return nil
		}
	}
	var f findings
	f.addf("read_only", "keeps the program from %s, in which it %s; leave read_only out, or mount a directory there", dir, what)
	return f
}

// checkProgram wants options of a kind that is a program to name it.
func (b FunctionBody) checkProgram() []FieldProblem {
	o, is := b.Options.(Programmed)
	if !is || o.NamesProgram() {
		return nil
	}
	field, message := o.Program()
	return []FieldProblem{{joinPath(b.Kind, field), message}}
}

func (c *Container) check() []FieldProblem {
	var f findings
	switch {
	case c.Local() && c.Pull != "":
		f.addf("pull", "is for an image by its name; one by its path is loaded or built when its content has changed, so leave pull out")
	case c.Local(), c.Image == "":
	default:
		if _, err := reference.ParseNormalizedNamed(c.Image); err != nil {
			f.addf("image", "%s is not the name of an image: %v", quote(c.Image), err)
		}
	}
	f.under("", c.checkSeccomp())
	if c.User != "" && c.Image == "" {
		f.addf("user", "is for the program of an image, and there is none here: what waits in a container without one is nfchain's; leave user out, or name an image")
	}
	targets := map[string]string{}
	for i, m := range c.Mounts {
		path := item("mounts", i)
		if !filepath.IsAbs(m.Source) {
			f.addf(path+".source", "%s is not an absolute path", quote(m.Source))
		}
		switch target := filepath.Clean(m.Target); {
		case !filepath.IsAbs(m.Target) || target == "/":
			f.addf(path+".target", "%s is not an absolute path below /", quote(m.Target))
		case target == OwnPlace || strings.HasPrefix(target, OwnPlace+"/"):
			f.addf(path+".target", "%s is where nfchain's own program is in a container; choose another path", quote(m.Target))
		case targets[target] != "":
			f.addf(path+".target", "%s is the target of %s already", quote(m.Target), targets[target])
		default:
			targets[target] = path
		}
	}
	if c.Capabilities != nil {
		for i, name := range *c.Capabilities {
			if !slices.Contains(capabilities, name) {
				f.addf(item("capabilities", i), "%s is not a capability as it is written here%s", quote(name), nearest.Hint(strings.TrimPrefix(strings.ToUpper(name), "CAP_"), capabilities))
			}
		}
	}
	return f
}
