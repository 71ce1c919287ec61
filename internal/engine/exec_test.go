package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// inContainer starts a process that leads a session, and gives what passes for the name of the container that it is in.
func inContainer(t *testing.T, environment ...string) (cmd *exec.Cmd, id string) {
	t.Helper()
	all, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	id, _, _ = strings.Cut(string(all), "/") // as TestEnd has it
	cmd = exec.Command("sleep", "1000")
	cmd.Env = append(os.Environ(), environment...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, id
}

// bySIGKILL waits for the end of a process, which is to be by SIGKILL.
func bySIGKILL(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	defer late.Stop()
	var ended *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("it is not killed: %v", err)
	}
}

// TestEndExec: a command of Docker's is ended that it is yet to begin, also to who seldom looks, or is beginning; one that has ended, or is not known, is no error.
func TestEndExec(t *testing.T) {
	cmd, id := inContainer(t)
	var looks atomic.Int64
	e := standIn(t, map[string]http.HandlerFunc{
		"/exec/late/json": func(w http.ResponseWriter, _ *http.Request) {
			n, pid := looks.Add(1), 0
			if n == 2 { // as it seems to who gets no turn meanwhile
				time.Sleep(heardWithin + beginsEvery)
			}
			if n > 4 {
				pid = cmd.Process.Pid
			}
			_, _ = fmt.Fprintf(w, `{"ID": "late", "ContainerID": %q, "Running": %v, "Pid": %d}`, id, n > 2, pid)
		},
		"/exec/over/json": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, `{"ID": "over", "ContainerID": %q, "Running": false, "Pid": %d, "ExitCode": 0}`, id, cmd.Process.Pid)
		},
		"/exec/none/json": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"message": "No such exec instance"}`)
		},
	})
	for _, name := range []string{"over", "none"} {
		if err := e.EndExec(t.Context(), "c", name); err != nil {
			t.Error(err)
		}
	}
	if err := unix.Kill(cmd.Process.Pid, 0); err != nil || Over(cmd.Process.Pid) {
		t.Fatalf("a process that has the number of one that ended: %v", err)
	}
	if err := e.EndExec(t.Context(), "c", "late"); err != nil {
		t.Error(err)
	}
	bySIGKILL(t, cmd)
}

// TestExecEndedAsItIsAttached: who is told to end while Docker is asked to begin a command ends that, which Docker begins all the same.
func TestExecEndedAsItIsAttached(t *testing.T) {
	cmd, id := inContainer(t)
	var begun atomic.Bool
	ctx, end := context.WithCancel(t.Context())
	e := standIn(t, map[string]http.HandlerFunc{
		"/containers/c/exec": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"Id": "x"}`) },
		"/exec/x/start": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			end()
			time.Sleep(50 * time.Millisecond)
			begun.Store(true)
		},
		"/exec/x/json": func(w http.ResponseWriter, _ *http.Request) {
			is, pid := begun.Load(), 0
			if is {
				pid = cmd.Process.Pid
			}
			_, _ = fmt.Fprintf(w, `{"ID": "x", "ContainerID": %q, "Running": %v, "Pid": %d}`, id, is, pid)
		},
	})
	if _, err := e.Exec(ctx, "c", []string{"x"}, Streams{Out: io.Discard}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	bySIGKILL(t, cmd)
}

// TestExecNamed: a command is named before it begins, and one of which that fails does not begin.
func TestExecNamed(t *testing.T) {
	e := standIn(t, map[string]http.HandlerFunc{
		"/containers/c/exec": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"Id": "x"}`) },
		"/exec/x/start":      func(http.ResponseWriter, *http.Request) { t.Error("it begins") },
	})
	failed := errors.New("is not noted")
	_, err := e.Exec(t.Context(), "c", []string{"x"}, Streams{Out: io.Discard, Named: func(command string) error {
		if command != "x" {
			t.Errorf("it is called %s", command)
		}
		return failed
	}})
	if !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
}

// TestLXCEndExec: of LXC's commands the one of that name is ended.
func TestLXCEndExec(t *testing.T) {
	name := newCommand()
	cmd, _ := inContainer(t, commandVariable+"="+name)
	other, _ := inContainer(t, commandVariable+"="+name+"2")
	for _, wanted := range []string{newCommand(), name} {
		if err := (lxc{}).EndExec(t.Context(), "c", wanted); err != nil {
			t.Error(err)
		}
	}
	bySIGKILL(t, cmd)
	if err := unix.Kill(other.Process.Pid, 0); err != nil || Over(other.Process.Pid) {
		t.Errorf("another: %v", err)
	}
	_ = other.Process.Kill()
	_ = other.Wait()
}
