package profile_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestKilledLeavesNothing: perf events and programs go with who is killed.
func TestKilledLeavesNothing(t *testing.T) {
	nstest.Require(t, feature.Root, feature.PerfEvents, feature.BPFTrace)
	ref := nstest.Namespace(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env, cmd.Stderr = append(os.Environ(), childEnv+"=sample "+ref), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := netns.Start(netns.Host, cmd); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	said := make([]byte, len("sampling"))
	if _, err := io.ReadFull(out, said); err != nil || string(said) != "sampling" {
		t.Fatalf("%q, %v", said, err)
	}
	events, programs := perfEvents(t, cmd.Process.Pid), nstest.Held(t, cmd.Process.Pid, "prog_id")
	if events < 2 || len(programs) < 5 {
		t.Fatalf("%d perf events, programs %v: the test does not see them", events, programs)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, id := range programs {
		nstest.Freed(t, id)
	}
}

// perfEvents that a process has.
func perfEvents(t *testing.T, pid int) (n int) {
	t.Helper()
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, _ := os.Readlink(fd); strings.Contains(to, "perf_event") {
			n++
		}
	}
	return n
}
