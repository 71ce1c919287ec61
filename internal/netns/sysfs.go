package netns

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Sysfs is /sys as one namespace has it, with that namespace's interfaces.
type Sysfs struct {
	ref  string
	root int
}

// OpenSysfs mounts the namespace's sysfs where no path leads, so that it is gone when
// it is closed.
func OpenSysfs(ref string) (*Sysfs, error) {
	s := &Sysfs{ref: ref}
	if err := Do(ref, s.mount); err != nil {
		return nil, fmt.Errorf("open sysfs of namespace %q: %w", ref, err)
	}
	return s, nil
}

func (s *Sysfs) mount() error {
	fs, err := unix.Fsopen("sysfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fs) }()
	if err := unix.FsconfigCreate(fs); err != nil {
		return err
	}
	if s.root, err = unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0); err == nil {
		makeWritable(s.root)
	}
	return err
}

// makeWritable what is mounted there, where who mounted it first in this namespace, as engines do for containers, had it be read
// alone. What they see stays read-only, as their mounts are so themselves. Where it cannot be done, whoever writes is told.
func makeWritable(root int) {
	var is unix.Statfs_t
	if err := unix.Fstatfs(root, &is); err != nil || is.Flags&unix.ST_RDONLY == 0 {
		return
	}
	fs, err := unix.Fspick(root, "", unix.FSPICK_CLOEXEC|unix.FSPICK_EMPTY_PATH)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fs) }()
	if unix.FsconfigSetFlag(fs, "rw") == nil {
		_ = unix.FsconfigReconfigure(fs)
	}
}

// Close unmounts it.
func (s *Sysfs) Close() { _ = unix.Close(s.root) }

func (s *Sysfs) open(path string, flags int) (*os.File, error) {
	fd, err := unix.Openat(s.root, path, flags|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: "/sys/" + path, Err: err}
	}
	return os.NewFile(uintptr(fd), "/sys/"+path), nil
}

// Read what a file has, without the end of its line.
func (s *Sysfs) Read(path string) (string, error) {
	f, err := s.open(path, unix.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(f)
	return strings.TrimSpace(string(text)), err
}

// Write a value to a file.
func (s *Sysfs) Write(path, value string) error {
	f, err := s.open(path, unix.O_WRONLY)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = f.WriteString(value)
	return err
}

// Queues are the directories of an interface's queues, "rx" or "tx", as it uses them now.
func (s *Sysfs) Queues(device, kind string) ([]string, error) {
	var found []string
	for i := 0; ; i++ {
		path := "class/net/" + device + "/queues/" + kind + "-" + strconv.Itoa(i)
		f, err := s.open(path, unix.O_PATH|unix.O_DIRECTORY)
		if err != nil && i > 0 {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		_ = f.Close()
		found = append(found, path)
	}
}
