// Package netns is the one place that enters network namespaces. It names,
// makes, opens and removes them, and runs code or starts programs inside. It
// knows nothing of chains.
package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"

	"golang.org/x/sys/unix"
)

// The main goroutine keeps the main thread to itself, so that no other goroutine
// enters a namespace on it: /proc/self/ns/net is the main thread's namespace, and
// must stay the host's.
func init() { runtime.LockOSThread() }

// Dir is where named namespaces are mounted, as ip-netns(8) has it.
const Dir = "/run/netns"

// Host is the reference of the namespace nfchain itself runs in.
const Host = ""

// Path is the file that stands for a namespace: a name under [Dir], an absolute
// path, or [Host].
func Path(ref string) string {
	switch {
	case ref == Host:
		return "/proc/self/ns/net"
	case filepath.IsAbs(ref):
		return ref
	}
	return filepath.Join(Dir, ref)
}

// Do runs fn on a thread of its own inside the namespace and waits for it. What
// fn starts (processes, sockets) stays in the namespace; goroutines it starts do
// not. The thread dies when the way back fails, so it can never be reused in the
// wrong namespace.
func Do(ref string, fn func() error) error {
	if ref == Host {
		return fn()
	}
	target, err := open(ref)
	if err != nil {
		return err
	}
	defer func() { _ = target.Close() }()
	return onThread(func() error {
		if err := unix.Setns(int(target.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter network namespace %q: %w", ref, err)
		}
		return fn()
	})
}

// open holds a namespace's file open. One that no namespace is mounted on does not count:
// another process is making the namespace at this moment, or was killed when it did.
func open(ref string) (*os.File, error) {
	file, err := os.Open(Path(ref))
	if err != nil {
		return nil, fmt.Errorf("open network namespace %q: %w", ref, err)
	}
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(file.Fd()), &st); err != nil || st.Type != unix.NSFS_MAGIC {
		_ = file.Close()
		return nil, fmt.Errorf("open network namespace %q: %s stands for none: %w", ref, Path(ref), fs.ErrNotExist)
	}
	return file, nil
}

// offMain runs fn on any thread but the main one. A library enters a namespace for a moment
// to make a socket there, and by its main thread a process is known to live in one: another
// nfchain that removes the namespace at that moment would end this process with it.
func offMain(fn func() error) error {
	done := make(chan error, 1)
	go func() { done <- fn() }()
	return <-done
}

// onThread runs fn locked to a thread whose network namespace is put back after.
func onThread(fn func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		home, err := os.Open("/proc/thread-self/ns/net")
		if err != nil {
			runtime.UnlockOSThread()
			done <- err
			return
		}
		defer func() { _ = home.Close() }()
		result := fn()
		if unix.Setns(int(home.Fd()), unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread()
		}
		done <- result
	}()
	return <-done
}

// Create makes a named namespace and runs setup in it before it gets its name,
// so that one that has a name is complete. A stale file left by a killed process
// is replaced; an existing namespace of that name is an error (fs.ErrExist).
func Create(name string, setup func() error) error {
	if err := os.MkdirAll(Dir, 0o755); err != nil {
		return fmt.Errorf("create %s: %w", Dir, err)
	}
	path := Path(name)
	if Exists(name) {
		return fmt.Errorf("network namespace %q: %w", name, fs.ErrExist)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o444)
	if err != nil {
		return fmt.Errorf("create network namespace %q: %w", name, err)
	}
	_ = file.Close()
	err = onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		if err := setup(); err != nil {
			return err
		}
		return unix.Mount("/proc/thread-self/ns/net", path, "none", unix.MS_BIND, "")
	})
	if err != nil {
		_ = os.Remove(path)
		return fmt.Errorf("create network namespace %q: %w", name, err)
	}
	return nil
}

// ErrHost is returned where the host's own namespace would get a name.
var ErrHost = errors.New("is the host's own network namespace, which is given no name")

// NameOf gives the namespace of a reference a name, in place of the namespace that has it. The namespace lives as long as
// it has the name, whatever becomes of the reference.
func NameOf(name, ref string) error {
	its, err := open(ref)
	if err != nil {
		return err
	}
	defer func() { _ = its.Close() }()
	held := fmt.Sprintf("/proc/self/fd/%d", its.Fd())
	if is, err := identify(held); err != nil {
		return fmt.Errorf("look at network namespace %q: %w", ref, err)
	} else if own, err := identify(Path(Host)); err != nil || is == own {
		return fmt.Errorf("%s %w", ref, ErrHost)
	}
	if err := os.MkdirAll(Dir, 0o755); err != nil {
		return fmt.Errorf("create %s: %w", Dir, err)
	}
	if err := Remove(name); err != nil {
		return err
	}
	path := Path(name)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o444)
	if err == nil {
		_ = file.Close()
		err = unix.Mount(held, path, "none", unix.MS_BIND, "")
	}
	if err != nil {
		_ = os.Remove(path)
		return fmt.Errorf("give network namespace %q the name %q: %w", ref, name, err)
	}
	return nil
}

// Has tells whether a process lives in the namespace of that name.
func Has(name string, pid int) bool {
	there, err := identify(Path(name))
	if err != nil {
		return false
	}
	its, err := identify(fmt.Sprintf("/proc/%d/ns/net", pid))
	return err == nil && its == there
}

// Remove takes the name away; the kernel frees the namespace and every virtual
// interface in it once no process is left inside. Already gone is success.
func Remove(name string) error {
	err := unlink(Path(name))
	if errors.Is(err, unix.EBUSY) {
		err = unlinkCovered(Path(name))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove network namespace %q: %w", name, err)
	}
	return nil
}

func unlink(path string) error {
	for { // one may be mounted over another
		bare := unix.Unmount(path, unix.MNT_DETACH) != nil
		if err := os.Remove(path); bare || !errors.Is(err, unix.EBUSY) {
			return err
		}
	}
}

// unlinkCovered removes a file on which something is mounted beneath another mount:
// ip-netns(8) mounts the directory over itself when it first makes a namespace,
// with all that is in it. Where a file is no mount point it can be removed, and the
// kernel then unmounts what is on it everywhere. So the mounts above are taken off
// in a mount namespace made for that, which goes with its thread.
func unlinkCovered(path string) error {
	return Unseen(func() error {
		for {
			err := unlink(path)
			if !errors.Is(err, unix.EBUSY) || unix.Unmount(Dir, unix.MNT_DETACH) != nil {
				return err
			}
		}
	})
}

// Unseen does something with mounts of its own: what is mounted and unmounted meanwhile is so for this thread alone,
// and goes with it, however that ends.
func Unseen(do func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good
		done <- func() error {
			if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
				return fmt.Errorf("mount namespace: %w", err)
			}
			if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
				return fmt.Errorf("mount namespace: %w", err)
			}
			return do()
		}()
	}()
	return <-done
}

// Among does something with the mounts that a process has, if it is still the one that is meant.
func Among(pid int, is func() bool, do func() error) error {
	mounts, err := os.Open(fmt.Sprintf("/proc/%d/ns/mnt", pid))
	if err != nil {
		return fmt.Errorf("mount namespace: %w", err)
	}
	defer func() { _ = mounts.Close() }()
	if !is() {
		return fmt.Errorf("mount namespace of process %d: %w", pid, fs.ErrNotExist)
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good
		done <- func() error {
			if err := unix.Unshare(unix.CLONE_FS); err != nil {
				return fmt.Errorf("mount namespace: %w", err)
			}
			if err := unix.Setns(int(mounts.Fd()), unix.CLONE_NEWNS); err != nil {
				return fmt.Errorf("mount namespace: %w", err)
			}
			return do()
		}()
	}()
	return <-done
}

// Exists tells whether a namespace of that name is there; the stale file of a
// half-made one does not count.
func Exists(name string) bool {
	var st unix.Statfs_t
	return unix.Statfs(Path(name), &st) == nil && st.Type == unix.NSFS_MAGIC
}

// List gives the names under [Dir] in order, stale files included, so that what
// a killed process left half-made is found and removed too.
func List() ([]string, error) {
	dir, err := os.Open(Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1) // there may be thousands, of which no more is asked
	if err != nil {
		return nil, fmt.Errorf("list the network namespaces: %w", err)
	}
	sort.Strings(names)
	return names, nil
}

// Tidy removes [Dir] itself if nothing is left in it and it is no mount of its own.
func Tidy() { _ = os.Remove(Dir) }
