package supervise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode"

	"nfchain.dev/nfchain/internal/resource/process"
)

// askTakes is how long a ready command may take, and so may what it takes to begin it.
const askTakes = 5 * time.Second

var (
	// errUnasked is of a command that could not be run, which tells nothing of the program.
	errUnasked = errors.New("could not be asked")
	// errUnbegun is of one that was not begun in time.
	errUnbegun = fmt.Errorf("%w: it has not begun within %v", errUnasked, askTakes)
	// errNoAnswer is of one that took too long.
	errNoAnswer = fmt.Errorf("no answer within %v", askTakes)
)

// askOn asks the ready command as long as the program runs, and tells when that is ready no more, and when it is again.
func (p *program) askOn(ctx context.Context, pid int) {
	r := p.spec.Ready
	for r.Asked() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(r.PeriodS * float64(time.Second))):
		}
		err := p.answer(ctx, pid)
		if ctx.Err() != nil {
			return
		}
		p.heed(err)
	}
}

// heed an answer: so many in a row that say no, and the program is ready no more; one that says yes, and it is.
func (p *program) heed(answer error) {
	switch s := p.status(); {
	case s.State == process.Unready && answer == nil:
		p.update(func(s *process.Status) { s.State, s.Message, s.Late = process.Running, "", false })
	case s.State == process.Running && s.ReadyCommand.Failures >= p.spec.Ready.Failures:
		p.update(func(s *process.Status) {
			s.State, s.Late, s.Message = process.Unready, true, fmt.Sprintf("is ready no more: its ready command fails (%v)", answer)
		})
	}
}

// answer of the ready command; it is noted where that is asked as long as the program runs. Nobody is told of it: that there was
// one is nothing that became of the program.
func (p *program) answer(ctx context.Context, pid int) error {
	said, err := p.ask(ctx, pid, p.spec.Ready.Command)
	if p.spec.Ready.Asked() && ctx.Err() == nil {
		p.noteAnswer(said, err)
	}
	if err != nil && said != "" {
		return fmt.Errorf("%w: %s", err, said)
	}
	return err
}

func (p *program) noteAnswer(said string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var before process.Answer
	if p.state.ReadyCommand != nil {
		before = *p.state.ReadyCommand
	}
	if errors.Is(err, errUnasked) {
		before.Unasked = printable(err.Error())
		p.state.ReadyCommand = &before
		return
	}
	now := process.Answer{Ready: err == nil, At: time.Now(), Said: said}
	if err != nil {
		now.Failures = before.Failures + 1
		now.Said = err.Error()
		if said != "" {
			now.Said += ": " + said
		}
	}
	p.state.ReadyCommand = &now
}

// ask runs the ready command, and gives the last line of words that it wrote; what it starts ends with it. Where this supervisor is
// killed meanwhile the command ends with the thread that began it, if it has not entered the namespace yet, in which the next
// supervisor looks for it, and that one ends what it finds.
func (p *program) ask(ctx context.Context, pid int, args []string) (said string, err error) {
	if p.spec.Container != nil {
		return p.askContained(ctx, args)
	}
	from, to, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUnasked, err)
	}
	defer func() { _ = from.Close() }()
	cmd := p.command(args, pid)
	cmd.Env = append(cmd.Env, process.Asking(p.config.Owner, p.spec.Node))
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	runtime.LockOSThread() // no other goroutine is to end the thread
	defer runtime.UnlockOSThread()
	cmd.Stdout, cmd.Stderr = to, to
	err = cmd.Start()
	_ = to.Close()
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUnasked, err)
	}
	ctx, cancel := context.WithTimeout(ctx, askTakes)
	defer cancel()
	var wrote tail
	read := make(chan struct{})
	go func() {
		defer close(read)
		hear(&wrote, from)
	}()
	end := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var unbegun atomic.Bool
	stop := context.AfterFunc(ctx, func() {
		unbegun.Store(still(cmd.Process.Pid, cmd.Args))
		end()
	})
	err = cmd.Wait()
	stop()
	end()
	_ = from.SetReadDeadline(time.Now().Add(lingers))
	<-read
	switch {
	case unbegun.Load():
		return "", errUnbegun
	case ctx.Err() != nil:
		return wrote.line(), errNoAnswer
	}
	return wrote.line(), err
}

// lingers is how long what a command wrote is waited for, if what it started holds on to it and has left its session.
const lingers = 100 * time.Millisecond

// hear what comes by a pipe until its end or its deadline, and what is in it then: who is not let run until then has read nothing.
func hear(to io.Writer, from *os.File) {
	_, _ = io.Copy(to, from)
	raw, err := from.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		left := make([]byte, 1<<16) // which is as much as a pipe holds
		if n, err := syscall.Read(int(fd), left); err == nil {
			_, _ = to.Write(left[:n])
		}
	})
}

// tail is the end of what is written to it, by several at a time.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// longestSaid is how much of what a ready command writes is kept, in bytes.
const longestSaid = 400

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = append(t.text[:0], t.text[max(0, len(t.text)-longestSaid):]...)
	return len(b), nil
}

// line is the last that was written with a letter or a digit in it, or else the last: what lists something may end with a bracket.
func (t *tail) line() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	for _, line := range slices.Backward(lines) {
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			return printable(strings.TrimSpace(line))
		}
	}
	return printable(lines[len(lines)-1])
}

// printable is a text that does nothing to a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(text, " "))
}
