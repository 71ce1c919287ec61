package process

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
)

// lifeline is the file of a lock that an owner's supervisors share from before they begin until they have ended: by its socket
// none is found that does not listen yet, or any more. Each has it as its standard input, of which nothing that it starts gets a part.
func lifeline(owner string) string {
	return filepath.Join(rundir.Locks, url.PathEscape(owner)+".supervisors")
}

// noneLives tells that the owner has no supervisor, be it one that begins or ends.
func noneLives(owner string) (bool, error) {
	path := lifeline(owner)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	l, err := rundir.Take(path)
	if errors.As(err, new(*rundir.TakenError)) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look whether a supervisor of %s is there: %w", owner, err)
	}
	l.Release()
	return true, nil
}

// killLiving kills the owner's supervisors that take too long to begin or to end.
func killLiving(owner string) error {
	standing := []int{}
	for _, pid := range holders(lifeline(owner)) {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue // gone meanwhile
		}
		if holds(pid, lifeline(owner)) { // and is no other of that number
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			if !netns.Ended(fd, endsWithin) {
				standing = append(standing, pid)
			}
		}
		_ = unix.Close(fd)
	}
	if none, err := noneLives(owner); none || err != nil {
		return err
	}
	return fmt.Errorf("supervisors of %s (processes %v) do not end; they may hang in the kernel: look at /proc/PID/stack, and at whoever else has %s open, then run `nfchain down` again",
		owner, standing, lifeline(owner))
}

// holders are the processes that have a file as their standard input.
func holders(path string) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && holds(pid, path) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func holds(pid int, path string) bool {
	at, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", pid))
	return err == nil && at == path
}
