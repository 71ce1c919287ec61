package supervise

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource/process"
)

// TestCatches: of a process is told which signals it does something with; of one that is not there, that it does nothing.
func TestCatches(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR2)
	defer signal.Stop(c)
	if !catches(os.Getpid(), syscall.SIGUSR2) {
		t.Error("this process catches SIGUSR2")
	}
	if catches(os.Getpid(), syscall.SIGKILL) || catches(-1, syscall.SIGTERM) {
		t.Error("nobody catches SIGKILL, and nobody that is not there anything")
	}
}

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
