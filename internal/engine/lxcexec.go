package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	lxcconfig "nfchain.dev/nfchain/internal/engine/lxc"
)

// InCommand is the hidden command of nfchain that runs another in a directory.
const InCommand = "in"

// In a directory becomes a command.
func In(dir string, args []string) error {
	if err := os.Chdir(dir); err != nil {
		return err
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	return &os.PathError{Op: "exec", Path: path, Err: unix.Exec(path, args, os.Environ())}
}

func (l lxc) Exec(ctx context.Context, id string, args []string, s Streams) (int, error) {
	id = idOf(id)
	code, err := l.exec(ctx, id, args, s)
	if err != nil {
		return 0, fmt.Errorf("run %q in container %s: %w", args, id, err)
	}
	return code, nil
}

func (l lxc) exec(ctx context.Context, id string, args []string, s Streams) (int, error) {
	r, err := l.record(id)
	if err != nil {
		return 0, err
	}
	pid := firstIn(id)
	switch {
	case pid == 0:
		return 0, errors.New("it does not run")
	case Paused(pid): // so would be what comes to its control groups
		return 0, fmt.Errorf("it is paused; `%s` has it go on", Unpause(LXC, id))
	case len(processesIn(lxcconfig.Monitor(id))) == 0:
		return 0, errors.New("its monitor, lxc-start, has ended, without which nothing can be run in it; nfchain down and up makes it anew")
	}
	p := r.Spec.Process
	words := []string{"--lxcpath", l.containers(), "--name", id, "--clear-env", "--uid", strconv.Itoa(int(p.User.UID)), "--gid", strconv.Itoa(int(p.User.GID))}
	for _, variable := range slices.Concat(p.Env, s.Env) {
		words = append(words, "--set-var", variable)
	}
	words = append(words, "--", program, InCommand, p.Cwd, "--")
	name := newCommand()
	if err := s.named(name); err != nil {
		return 0, err
	}
	c := exec.Command("lxc-attach", append(words, args...)...)
	c.Env = append(os.Environ(), commandVariable+"="+name)
	c.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	run := attached
	if s.Terminal() {
		run = attachedByTerminal
	}
	err = run(ctx, id, c, s)
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case errors.As(err, &ended):
		return ended.ExitCode(), nil
	}
	return 0, err
}

// commandVariable of the environment names the command that an lxc-attach runs, which has it not.
const commandVariable = "NFCHAIN_COMMAND"

// EndExec implements Engine.
func (l lxc) EndExec(_ context.Context, id, command string) error {
	names, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return err
	}
	mark := []byte(commandVariable + "=" + command)
	for _, name := range names {
		environment, _ := os.ReadFile(name) // of those that have not ended meanwhile
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err == nil && slices.ContainsFunc(bytes.Split(environment, []byte{0}), func(line []byte) bool { return bytes.Equal(line, mark) }) {
			endAttached(pid, idOf(id))
		}
	}
	return nil
}

// attached runs a command with these streams. Its input is written by another, so that whoever gives it is not waited for when the command
// has ended, nor is for long what it has left running, which may have its output open.
func attached(ctx context.Context, id string, c *exec.Cmd, s Streams) (err error) {
	c.Stdout, c.Stderr, c.WaitDelay = s.Out, s.errors(), endsWithin
	var in io.WriteCloser
	if s.In != nil {
		if in, err = c.StdinPipe(); err != nil {
			return err
		}
	}
	if err := c.Start(); err != nil {
		return err
	}
	s.begun()
	wait := awaited(ctx, id, c)
	if in != nil {
		go func() {
			_, _ = io.Copy(in, s.In)
			_ = in.Close()
		}()
	}
	if err := wait(); !errors.Is(err, exec.ErrWaitDelay) {
		return err
	}
	return nil
}

// awaited is a command that is ended with ctx, and waited for by what is given: it is not signalled any more when that has been told of its
// end, and another can have its number.
func awaited(ctx context.Context, id string, c *exec.Cmd) (wait func() error) {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { defer close(ended); endAttached(c.Process.Pid, id) })
	return func() error {
		untilOver(c.Process.Pid)
		if !stop() {
			<-ended
		}
		return c.Wait()
	}
}

// untilOver waits until a child has ended, which keeps its number until somebody else waits for it.
func untilOver(pid int) {
	for errors.Is(unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
		continue
	}
}

// attachedByTerminal runs a command that has a terminal for its streams.
func attachedByTerminal(ctx context.Context, id string, c *exec.Cmd, s Streams) error {
	of, its, err := terminal()
	if err != nil {
		return err
	}
	defer func() { _ = of.Close() }()
	c.Stdin, c.Stdout, c.Stderr = its, its, its
	c.SysProcAttr.Setctty = true
	err = c.Start()
	_ = its.Close()
	if err != nil {
		return err
	}
	s.begun()
	wait := awaited(ctx, id, c)
	go func() {
		for size := range s.Sizes {
			_ = control(of, func(fd int) error {
				return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: size.Rows, Col: size.Columns})
			})
		}
	}()
	if s.In != nil {
		go func() { _, _ = io.Copy(of, s.In) }()
	}
	_, _ = io.Copy(s.Out, of) // until nobody has the other end
	return wait()
}

// terminal makes one (pty(7)): the end of who uses it, and that of what runs on it.
func terminal() (of, its *os.File, err error) {
	if of, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	var number int
	err = control(of, func(fd int) (err error) {
		if number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN); err != nil {
			return err
		}
		return unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	})
	if err == nil {
		its, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		_ = of.Close()
		return nil, nil, fmt.Errorf("make a terminal: %w", err)
	}
	return of, its, nil
}

// control a file by what it is to the kernel.
func control(file *os.File, do func(fd int) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	wrong := raw.Control(func(fd uintptr) { err = do(int(fd)) })
	return errors.Join(wrong, err)
}

// endAttached ends what a command runs in a container, and the command, with its process group, which it leads.
func endAttached(pid int, id string) {
	for _, child := range children(pid) {
		end(child, lxcconfig.Group(id))
	}
	_ = unix.Kill(-pid, unix.SIGKILL)
}

// children of a process, as the kernel lists them (proc_pid_tid_children(5)).
func children(pid int) (all []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		for _, word := range bytes.Fields(text) {
			if child, err := strconv.Atoi(strings.TrimSpace(string(word))); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}
