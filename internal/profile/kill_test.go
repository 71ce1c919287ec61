package profile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"

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
	if _, err := out.Read(said); err != nil || string(said) != "sampling" {
		t.Fatalf("%q, %v", said, err)
	}
	events, programs := held(t, cmd.Process.Pid)
	if events < 2 || len(programs) < 5 {
		t.Fatalf("%d perf events, programs %v: the test does not see them", events, programs)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, id := range programs {
		waitGone(t, id)
	}
}

// held are the perf events that a process has, and the numbers of its programs.
func held(t *testing.T, pid int) (events int, programs []uint32) {
	t.Helper()
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		to, _ := os.Readlink(fd)
		if strings.Contains(to, "perf_event") {
			events++
		}
		text, _ := os.ReadFile(strings.Replace(fd, "/fd/", "/fdinfo/", 1))
		for line := range strings.Lines(string(text)) {
			var id uint32
			if n, _ := fmt.Sscanf(line, "prog_id:\t%d", &id); n == 1 {
				programs = append(programs, id)
			}
		}
	}
	return events, programs
}

// waitGone waits for the kernel to free a program, which it does a while after the
// last descriptor of it is closed.
func waitGone(t *testing.T, id uint32) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		p, err := ebpf.NewProgramFromID(ebpf.ProgramID(id))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = p.Close()
	}
	t.Errorf("program %d is still there", id)
}
