package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Start starts the command inside the namespace.
func Start(ref string, cmd *exec.Cmd) error { return Do(ref, cmd.Start) }

// Processes finds every process that lives in one of the named namespaces, by
// comparing namespaces, so that nothing started there can hide: pids by name.
func Processes(refs []string) (map[string][]int, error) {
	if !slices.ContainsFunc(refs, func(ref string) bool { _, err := identify(Path(ref)); return err == nil }) {
		return map[string][]int{}, nil
	}
	all, err := TakeCensus()
	return all.In(refs), err
}

// Census is which processes live in which namespace at one moment, but for this process.
type Census map[inode][]int

// TakeCensus of all processes. Most live where this one does: while that namespace is open, the kernel need not make anew
// for each of them what stands for it as a file, which is half of the time.
func TakeCensus() (Census, error) {
	if own, err := os.Open(Path(Host)); err == nil {
		defer func() { _ = own.Close() }()
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	all := Census{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if id, err := identify(filepath.Join("/proc", e.Name(), "ns/net")); err == nil {
			all[id] = append(all[id], pid)
		}
	}
	return all, nil
}

// In some namespaces: pids by name.
func (c Census) In(refs []string) map[string][]int {
	found := map[string][]int{}
	for _, ref := range refs {
		id, err := identify(Path(ref))
		if err == nil && len(c[id]) > 0 {
			found[ref] = c[id]
		}
	}
	return found
}

// inode tells namespaces apart.
type inode struct{ dev, ino uint64 }

// Identity tells a namespace from every other that there is at the time, also from one that had its
// name before; "" where there is none.
func Identity(ref string) string {
	if !Exists(ref) {
		return ""
	}
	id, err := identify(Path(ref))
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d", id.dev, id.ino)
}

// Inode of a namespace, by which programs in the kernel know it.
func Inode(ref string) (uint64, error) {
	id, err := identify(Path(ref))
	if err == nil {
		return id.ino, nil
	}
	err = &os.PathError{Op: "look at namespace", Path: Path(ref), Err: err}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; `nfchain up` makes it again", err)
	}
	return 0, err
}

func identify(path string) (inode, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return inode{}, err
	}
	return inode{st.Dev, st.Ino}, nil
}

// Listens tells whether anything in the process's namespace listens on the TCP
// port, by the kernel's own table (proc(5), /proc/net/tcp).
func Listens(pid, port int) bool {
	return tableHas(pid, []string{"tcp", "tcp6"}, port, "0A")
}

// BoundUDP tells whether anything in the process's namespace has the UDP port.
func BoundUDP(pid, port int) bool {
	return tableHas(pid, []string{"udp", "udp6"}, port, "07")
}

func tableHas(pid int, tables []string, port int, state string) bool {
	for _, table := range tables {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			continue
		}
		for _, line := range strings.Split(string(text), "\n") {
			f := strings.Fields(line)
			if len(f) < 4 || f[3] != state {
				continue
			}
			_, hex, _ := strings.Cut(f[1], ":")
			if n, err := strconv.ParseUint(hex, 16, 16); err == nil && int(n) == port {
				return true
			}
		}
	}
	return false
}

// Forever is how long [Ended] waits that does not give up.
const Forever = -time.Millisecond

// Ended waits for the end of a process by its pidfd, and tells whether it has come.
func Ended(pidfd int, within time.Duration) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, int(within.Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return n > 0
		}
	}
}
