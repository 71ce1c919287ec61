package netns_test

import (
	"errors"
	"io/fs"
	"os/exec"
	"testing"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestHeldBy: the namespace of a process stays held when the process ends and its number is free; that of one that is no longer meant when it
// is open is not taken.
func TestHeldBy(t *testing.T) {
	name := nstest.Namespace(t)
	cmd := exec.Command("sleep", "1000")
	if err := netns.Start(name, cmd); err != nil {
		t.Fatal(err)
	}
	ended := false
	end := func() {
		if !ended {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			ended = true
		}
	}
	defer end()
	if its, err := netns.HeldBy(cmd.Process.Pid, func() bool { return false }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of another process %v, %v", its, err)
	}
	its, err := netns.HeldBy(cmd.Process.Pid, func() bool { end(); return true })
	if err != nil {
		t.Fatal(err)
	}
	defer its.Close()
	if !its.Called(name) || its.Called(netns.Host) || its.Called(name+"-not") {
		t.Errorf("called %s %t, and the host's %t", name, its.Called(name), its.Called(netns.Host))
	}
	if err := netns.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := netns.NameOf(name, its.Ref()); err != nil || !its.Called(name) {
		t.Errorf("named again: %v", err)
	}
	if _, err := netns.HeldBy(cmd.Process.Pid, func() bool { return true }); err == nil {
		t.Error("of a process that is no more there is one")
	}
}
