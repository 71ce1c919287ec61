package netns_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"nfchain.dev/nfchain/internal/netns"
)

// executes is set for a process that executes its own program for each line that it reads, and is said by that.
const executes = "NFCHAIN_TEST_EXECUTES"

// executing what the variable says: each line has it execute its own program, which says that it is.
func executing(as string) int {
	if as == "again" {
		fmt.Println("its own")
		return 0
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		cmd := exec.Command(netns.Image())
		cmd.Env, cmd.Stdout, cmd.Stderr = []string{executes + "=again"}, os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			fmt.Println(netns.Image(), err)
		}
	}
	return 0
}

// TestImage: a process executes its own program where another has come in its place, and where that was deleted; by its path as long as
// it is there.
func TestImage(t *testing.T) {
	if self, err := os.Executable(); err != nil || netns.Image() != self {
		t.Errorf("%s is at %s, error %v", netns.Image(), self, err)
	}
	path := filepath.Join(t.TempDir(), "program")
	copyOwn(t, path)
	cmd := exec.Command(path)
	cmd.Env, cmd.Stderr = append(os.Environ(), executes+"=lines"), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = cmd.Wait() }()
	said := bufio.NewReader(out)
	executed := func(when string) {
		t.Helper()
		if _, err := io.WriteString(in, "\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := said.ReadString('\n'); line != "its own\n" || err != nil {
			t.Errorf("%s it executes %q, %v", when, line, err)
		}
	}
	executed("at first")
	if err := os.WriteFile(path+".new", []byte("#!/bin/sh\necho another\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	executed("replaced,")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	executed("deleted,")
}

// copyOwn program.
func copyOwn(t *testing.T, path string) {
	t.Helper()
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(to, from)
	if wrong := to.Close(); err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
}

// TestCalled: a program that executes itself is called by its name, as by any path of it.
func TestCalled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/proc/self/exe": filepath.Base(self), "/usr/bin/iperf3": "iperf3", "sockperf": "sockperf"} {
		if got := netns.Called(path); got != want {
			t.Errorf("%s is called %s, and not %s", path, got, want)
		}
	}
}
