package rundir_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/nstest"
)

// child is an environment variable that has this test program take the lock and the
// socket in the directory that it holds, say so, and wait for its end.
const child = "NFCHAIN_TEST_HOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(child); dir != "" {
		hold(dir)
	}
	os.Exit(nstest.Main(m))
}

func hold(dir string) {
	if _, err := rundir.Take(dir + "/lock"); err != nil {
		os.Exit(1)
	}
	if _, err := rundir.Listen(dir + "/socket"); err != nil {
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString("held\n")
	select {}
}

// TestKilled: what a killed process held is free, although its files are there.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), child+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	if _, err := out.Read(make([]byte, len("held\n"))); err != nil {
		t.Fatal(err)
	}
	taken := map[string]func() error{
		"lock":   func() error { _, err := rundir.Take(dir + "/lock"); return err },
		"listen": func() error { _, err := rundir.Listen(dir + "/socket"); return err },
	}
	for what, take := range taken {
		var by *rundir.TakenError
		if err := take(); !errors.As(err, &by) || by.PID != cmd.Process.Pid {
			t.Errorf("%s: %v, want process %d", what, err, cmd.Process.Pid)
		}
	}
	if c, err := rundir.Dial(dir + "/socket"); err != nil || c.PID != cmd.Process.Pid {
		t.Errorf("dial: process %d, error %v", c.PID, err)
	} else {
		_ = c.Close()
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if left, _ := filepath.Glob(dir + "/*"); len(left) != 3 {
		t.Errorf("the killed process left %v", left)
	}
	if _, err := rundir.Dial(dir + "/socket"); !errors.Is(err, rundir.ErrNone) {
		t.Errorf("dial: %v", err)
	}
	lock, err := rundir.Take(dir + "/lock")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := rundir.Listen(dir + "/socket")
	if err != nil {
		t.Fatal(err)
	}
	lock.Release()
	_ = listener.Close()
	_ = listener.Close()
	if left, _ := filepath.Glob(dir + "/*"); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// TestManyTake: of many that take and release a lock, one has it at a time.
func TestManyTake(t *testing.T) {
	path := t.TempDir() + "/in/lock"
	var has, got atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 200 {
				l, err := rundir.Take(path)
				if errors.As(err, new(*rundir.TakenError)) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if has.Add(1) != 1 {
					t.Error("two have the lock")
				}
				got.Add(1)
				runtime.Gosched()
				has.Add(-1)
				l.Release()
			}
		}()
	}
	all.Wait()
	if got.Load() < 8 {
		t.Errorf("taken %d times", got.Load())
	}
}

// TestShare: any number have a lock at a time, and a process that was given the file as long as it is there; nobody has it alone until then.
func TestShare(t *testing.T) {
	path := t.TempDir() + "/in/lock"
	first, err := rundir.Share(path)
	if err != nil {
		t.Fatal(err)
	}
	second, err := rundir.Share(path)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("cat", "/dev/fd/3") // until the pipe is closed
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.ExtraFiles = second, []*os.File{from}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = from.Close()
	taken := func(what string) {
		t.Helper()
		if l, err := rundir.Take(path); !errors.As(err, new(*rundir.TakenError)) {
			t.Errorf("%s: %v, %v", what, l, err)
		}
	}
	taken("three have it")
	_ = first.Close()
	_ = second.Close()
	taken("another process has it")
	_ = to.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	l, err := rundir.Take(path)
	if err != nil {
		t.Fatal(err)
	}
	waited := make(chan error, 1)
	go func() {
		file, err := rundir.Share(path) // of the next file of that name
		if err == nil {
			defer func() { _ = file.Close() }()
			_, err = os.Stat(path)
		}
		waited <- err
	}()
	l.Release()
	if err := <-waited; err != nil {
		t.Error(err)
	}
}

// TestStranger: another user can neither take nor keep what is root's.
func TestStranger(t *testing.T) {
	nstest.Root(t) // to become another user
	name := nstest.Name(t)
	dir := filepath.Join(rundir.Root, name)
	lock, err := rundir.Take(dir + "/lock")
	if err != nil {
		t.Fatal(err)
	}
	l, err := rundir.Listen(dir + "/socket")
	if err != nil {
		t.Fatal(err)
	}
	for what, try := range map[string]func() error{
		"lock":        func() error { _, err := rundir.Take(dir + "/lock"); return err },
		"new lock":    func() error { _, err := rundir.Take(dir + "/other"); return err },
		"chain lock":  func() error { _, err := rundir.Take(filepath.Join(rundir.Locks, name)); return err },
		"open":        func() error { _, err := os.Open(dir + "/lock"); return err },
		"listen":      func() error { _, err := rundir.Listen(dir + "/other"); return err },
		"dial":        func() error { _, err := rundir.Dial(dir + "/socket"); return err },
		"dial by net": func() error { _, err := net.Dial("unix", dir+"/socket"); return err },
	} {
		if err := asNobody(try); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_ = l.Close()
	lock.Release()
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left: %v", err)
	}
}

// asNobody runs fn on a thread of another user, which ends with it.
func asNobody(fn func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 65534, 65534, 65534); errno != 0 {
			done <- errno
			return
		}
		done <- fn()
	}()
	return <-done
}

func TestUnwritable(t *testing.T) {
	if _, err := rundir.Take("/proc/no/lock"); err == nil || !strings.Contains(err.Error(), "/proc/no") {
		t.Errorf("error %v", err)
	}
}

// TestFullDisk: who makes room takes the lock where there is none to say so.
func TestFullDisk(t *testing.T) {
	nstest.Root(t)
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=16k"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	if err := os.WriteFile(dir+"/log", make([]byte, 1<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	lock, err := rundir.Take(dir + "/lock")
	if err != nil {
		t.Fatal(err)
	}
	if !rundir.Held(dir + "/lock") {
		t.Error("nobody has the lock")
	}
	lock.Release()
}

// TestHeld tells of a lock that somebody has, and changes nothing.
func TestHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if rundir.Held(path) {
		t.Error("a lock that is not there is held")
	}
	l, err := rundir.Take(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // who asks first does not take it
		if !rundir.Held(path) {
			t.Error("a lock that is held is not told")
		}
	}
	l.Release()
	if rundir.Held(path) {
		t.Error("a lock that was released is held")
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its file is there: %v", err)
	}
}
