package container

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/engine"
)

// late is an engine that is told late that a container has ended.
type late struct {
	engine.Engine
	is      engine.Container
	asked   int
	started bool
}

func (l *late) Inspect(context.Context, string) (engine.Container, error) {
	if l.asked++; l.asked > 3 {
		l.is.PID = 0
	}
	return l.is, nil
}

func (l *late) Start(context.Context, string) (engine.Container, error) {
	l.started = l.is.PID == 0 // else there is nothing to do
	return l.is, nil
}

// TestStartedLate: a container whose engine does not know yet that it has ended is started when that does, whether somebody has waited for
// its first process or not.
func TestStartedLate(t *testing.T) {
	for _, reaped := range []bool{true, false} {
		gone := exec.Command("true")
		if err := gone.Start(); err != nil {
			t.Fatal(err)
		}
		for !engine.Over(gone.Process.Pid) {
			time.Sleep(time.Millisecond)
		}
		if reaped {
			_ = gone.Wait()
		} else {
			defer func() { _ = gone.Wait() }()
		}
		s := Spec{Engine: engine.Docker, Name: "a", Image: "box:1"}
		e := &late{is: engine.Container{Name: "a", Owner: "edge", Digest: s.Digest(), PID: gone.Process.Pid}}
		if _, err := s.started(t.Context(), e, "edge", ""); err != nil || !e.started {
			t.Errorf("waited for %t: started %t, %v", reaped, e.started, err)
		}
	}
}

// pod is an engine that removes no container that another uses, as Podman.
type pod struct {
	engine.Engine
	there   []engine.Container
	removed chan string
}

func (p *pod) List(context.Context, string) ([]engine.Container, error) {
	return slices.Clone(p.there), nil
}

func (p *pod) Remove(_ context.Context, id string) error {
	used := func(c engine.Container) bool { return c.Beside == id }
	if slices.ContainsFunc(p.there, used) {
		return errors.New("it has dependent containers")
	}
	p.there = slices.DeleteFunc(p.there, func(c engine.Container) bool { return c.ID == id })
	p.removed <- id
	return nil
}

// TestRemoveBeside: a container in another's network namespace goes before that, where all go and where that goes alone; one that nobody uses
// goes by itself.
func TestRemoveBeside(t *testing.T) {
	for name, want := range map[string][]string{"": {"b", "a"}, "a": {"b", "a"}, "b": {"b"}} {
		p := &pod{there: []engine.Container{{ID: "a", Name: "a"}, {ID: "b", Name: "b", Beside: "a"}}, removed: make(chan string, 2)}
		err := removeFrom(t.Context(), p, "edge", func(c engine.Container) bool { return name == "" || c.Name == name })
		close(p.removed)
		var got []string
		for id := range p.removed {
			got = append(got, id)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: removed %v, want %v; %v", name, got, want, err)
		}
	}
}

// told is an engine that tells of a container when it is asked again.
type told struct {
	engine.Engine
	now   engine.Container
	asked int
}

func (o *told) Inspect(context.Context, string) (engine.Container, error) {
	o.asked++
	return o.now, nil
}

// TestStill: a process that is in no control group of its container's is the container's if its engine says so once more, and it waits as
// containers do; one of another is not.
func TestStill(t *testing.T) {
	other := exec.Command("sleep", "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = other.Process.Kill(), other.Wait() }()
	waits := exec.Command("/bin/sh", "-c", "read x; read x")
	waits.Args[0] = "lxc-start" // as one is called before it becomes what a container begins with
	in, err := waits.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := waits.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), waits.Wait() }()
	for _, of := range []struct {
		what     string
		was, now int
		want     bool
	}{
		{"the same", waits.Process.Pid, waits.Process.Pid, true},
		{"started again", waits.Process.Pid, other.Process.Pid, false},
		{"ended", waits.Process.Pid, 0, false},
		{"another's", other.Process.Pid, other.Process.Pid, false},
	} {
		e := &told{now: engine.Container{ID: "nosuch", PID: of.now}}
		if got := still(t.Context(), e, engine.Container{ID: "nosuch", PID: of.was}); got != of.want || e.asked == 0 {
			t.Errorf("%s: %t, asked %d times", of.what, got, e.asked)
		}
	}
}
