package netns

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Become is how a process turns into a program inside a namespace.
type Become struct {
	Ref string
	// Hosts is a file to be seen as /etc/hosts, or "".
	Hosts string
	// Mark is the source of the mounts that are the program's own, by which it is known; "" is nobody's.
	Mark string
	// Own is what the program has for itself.
	Own Own
	// Beside is a process whose view of the file system this one gets a copy of; 0 is a new one.
	Beside int
	// Dir is the working directory; "" is the root.
	Dir string
	// MemoryBytes it may map; 0 is any.
	MemoryBytes uint64
}

// Own is what a program sees that nobody else does, and that goes with it.
type Own struct {
	// Scratch are directories of the host's in whose place it has empty ones, in memory.
	Scratch []string `json:"scratch,omitempty"`
	// Files are in them, by their paths, for whatever user the program becomes.
	Files map[string]string `json:"files,omitempty"`
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
	if b.Beside != 0 {
		return b.see()
	}
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
	source := cmp.Or(b.Mark, "nfchain")
	_ = unix.Mount(source, "/sys", "sysfs", 0, "")
	return b.Own.make(source, b.MemoryBytes)
}

// see the file system as the process does that it runs beside, and have the mark there that it does not share with that.
func (b Become) see() error {
	if err := see(b.Beside); err != nil || b.Mark == "" {
		return err
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("mount namespace: %w", err)
	}
	if err := unix.Mount(b.Mark, "/sys", "sysfs", 0, ""); errors.Is(err, unix.EBUSY) { // where the program has its own, which is the same
		_ = unix.Unmount("/sys", unix.MNT_DETACH)
		_ = unix.Mount(b.Mark, "/sys", "sysfs", 0, "")
	}
	return nil
}

// holds tells whether a directory lies in one of those that are made, and not on the host.
func (o Own) holds(dir string) bool {
	return slices.ContainsFunc(o.Scratch, func(of string) bool { return strings.HasPrefix(dir, of+"/") })
}

// see the file system as another process does.
func see(pid int) error {
	f, err := os.Open(fmt.Sprintf("/proc/%d/ns/mnt", pid))
	if err != nil {
		return fmt.Errorf("mount namespace of process %d: %w", pid, err)
	}
	defer func() { _ = f.Close() }()
	if err := unix.Unshare(unix.CLONE_FS); err != nil { // other threads have it too
		return fmt.Errorf("mount namespace: %w", err)
	}
	if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("enter the mount namespace of process %d: %w", pid, err)
	}
	return nil
}

// make the directories and files, in this process's own mount namespace, of a source. Each directory has room for as much
// as the program may have of memory; with 0 for what the kernel gives it, half of the machine's.
func (o Own) make(source string, memory uint64) error {
	options := "mode=1777"
	if memory > 0 {
		options += fmt.Sprintf(",size=%d", memory)
	}
	for _, dir := range slices.Sorted(slices.Values(o.Scratch)) { // one within another behind it
		if o.holds(dir) {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("scratch: %w", err)
			}
		}
		if err := unix.Mount(source, dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
			return fmt.Errorf("scratch: directory %s, which has to be on this machine: %w", dir, err)
		}
	}
	for path, text := range o.Files {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("files: %w", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return fmt.Errorf("files: %w", err)
		}
	}
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
