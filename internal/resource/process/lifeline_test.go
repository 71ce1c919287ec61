package process

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/nstest"
)

func TestMain(m *testing.M) { os.Exit(nstest.Main(m)) }

// silent starts a process that never listens, as a supervisor is started, and gives by what to wait for its end.
func silent(t *testing.T, owner, seconds string) (pidfd int) {
	t.Helper()
	held, err := rundir.Share(lifeline(owner))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	cmd := exec.Command("sleep", seconds)
	cmd.Stdin = held
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_, _ = noneLives(owner) // and nothing of it is left
	})
	fd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	return fd
}

// TestStopBeginning: whoever was killed as it started a supervisor leaves one that does not listen. Its end is waited for, and none
// takes longer than it may. What others have open is left alone.
func TestStopBeginning(t *testing.T) {
	nstest.Root(t)
	for what, seconds := range map[string]string{"ends": "1", "stays": "1000"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			owner := nstest.Owner(t)
			another := silent(t, nstest.Owner(t), "1000")
			one := silent(t, owner, seconds)
			if err := Stop(owner); err != nil {
				t.Error(err)
			}
			if !netns.Ended(one, 0) {
				t.Error("it is still there")
			}
			if netns.Ended(another, 0) {
				t.Error("another owner's is gone")
			}
			if _, err := os.Stat(lifeline(owner)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("its file is left: %v", err)
			}
		})
	}
}
