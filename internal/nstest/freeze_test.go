package nstest_test

import (
	"os/exec"
	"testing"

	"nfchain.dev/nfchain/internal/nstest"
)

// TestFreezeNobody tells it of a process that has ended.
func TestFreezeNobody(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if nstest.Freeze(t, cmd.Process.Pid) != nil {
		t.Error("it is frozen, and not there any more")
	}
}
