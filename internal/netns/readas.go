package netns

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// made are the file systems of which the kernel makes the files when they are read, which may be for root alone to read, and may take something from others
// who read them.
var made = []uint32{
	unix.AAFS_MAGIC, unix.BINFMTFS_MAGIC, unix.BPF_FS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.DEBUGFS_MAGIC, unix.EFIVARFS_MAGIC,
	unix.NSFS_MAGIC, unix.OPENPROM_SUPER_MAGIC, unix.PROC_SUPER_MAGIC, unix.PSTOREFS_MAGIC, unix.RDTGROUP_SUPER_MAGIC, unix.SECURITYFS_MAGIC,
	unix.SELINUX_MAGIC, unix.SMACK_MAGIC, unix.SYSFS_MAGIC, unix.TRACEFS_MAGIC, unix.XENFS_SUPER_MAGIC,
	0x62656570, // configfs
	0x65735543, // fusectl
	0x67596969, // rpc_pipefs
	0x6e667364, // nfsd
	0x19800202, // mqueue
}

// ReadAs reads a regular file as a process in the namespace sees it, by an absolute path, and tells when it was last written. The process may be anybody's:
// whatever lies there, nothing leads out of what the process sees as the root, nothing but a regular file that somebody wrote is opened, since opening
// others can do something, and a file of more than most bytes is refused. It is [fs.ErrNotExist] if the process is no longer in the namespace.
func ReadAs(ref string, pid int, path string, most int64) (text []byte, at time.Time, err error) {
	failed := func(err error) error { return &os.PathError{Op: "read", Path: path, Err: err} }
	root, err := unix.Open(fmt.Sprintf("/proc/%d/root", pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, at, failed(err)
	}
	defer func() { _ = unix.Close(root) }()
	if !Has(ref, pid) { // and its number may be another's, whose root that is
		return nil, at, failed(fs.ErrNotExist)
	}
	named, err := unix.Openat2(root, path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return nil, at, failed(err)
	}
	defer func() { _ = unix.Close(named) }()
	var is unix.Stat_t
	if err := unix.Fstat(named, &is); err != nil {
		return nil, at, failed(err)
	}
	if is.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, at, failed(errors.New("it is no regular file"))
	}
	var lies unix.Statfs_t
	if err := unix.Fstatfs(named, &lies); err != nil {
		return nil, at, failed(err)
	}
	if slices.Contains(made, uint32(lies.Type)) {
		return nil, at, failed(errors.New("it is the kernel's, and no file that a program wrote"))
	}
	file, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", named), os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, at, failed(errors.Unwrap(err))
	}
	defer func() { _ = file.Close() }()
	text, err = io.ReadAll(io.LimitReader(file, most+1))
	switch {
	case err != nil:
		return nil, at, failed(errors.Unwrap(err))
	case int64(len(text)) > most:
		return nil, at, failed(fmt.Errorf("it is longer than %d bytes", most))
	}
	return text, time.Unix(is.Mtim.Unix()), nil
}
