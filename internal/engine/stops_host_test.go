package engine_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestContainerEnds: the program of a container is asked to end, and waited for as long as it has for that, though somebody has paused it; one to
// which the signal is nothing, and one that is nobody's container, are not, and neither is one where nobody waits any more.
func TestContainerEnds(t *testing.T) {
	for name, c := range map[string]struct {
		does           string
		foreign, given bool
		waits, ends    bool
	}{
		"one that ends":           {does: "trap exit USR1", ends: true},
		"one that stays":          {does: "trap : USR1", waits: true},
		"one that does not heed":  {does: "trap '' USR1; echo; exec sleep 100"}, // a shell keeps signals for later as it begins something
		"one of somebody else":    {does: "trap exit USR1", foreign: true},
		"one that is given up on": {does: "trap exit USR1", given: true},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("sh", "-c", c.does+"; echo; while :; do sleep 0.01; done")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			says, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := says.Read(make([]byte, 1)); err != nil { // it has said what it does
				t.Fatal(err)
			}
			pid := cmd.Process.Pid
			over := make(chan error, 1)
			go func() { over <- cmd.Wait() }()
			t.Cleanup(func() { _ = syscall.Kill(-pid, syscall.SIGKILL); <-over })
			before := groupsOf(t, pid)
			nstest.Freeze(t, pid)
			paused := slices.DeleteFunc(groupsOf(t, pid), func(group string) bool { return slices.Contains(before, group) })
			if len(paused) == 0 {
				t.Fatalf("it is paused, and in the same control groups as before: %v", before)
			}
			of := engine.Container{PID: pid, ID: path.Base(paused[0]), StopSignal: syscall.SIGUSR1}
			if c.foreign {
				of.ID += "2"
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			if c.given {
				stop()
			}
			began := time.Now()
			of.End(ctx)
			if took := time.Since(began); (took >= engine.Grace) != c.waits {
				t.Errorf("it was waited for, for %v", took)
			}
			if engine.Over(pid) != c.ends {
				t.Errorf("it has ended: %t", !c.ends)
			}
		})
	}
}

// groupsOf are the control groups of a process, as /proc has them.
func groupsOf(t *testing.T, pid int) []string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}
