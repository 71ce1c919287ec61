package traffic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// Process is a tool's program running in a namespace of the chain.
type Process struct {
	cmd            *exec.Cmd
	name, node     string
	stdout, stderr output
	// done is closed when the program has ended and err says how.
	done chan struct{}
	err  error
}

// StartClient starts a tool's program in the client's namespace, on the cores that the
// affinity names. It is killed when the context ends.
func (j Job) StartClient(ctx context.Context, args ...string) (*Process, error) {
	return j.start(ctx, j.ClientNetns, j.ClientNode, Cores(j.Condition.Affinity), args)
}

// StartServer starts a tool's program in the server's namespace, on the cores that the
// affinity names. It is killed when the context ends.
func (j Job) StartServer(ctx context.Context, args ...string) (*Process, error) {
	return j.start(ctx, j.ServerNetns, j.ServerNode, Cores(ServerAffinity(j.Condition.Affinity)), args)
}

func (j Job) start(ctx context.Context, ref, node string, cores []int, args []string) (*Process, error) {
	p := &Process{cmd: exec.CommandContext(ctx, args[0], args[1:]...), name: program(args), node: node, done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "LC_ALL=C")
	p.stdout.full, p.stderr.full = p.end, p.end
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	// In a PID namespace of its own, whatever the program starts goes with it; the
	// program goes with this process; and a group of its own keeps the terminal's
	// Ctrl-C from it.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL, Setpgid: true}
	p.cmd.WaitDelay = time.Second
	seat := netns.Seat{Cores: cores, Memory: j.Memory[node]}
	if err := netns.StartAt(ref, p.cmd, seat); err != nil {
		return nil, fmt.Errorf("start %s on %s: %w", p.name, node, err)
	}
	if err := errors.Join(bound(p.cmd.Process.Pid, cores), seat.Check(p.cmd.Process.Pid)); err != nil {
		p.end()
		_ = p.cmd.Wait()
		return nil, fmt.Errorf("start %s on %s: %w", p.name, node, err)
	}
	if j.Started != nil {
		j.Started(node, p.cmd.Process.Pid)
	}
	go func() {
		defer close(p.done)
		p.err = p.cmd.Wait()
		if j.Ended != nil && p.cmd.ProcessState != nil {
			j.Ended(node, p.name, p.cmd.ProcessState)
		}
	}()
	return p, nil
}

// String names the process for an error.
func (p *Process) String() string { return p.name + " on " + p.node }

// PID of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stdout is what it has printed, complete once Wait has returned.
func (p *Process) Stdout() []byte { return p.stdout.bytes() }

// Stderr is what it has said of itself, complete once Wait has returned.
func (p *Process) Stderr() []byte { return p.stderr.bytes() }

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
	<-p.done
	switch {
	case p.stdout.overflown() || p.stderr.overflown():
		return fmt.Errorf("%s printed more than %d MiB and was ended: %q", p, mostOutput>>20, words.Excerpt(p.stdout.bytes()))
	case p.err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s on %s hangs: it was ended %v after the trial should have been over%s", p.name, p.node, Grace, p.said())
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("%s on %s: %w%s", strings.Join(p.cmd.Args, " "), p.node, p.err, p.said())
}

// said is the last of what the process printed, for an error.
func (p *Process) said() string {
	for _, text := range [][]byte{p.stderr.bytes(), p.stdout.bytes()} {
		if text = bytes.TrimSpace(text); len(text) > 0 {
			return fmt.Sprintf(": %q", words.Excerpt(text))
		}
	}
	return ""
}

// Stop interrupts a program that ends so, with what it has counted, and waits for it.
func (p *Process) Stop(ctx context.Context) error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("interrupt %s: %w", p, err)
	}
	return p.Wait(ctx)
}

// During waits for a time in which the process should not end.
func (p *Process) During(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
	case <-p.done:
	}
	if err := p.Wait(ctx); err != nil {
		return err
	}
	return fmt.Errorf("%s ended before it was told to%s", p, p.said())
}

// Kill ends the process with everything it started and waits for it.
func (p *Process) Kill() {
	p.end()
	<-p.done
}

func (p *Process) end() { _ = p.cmd.Process.Kill() }

// readyWithin is how long a server may take to become ready: less than [Grace], so that it is
// said which of two programs was not.
const readyWithin = 12 * time.Second

// Until waits for a condition of a just started process; otherwise says what it
// means that the condition is not met.
func (p *Process) Until(ctx context.Context, ready func() bool, otherwise string) error {
	deadline := time.After(readyWithin)
	for !ready() {
		select {
		case <-p.done:
			if err := p.Wait(ctx); err != nil {
				return err
			}
			return fmt.Errorf("%s on %s ended before it was ready%s", p.name, p.node, p.said())
		case <-deadline:
			return fmt.Errorf("%s on %s is not ready after %v: %s%s", p.name, p.node, readyWithin, otherwise, p.said())
		case <-time.After(2 * time.Millisecond):
		}
	}
	return nil
}

// Grace is how long after its planned end a trial may take.
const Grace = 15 * time.Second

// Deadline bounds a trial of the given length.
func Deadline(ctx context.Context, seconds float64) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Duration(seconds*float64(time.Second))+Grace)
}

// WholeSeconds is how long a program is told to send that reads no fractions, and takes
// 0 for ever.
func WholeSeconds(duration float64) float64 { return max(1, math.Ceil(duration)) }
