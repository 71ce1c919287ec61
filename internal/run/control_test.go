package run_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"nfchain.dev/nfchain/internal/run"
)

// TestHolder: who has a socket from another that listened before is told, by a link to it too, but not where both have it.
func TestHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "engine.sock")
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if pid := run.Holder(path); pid != 0 {
		t.Errorf("nobody listens, and process %d is told", pid)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	file, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	if pid := run.Holder(link); pid != os.Getpid() {
		t.Errorf("it is this one, %d, and %d is told", os.Getpid(), pid)
	}
	given := exec.Command("sleep", "1000")
	given.ExtraFiles = []*os.File{file}
	if err := given.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = given.Process.Kill(); _ = given.Wait() })
	if pid := run.Holder(path); pid != 0 {
		t.Errorf("two have it, and %d is told", pid)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if pid := run.Holder(path); pid != given.Process.Pid {
		t.Errorf("%d has it, and %d is told", given.Process.Pid, pid)
	}
}
