package feature

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// What can go wrong with a tool besides its own complaints.
var (
	errHangs  = errors.New("hangs")
	errChatty = errors.New("prints without end")
)

// maxOutput is far above what any tool says of itself.
const maxOutput = 64 << 10

// command is one run of a tool.
type command struct {
	program string
	args    []string
	env     []string // added to the environment
	file    *os.File // what the tool finds as inheritedFile, if any
}

// inheritedFile is the name by which a tool opens the file that it is handed.
const inheritedFile = "/proc/self/fd/3"

// output runs a command in the calling thread's namespaces and gives what it
// printed on both streams. A failure's error holds what it printed too.
func (e Env) output(ctx context.Context, c command) (string, error) {
	path, err := e.look(c.program)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, e.timeout())
	defer cancel()
	// The child dies with this thread (Pdeathsig), so the thread must stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	var out limited
	cmd := e.prepare(ctx, path, c, &out)
	err = cmd.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return out.String(), fmt.Errorf("%s %w: no answer within %v", path, errHangs, e.timeout())
	case errors.Is(err, exec.ErrWaitDelay):
		_ = cmd.Cancel() // the group, which something is still in
		return out.String(), fmt.Errorf("%s leaves a process behind that %w", path, errHangs)
	case out.full:
		return out.String(), fmt.Errorf("%s %w", path, errChatty)
	case err != nil:
		return out.String(), fmt.Errorf("%s: %w: %s", path, err, excerpt(out.String()))
	}
	return out.String(), nil
}

// prepare makes a process group of its own, so that a hanging script's children
// are ended with it.
func (e Env) prepare(ctx context.Context, path string, c command, out *limited) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, c.args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "PATH="+e.Path)
	cmd.Env = append(cmd.Env, c.env...)
	if c.file != nil {
		cmd.ExtraFiles = []*os.File{c.file} // the first is descriptor 3
	}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second // more than a busy machine takes to read what is there
	return cmd
}

// limited keeps the first maxOutput bytes and refuses the rest.
type limited struct {
	buffer bytes.Buffer
	full   bool
}

func (l *limited) Write(p []byte) (int, error) {
	room := maxOutput - l.buffer.Len()
	if len(p) <= room {
		return l.buffer.Write(p)
	}
	l.full = true
	n, _ := l.buffer.Write(p[:room])
	return n, errChatty
}

func (l *limited) String() string { return l.buffer.String() }

// excerpt is the start of what a tool printed, on one line and safe to show.
func excerpt(s string) string {
	const most = 200
	s = oneLine(s)
	if len(s) > most {
		s = s[:most] + "…"
	}
	return fmt.Sprintf("%q", s)
}
