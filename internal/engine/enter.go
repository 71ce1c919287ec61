package engine

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/engine/entry"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
)

const (
	program = entry.Program
	// EnterCommand is the command that waits for the network and then becomes what the container is to run, and IdleCommand one that does
	// nothing until it is asked to end, for functions that are the kernel's work alone.
	EnterCommand, IdleCommand = entry.Enter, entry.Idle
	// BesideCommand is EnterCommand in a network namespace that another container has already.
	BesideCommand = entry.Beside
	// HostedCommand is EnterCommand in the machine's own network namespace: the container's name comes first of what it is given.
	HostedCommand = entry.Hosted
)

// ProgramVariable of the environment names the file of nfchain that containers are started by, where that is not the
// one that runs: one that is linked statically, as images need not have any library.
const ProgramVariable = "NFCHAIN_IN_CONTAINERS"

// Program is the file of nfchain that containers are started by.
func Program() (string, error) {
	if name := os.Getenv(ProgramVariable); name != "" {
		return filepath.Abs(name)
	}
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	name = strings.TrimSuffix(name, " (deleted)") // another version is in its place
	return name, static(name)
}

// static is an error if a program needs what an image may not have.
func static(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("look at nfchain's own program: %w", err)
	}
	const readAndRun = 0o005 // by others than owner and group
	if info.Mode().Perm()&readAndRun != readAndRun {
		return fmt.Errorf("%s cannot be run by every user, of whom a container may be another; chmod 755 it", name)
	}
	file, err := elf.Open(name)
	if err != nil {
		return fmt.Errorf("look at nfchain's own program: %w", err)
	}
	defer func() { _ = file.Close() }()
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP {
			return fmt.Errorf("%s is linked dynamically and does not run in containers; build it with CGO_ENABLED=0, or set %s to one that is not", name, ProgramVariable)
		}
	}
	return nil
}

// entry is what a container begins with.
func (w Wanted) entry() []string {
	if w.Beside != "" {
		return []string{program, BesideCommand, "--"}
	}
	if w.Network == HostNetwork {
		return []string{program, HostedCommand, "--"}
	}
	return []string{program, EnterCommand, "--"}
}

// isEntry tells whether words are what a container of nfchain's begins with.
func isEntry(words []string) bool {
	return slices.Equal(words, Wanted{}.entry()) || slices.Equal(words, Wanted{Beside: "another"}.entry()) || slices.Equal(words, Wanted{Network: HostNetwork}.entry())
}

// gateOf the first process of a container is where it waits; "" until it is nfchain's, as it is its engine's at first.
func gateOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	words := strings.Split(string(text), "\x00")
	switch {
	case err != nil || len(words) < 3 || !isEntry(words[:3]):
		return ""
	case words[1] == BesideCommand:
		return entry.BesideGate
	case words[1] == HostedCommand && len(words) > 3:
		return entry.HostedGate + words[3]
	}
	return entry.Gate
}

// Resting is what a container runs that has no program.
func Resting() []string { return []string{program, IdleCommand} }

// rests tells whether a process has said so.
func rests(pid int) bool {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return err == nil && strings.TrimSpace(string(name)) == entry.Resting
}

// lateAfter is how long a container that runs may take until it waits for its network.
const lateAfter = 30 * time.Second

// LetIn tells the first process of a container, in this network namespace, that its network is there. That it has
// been told before is success.
func LetIn(ctx context.Context, pid int, namespace string) error {
	for deadline := time.Now().Add(lateAfter); Waits(pid); {
		err := error(unix.ECONNREFUSED)
		if at := gateOf(pid); at != "" {
			var c *net.UnixConn
			if err = netns.Do(namespace, func() (err error) {
				c, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: at, Net: "unix"})
				return
			}); err == nil {
				if err = itself(c, at, pid); err == nil {
					err = said(ctx, c)
				}
				if err != nil {
					return err
				}
				err = unix.ECONNREFUSED // where it waits on, it has not been told
			}
		}
		if !errors.Is(err, unix.ECONNREFUSED) || time.Now().After(deadline) {
			return fmt.Errorf("tell the container that its network is there: %w", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
	return nil
}

// itself is an error if another than the container's process listens where that waits, in the machine's own network namespace, in which
// whoever is there may.
func itself(c *net.UnixConn, at string, pid int) error {
	if !strings.HasPrefix(at, entry.HostedGate) {
		return nil
	}
	is, err := rundir.Peer(c)
	if err == nil && int(is.Pid) != pid {
		err = fmt.Errorf("process %d of user %d listens there, and not the container's, which is %d; end it", is.Pid, is.Uid, pid)
	}
	if err != nil {
		_ = c.Close()
		return fmt.Errorf("tell the container that its network is there, at %s: %w", at, err)
	}
	return nil
}

// ErrCannot is that of the first process of a container that has said why it cannot become what the container is to run, and ends.
var ErrCannot = errors.New("could not be started")

// said is what keeps it from running what it is to run.
func said(ctx context.Context, c net.Conn) error {
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(lateAfter))
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	text, err := io.ReadAll(c)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("could not be started: %w", err)
	case len(text) > 0:
		return fmt.Errorf("%w: %s", ErrCannot, text)
	}
	return nil
}

// Waits tells whether the first process of a container has not become what it is to run.
func Waits(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return false
	}
	if len(text) == 0 {
		return !Over(pid) // but is just becoming another
	}
	return begins(strings.Split(string(text), "\x00")) && !rests(pid)
}

// Over tells whether a process has ended, though its parent may not have been told.
func Over(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	behind := text[bytes.LastIndexByte(text, ')')+1:]
	return err != nil || len(behind) < 2 || behind[1] == 'Z' || behind[1] == 'X'
}

// Is tells whether a process of this machine is the first one of a container: an engine may be on another machine, or
// number processes otherwise, however near its socket is.
func Is(pid int, id string) bool { return Within(pid, id) || Waits(pid) && begunAs(pid, id) }

// begunAs tells that a process of crun, which is called as whoever began it was asked to, is not of another container.
func begunAs(pid int, id string) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	words := strings.Split(string(text), "\x00")
	return err == nil && (filepath.Base(words[0]) != crun || slices.Contains(words, id))
}

const crun = "crun"

// Within tells whether a process of this machine is of a container.
func Within(pid int, id string) bool {
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	return err == nil && id != "" && names(string(groups), id)
}

// names tells whether one of the control groups, as /proc has them, is a container's. An engine calls it by the container's ID alone, or
// has systemd call it so with a word before.
func names(groups, id string) bool {
	for e := range strings.FieldsFuncSeq(groups, func(r rune) bool { return r == '/' || r == '\n' }) {
		if e == id || strings.HasSuffix(strings.TrimSuffix(e, ".scope"), "-"+id) {
			return true
		}
	}
	return false
}

// toGroup is PIDFD_SIGNAL_PROCESS_GROUP.
const toGroup = 1 << 2

// end a process of a container with its process group, where it leads one and the kernel knows how (Linux 6.9), and else with what it has begun.
func end(pid int, id string) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return // gone meanwhile
	}
	defer func() { _ = unix.Close(fd) }()
	if !Within(pid, id) { // another has its number
		return
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, toGroup); errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ESRCH) {
		begun := children(pid)
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		for _, child := range begun {
			end(child, id)
		}
	}
}

// begins tells whether a command line is of what a container begins with: first of the engine's, and then of this.
func begins(words []string) bool {
	if runs := filepath.Base(words[0]); len(words) > 2 && (runs == "runc" && words[1] == "init" || runs == crun && slices.Contains(words, "create") || runs == "lxc-start") {
		return true
	}
	return len(words) > 3 && isEntry(words[:3])
}
