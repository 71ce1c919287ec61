package nstest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Freeze holds a process still as engines pause containers, by a control group of its own, until the function that is given is called, or
// the test ends; nil where there is no such process any more. Where control groups of the first version are, that is of its freezer, and else
// of the second. Where this process may make none the test is skipped.
func Freeze(tb testing.TB, pid int) (thaw func()) {
	tb.Helper()
	Root(tb)
	if pid == 0 { // which would be this one
		return nil
	}
	var wrong []error
	for _, at := range []struct{ root, file, freeze, thaw, is, says string }{
		{"/sys/fs/cgroup/freezer", "freezer.state", "FROZEN", "THAWED", "freezer.state", "FROZEN\n"},
		{"/sys/fs/cgroup", "cgroup.freeze", "1", "0", "cgroup.events", "frozen 1\n"},
		{"/sys/fs/cgroup/unified", "cgroup.freeze", "1", "0", "cgroup.events", "frozen 1\n"},
	} {
		if _, err := os.Stat(filepath.Join(at.root, "cgroup.procs")); err != nil {
			wrong = append(wrong, err)
			continue
		}
		dir := filepath.Join(at.root, Name(tb))
		if err := os.Mkdir(dir, 0o755); err != nil {
			wrong = append(wrong, err)
			continue
		}
		tell := func(file, text string) error { return os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600) }
		thawed := false
		thaw = func() {
			if thawed {
				return
			}
			thawed = true
			if err := tell(at.file, at.thaw); err != nil {
				tb.Error(err)
			}
			if err := os.WriteFile(filepath.Join(at.root, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o600); err != nil {
				tb.Logf("process %d is not there any more: %v", pid, err)
			}
			removeGroup(tb, dir)
		}
		tb.Cleanup(thaw)
		err := tell("cgroup.procs", strconv.Itoa(pid))
		if errors.Is(err, unix.ESRCH) {
			thaw()
			return nil
		}
		if err := errors.Join(err, tell(at.file, at.freeze)); err != nil {
			tb.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if text, _ := os.ReadFile(filepath.Join(dir, at.is)); strings.Contains(string(text), at.says) {
				return thaw
			}
			if time.Now().After(deadline) {
				tb.Fatalf("process %d is not frozen", pid)
			}
		}
	}
	tb.Skip(fmt.Errorf("no control group can be made that freezes: %w", errors.Join(wrong...)))
	return nil
}

// removeGroup when its processes have left it, which takes one that ends a moment.
func removeGroup(tb testing.TB, dir string) {
	tb.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		err := os.Remove(dir)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			tb.Error(err)
			return
		}
	}
}
