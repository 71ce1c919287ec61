package traffic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/trial"
)

// mostOutput of a tool is kept; a tool that prints more than this is broken.
const mostOutput = 64 << 20

// Process is a tool's program running in a namespace.
type Process struct {
	cmd    *exec.Cmd
	node   string
	stdout limited
	stderr limited
	done   chan error
}

// Start starts a tool's program. It is killed when the context ends.
func Start(ctx context.Context, ref, node string, started func(string, int), args ...string) (*Process, error) {
	p := &Process{node: node, done: make(chan error, 1)}
	p.cmd = exec.CommandContext(ctx, args[0], args[1:]...)
	p.cmd.Env = append(os.Environ(), "LC_ALL=C")
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Cancel = func() error { return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }
	p.cmd.WaitDelay = time.Second
	if err := netns.Start(ref, p.cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	if started != nil {
		started(node, p.cmd.Process.Pid)
	}
	go func() { p.done <- p.cmd.Wait() }()
	return p, nil
}

// PID of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stdout is what it has printed, complete once Wait has returned.
func (p *Process) Stdout() []byte { return p.stdout.Bytes() }

// Output is the process's output as it goes into a trial.
func (p *Process) Output() trial.ToolOutput {
	text := bytes.TrimSpace(p.Stdout())
	if !json.Valid(text) {
		text, _ = json.Marshal(string(text))
	}
	return trial.ToolOutput{Command: p.cmd.Args, Node: p.node, Output: text}
}

// Wait waits for the end of the process; an error carries what it printed.
func (p *Process) Wait(ctx context.Context) error {
	err := <-p.done
	p.done <- err
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return fmt.Errorf("%s on %s hangs: it was ended some time after the trial should have been over%s", p.cmd.Args[0], p.node, p.said())
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("%s on %s: %w%s", strings.Join(p.cmd.Args, " "), p.node, err, p.said())
}

// said is the last of what the process printed, for an error.
func (p *Process) said() string {
	text := strings.TrimSpace(p.stderr.String())
	if text == "" {
		text = strings.TrimSpace(p.stdout.String())
	}
	if text == "" {
		return ""
	}
	return ": " + Excerpt(text)
}

// Excerpt is the end of a text, short enough for an error.
func Excerpt(text string) string {
	if len(text) > 400 {
		text = "…" + strings.ToValidUTF8(text[len(text)-400:], "")
	}
	return text
}

// Kill ends the process and its children at once and waits for it.
func (p *Process) Kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	err := <-p.done
	p.done <- err
}

// Until waits for a condition of a just started process.
func (p *Process) Until(ctx context.Context, what string, ready func(pid int) bool) error {
	deadline := time.After(10 * time.Second)
	for !ready(p.PID()) {
		select {
		case err := <-p.done:
			p.done <- err
			return fmt.Errorf("%s on %s ended before it was ready (%v)%s", p.cmd.Args[0], p.node, err, p.said())
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return fmt.Errorf("%s on %s is not ready after 10 s: %s%s", p.cmd.Args[0], p.node, what, p.said())
		case <-time.After(2 * time.Millisecond):
		}
	}
	return nil
}

// limited is a buffer that keeps no more than mostOutput.
type limited struct{ bytes.Buffer }

// Write implements io.Writer; what exceeds the limit is dropped.
func (l *limited) Write(b []byte) (int, error) {
	if room := mostOutput - l.Len(); room > 0 {
		l.Buffer.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

// Grace is how long after its planned end a trial may take.
const Grace = 15 * time.Second

// Deadline bounds a trial of the given length.
func Deadline(ctx context.Context, seconds float64) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Duration(seconds*float64(time.Second))+Grace)
}
