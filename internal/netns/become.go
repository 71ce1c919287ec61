package netns

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// Become is how a process turns into a program inside a namespace.
type Become struct {
	Ref string
	// Hosts is a file to be seen as /etc/hosts, or "".
	Hosts string
	// Dir is the working directory; "" is the root.
	Dir string
	// MemoryBytes it may map; 0 is any.
	MemoryBytes uint64
}

// Run replaces this process by the program; it only returns an error.
func (b Become) Run(args []string) error {
	runtime.LockOSThread()
	target, err := os.Open(Path(b.Ref))
	if err != nil {
		return fmt.Errorf("open network namespace %q: %w", b.Ref, err)
	}
	if err := unix.Setns(int(target.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter network namespace %q: %w", b.Ref, err)
	}
	_ = target.Close()
	if err := b.mounts(); err != nil {
		return err
	}
	dir := b.Dir
	if dir == "" {
		dir = "/"
	}
	if err := os.Chdir(dir); err != nil {
		return err
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	environment := os.Environ()
	// Last: what is bound from here on is the program.
	if err := b.limits(); err != nil {
		return err
	}
	return unix.Exec(path, args, environment)
}

// mounts gives the program an /etc/hosts and a /sys of its own, as ip-netns(8)
// does, in a mount namespace that goes with it.
func (b Become) mounts() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("mount namespace: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("mount namespace: %w", err)
	}
	if b.Hosts != "" {
		if err := unix.Mount(b.Hosts, "/etc/hosts", "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("bind %s to /etc/hosts: %w", b.Hosts, err)
		}
	}
	// /sys shows the interfaces of the namespace it was mounted in. Where a new one
	// is refused (in some user namespaces) the program sees the host's.
	_ = unix.Mount("sysfs", "/sys", "sysfs", 0, "")
	return nil
}

func (b Become) limits() error {
	if b.MemoryBytes > 0 {
		limit := unix.Rlimit{Cur: b.MemoryBytes, Max: b.MemoryBytes}
		if err := unix.Setrlimit(unix.RLIMIT_AS, &limit); err != nil {
			return fmt.Errorf("limit memory to %d bytes: %w", b.MemoryBytes, err)
		}
	}
	return nil
}
