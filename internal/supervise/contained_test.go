package supervise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/process"
)

// telling is an engine that gives what a container writes by several answers, as one that is started again meanwhile.
type telling struct {
	engine.Engine
	answers []func(from time.Time, to func(time.Time, []byte) error) error
}

func (*telling) Writes() bool { return false }

func (e *telling) Logs(_ context.Context, _ string, from time.Time, to func(time.Time, []byte) error) error {
	answer := e.answers[0]
	e.answers = e.answers[1:]
	return answer(from, to)
}

// asked is an engine that tells of one container.
type asked struct {
	engine.Engine
	of engine.Container
}

func (e asked) Inspect(context.Context, string) (engine.Container, error) { return e.of, nil }

// TestRunsIn: a container runs its program when it has become that, and not while it waits for its network, or when it has
// ended, or is another.
func TestRunsIn(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, "enter"), 0o600); err != nil {
		t.Fatal(err)
	}
	begin := func(path string, args ...string) int {
		cmd := &exec.Cmd{Path: path, Args: args, Dir: dir}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		for { // for a moment it has no words, as what becomes another
			said, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", cmd.Process.Pid))
			if err != nil {
				t.Fatal(err)
			}
			if len(said) > 0 {
				return cmd.Process.Pid
			}
		}
	}
	runs, waits := begin("/bin/sleep", "sleep", "1000"), begin("/bin/cat", "/.nfchain", "enter", "--", "x") // from nobody
	for what, c := range map[string]struct {
		of   engine.Container
		want bool
	}{
		"its program":        {engine.Container{Owner: "edge", Digest: "1", PID: runs}, true},
		"what waits":         {engine.Container{Owner: "edge", Digest: "1", PID: waits}, false},
		"what ended":         {engine.Container{Owner: "edge", Digest: "1"}, false},
		"one as it was once": {engine.Container{Owner: "edge", Digest: "2", PID: runs}, false},
		"another chain's":    {engine.Container{Owner: "else", Digest: "1", PID: runs}, false},
	} {
		p := &program{config: Config{Owner: "edge"}, spec: process.Spec{Netns: netns.Host, Container: &process.Container{Digest: "1"}}}
		if p.runsIn(t.Context(), asked{of: c.of}) != c.want {
			t.Errorf("%s: not %v", what, c.want)
		}
	}
}

// begunWithin is how long a command may take here until it has begun.
const begunWithin = 500 * time.Millisecond

// running is an engine in which a command begins, if it does, and then takes so long.
type running struct {
	asked
	begins bool
	takes  time.Duration
	// from when it is asked, and late if a busy machine held it up for so long that this may have ended it.
	from time.Time
	late bool
}

func (r *running) Exec(ctx context.Context, _ string, _ []string, s engine.Streams) (int, error) {
	if !slices.Contains(s.Env, process.Asking("edge", "a")) {
		return 0, errors.New("who comes after this supervisor would not know whose it is")
	}
	if r.begins {
		s.Begun()
	}
	begun := time.Now()
	r.late = begun.Sub(r.from) > begunWithin/2
	defer func() { r.late = r.late || r.takes < askTakes && time.Since(begun) > r.takes+begunWithin/2 }()
	_, _ = io.WriteString(s.Out, "so it is")
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(r.takes):
		return 0, nil
	}
}

// TestAskedInTime: a command has its time from when it has begun, and one that an engine does not begin has said nothing.
func TestAskedInTime(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		running
		said string
		want error
	}{
		"never begins":          {running{takes: time.Hour}, "", errUnasked},
		"ends before it's seen": {running{}, "so it is", nil},
		"takes its time":        {running{begins: true, takes: 2 * begunWithin}, "so it is", nil},
		"hangs":                 {running{begins: true, takes: time.Hour}, "so it is", errNoAnswer},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := &program{config: Config{Owner: "edge"}, spec: process.Spec{Node: "a", Container: &process.Container{}}}
			for range 20 {
				ctx, end := context.WithCancel(t.Context())
				c.from = time.Now()
				said, err := p.askBy(ctx, &c.running, time.AfterFunc(begunWithin, end), nil)
				end()
				if c.late {
					continue
				}
				if said != c.said || !errors.Is(err, c.want) {
					t.Errorf("%q, %v", said, err)
				}
				return
			}
			t.Error("twenty times the machine was too busy")
		})
	}
}

// TestCannotBecomeTheProgram: one that says so is waited for until it has ended.
func TestCannotBecomeTheProgram(t *testing.T) {
	if !nstest.Alone(t) { // others have containers that wait in the host's namespace
		return
	}
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, engine.EnterCommand), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", "@nfchain/gate")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	cmd := &exec.Cmd{Path: "/bin/cat", Args: []string{"/.nfchain", engine.EnterCommand, "--", "x"}, Dir: dir} // from nobody
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	go func() {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, "no such program")
		_ = c.Close()
		time.AfterFunc(300*time.Millisecond, func() { _ = cmd.Process.Kill() })
	}()
	if err := letIn(t.Context(), cmd.Process.Pid, netns.Host); err == nil || !strings.Contains(err.Error(), "no such program") || !engine.Over(cmd.Process.Pid) {
		t.Errorf("it has ended: %v, %v", engine.Over(cmd.Process.Pid), err)
	}
}

// TestNotLetIn: one that has not said that it cannot become the program, as nobody could tell it anything, is not waited for.
func TestNotLetIn(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, engine.EnterCommand), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: "/bin/cat", Args: []string{"/.nfchain", engine.EnterCommand, "--", "x"}, Dir: dir} // from nobody
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	begun := time.Now()
	err := letIn(t.Context(), cmd.Process.Pid, "nfchain.nobody.none")
	if took := time.Since(begun); err == nil || took >= overWithin || engine.Over(cmd.Process.Pid) {
		t.Errorf("error %v after %v", err, took)
	}
}

// TestFollowedOn: what a container writes is followed on when its engine is back, from behind what was there, to the container's end,
// and by whoever follows it next.
func TestFollowedOn(t *testing.T) {
	container := exec.Command("sleep", "1000")
	if err := container.Start(); err != nil {
		t.Fatal(err)
	}
	end := func() { _ = container.Process.Kill(); _ = container.Wait() }
	defer end()
	name := filepath.Join(t.TempDir(), "log")
	p := &program{config: Config{LogFile: func(string) string { return name }}, spec: process.Spec{Netns: netns.Host}}
	at := func(n int) time.Time { return time.Unix(1_700_000_000, int64(n)) }
	behind := func(from, last time.Time) {
		if !from.Equal(last.Add(1)) {
			t.Errorf("followed on from %v, behind %v", from, last)
		}
	}
	e := &telling{answers: []func(time.Time, func(time.Time, []byte) error) error{
		func(from time.Time, to func(time.Time, []byte) error) error {
			if !from.IsZero() {
				t.Errorf("what was before %v is left out", from)
			}
			_ = to(at(1), []byte("one\n"))
			return to(at(2), []byte("two\n"))
		},
		func(from time.Time, _ func(time.Time, []byte) error) error {
			behind(from, at(2))
			return engine.ErrNotThere
		},
		func(from time.Time, to func(time.Time, []byte) error) error {
			behind(from, at(2))
			end()
			return to(at(3), []byte("last\n"))
		},
	}}
	p.copyLog(t.Context(), e, engine.Container{PID: container.Process.Pid})
	e.answers = append(e.answers, func(from time.Time, to func(time.Time, []byte) error) error {
		behind(from, at(3))
		return to(at(4), []byte("again\n"))
	})
	p.copyLog(t.Context(), e, engine.Container{PID: container.Process.Pid})
	if text, err := os.ReadFile(name); string(text) != "one\ntwo\nlast\nagain\n" {
		t.Errorf("%q, %v", text, err)
	}
}
