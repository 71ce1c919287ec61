package engine_test

import (
	"os/exec"
	"testing"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestPaused tells it of a process that is.
func TestPaused(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if engine.Paused(cmd.Process.Pid) || engine.Paused(0) {
		t.Error("nobody has paused it")
	}
	thaw := nstest.Freeze(t, cmd.Process.Pid)
	if !engine.Paused(cmd.Process.Pid) {
		t.Error("it is paused")
	}
	engine.Resume(cmd.Process.Pid)
	if engine.Paused(cmd.Process.Pid) {
		t.Error("it was had go on")
	}
	thaw()
	if engine.Paused(cmd.Process.Pid) {
		t.Error("it goes on")
	}
}
