package nstest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// Stop holds a process still. The signal only asks for it: a thread that runs on another
// core goes on for a moment, so every one of them is waited for.
func Stop(tb testing.TB, pid int) {
	tb.Helper()
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil || len(stats) == 0 {
			tb.Fatalf("process %d has no threads: %v", pid, err)
		}
		if !slices.ContainsFunc(stats, runs) {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("process %d does not stop", pid)
		}
	}
}

// runs tells whether a thread is not stopped, by its stat file (proc(5)).
func runs(stat string) bool {
	text, err := os.ReadFile(stat)
	_, after, _ := bytes.Cut(text, []byte(") "))
	return err == nil && !bytes.HasPrefix(after, []byte("T"))
}
