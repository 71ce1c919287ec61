package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/netns"
)

// put a file where there may be no directory yet.
func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// withPrograms of LXC that do as a script has it.
func withPrograms(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range lxcPrograms {
		put(t, filepath.Join(dir, name), "#!/bin/sh\n"+script+"\n")
		if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

// TestLXCThere: what LXC lacks is said with what to do.
func TestLXCThere(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Open(t.Context(), LXC); !errors.Is(err, ErrNotThere) || !strings.Contains(err.Error(), "apt-get install lxc") {
		t.Errorf("without its programs: %v", err)
	}
	withPrograms(t, "echo 5.0.2")
	t.Setenv(lxcVariable, "/a:b")
	if _, err := Open(t.Context(), LXC); !errors.Is(err, ErrNotThere) || !strings.Contains(err.Error(), "/a:b") || !strings.Contains(err.Error(), "set "+lxcVariable) {
		t.Errorf("with a directory that it cannot have: %v", err)
	}
	if version, err := (lxc{}).Version(t.Context()); err != nil || version != "5.0.2" {
		t.Errorf("%q, %v", version, err)
	}
	l := lxc{t.TempDir()}
	if all, err := l.List(t.Context(), ""); err != nil || len(all) > 0 {
		t.Errorf("without any: %v, %v", all, err)
	}
	put(t, filepath.Join(l.containers(), "stray"), "")
	if all, err := l.List(t.Context(), ""); err != nil || len(all) > 0 {
		t.Errorf("with a file that is no container: %v, %v", all, err)
	}
	if _, err := l.Inspect(t.Context(), "stray"); !errors.Is(err, ErrNotThere) {
		t.Errorf("a file that is no container: %v", err)
	}
}

// TestLXCHangs: a program that does not end is ended.
func TestLXCHangs(t *testing.T) {
	withPrograms(t, "exec sleep 600")
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := (lxc{}).Version(ctx); err == nil || !strings.Contains(err.Error(), "lxc-start") {
		t.Error(err)
	}
}

// TestLXCEnded tells how a container ended by what is left of it, and waits for who has that to write.
func TestLXCEnded(t *testing.T) {
	was := groupsAt
	groupsAt = t.TempDir()
	t.Cleanup(func() { groupsAt = was })
	l := lxc{t.TempDir()}
	for id, c := range map[string]struct {
		ended, memory, how string
		code               int
	}{
		"well": {"0\n", "", "ended with exit code 0", 0}, "ill": {"7\n", "oom_kill 0\n", "ended with exit code 7", 7},
		"full": {"137\n", "low 0\noom_kill 1\n", "ended: it needed more memory than it may have", 137}, "killed": {"", "", "ended, and LXC does not know how", UnknownCode},
	} {
		put(t, l.at(id, lxcEnded), c.ended)
		put(t, l.at(id, lxcMemory), c.memory)
		if pid, code, how := l.state(t.Context(), id); pid != 0 || code != c.code || how != c.how {
			t.Errorf("%s: %d, %d, %q", id, pid, code, how)
		}
	}
	if pid, code, how := l.state(t.Context(), "new"); pid != 0 || code != 0 || how != "" {
		t.Errorf("one that has not run: %d, %d, %q", pid, code, how)
	}
	put(t, l.at("shot", lxcEnded), "0\n")
	put(t, l.at("shot", lxcLog), "lxc-start c 2026 INFO     error - ../src/lxc/error.c:lxc_error_set_and_log:34 - Child <5> ended on signal Killed(9)\n")
	if _, code, how := l.state(t.Context(), "shot"); code != 137 || how != "ended with exit code 137" {
		t.Errorf("one that a signal ended: %d, %q", code, how)
	}
	file, taken, err := l.take("well")
	if err != nil || taken {
		t.Fatal(taken, err)
	}
	if _, taken, err := l.take("well"); err != nil || !taken {
		t.Errorf("taken twice: %v, %v", taken, err)
	}
	told := make(chan string)
	go func() { _, _, how := l.state(t.Context(), "well"); told <- how }()
	if _, err := file.WriteString("3\n"); err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
	if how := <-told; how != "ended with exit code 3" {
		t.Error(how)
	}
}

// TestLXCHangsWhenEnded: a monitor that never tells of an end is waited for no longer than whoever asks.
func TestLXCHangsWhenEnded(t *testing.T) {
	l := lxc{t.TempDir()}
	put(t, l.at("c", lxcEnded), "")
	file, _, err := l.take("c")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, how := l.state(ctx, "c"); !strings.Contains(how, "hangs") {
		t.Error(how)
	}
}

// TestLXCTurn: who looks at a container keeps nobody from starting it, who starts it has the time for that, and who hangs is not taken for one
// that does.
func TestLXCTurn(t *testing.T) {
	was := groupsAt
	groupsAt = t.TempDir()
	t.Cleanup(func() { groupsAt = was })
	l := lxc{t.TempDir()}
	name := l.at("c", lxcEnded)
	put(t, name, "")
	var file *os.File
	taken := true
	for range 100 { // on a busy machine who looks may do so for too long
		looks, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if locked(looks) {
			t.Fatal("locked")
		}
		time.AfterFunc(looksWithin/5, func() { _ = looks.Close() })
		if file, taken, err = l.take("c"); err != nil {
			t.Fatal(err)
		}
		if !taken {
			break
		}
	}
	if taken {
		t.Fatal("who looks keeps others from starting it")
	}
	if !l.watched("c") {
		t.Error("not watched")
	}
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	if _, runs, err := l.turn(ctx, "c"); runs || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while another starts it: %v, %v", runs, err)
	}
	long := time.Now().Add(-time.Hour) // ago it started, and so hangs now
	if err := os.Chtimes(name, long, long); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(endsWithin+4*looksWithin, func() { _ = file.Close() })
	again, runs, err := l.turn(t.Context(), "c")
	if err != nil || runs {
		t.Fatalf("when another that hung has ended: %v, %v", runs, err)
	}
	_ = again.Close()
}

// TestLXCCleared takes the groups of a container and of its monitor away, and not containerd's of the same name.
func TestLXCCleared(t *testing.T) {
	was := groupsAt
	groupsAt = t.TempDir()
	t.Cleanup(func() { groupsAt = was })
	ours := []string{"lxc-c", "lxc-c.monitor", "memory/lxc-c", "memory/lxc-c.pivot"}
	others := []string{"c", "c.monitor", "memory/c", "lxc.pivot"}
	for _, group := range append(others, ours...) {
		if err := os.MkdirAll(filepath.Join(groupsAt, group), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := clearGroups(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	for _, group := range ours {
		if exists(filepath.Join(groupsAt, group)) {
			t.Errorf("%s is left", group)
		}
	}
	for _, group := range others {
		if !exists(filepath.Join(groupsAt, group)) {
			t.Errorf("%s is gone", group)
		}
	}
}

// TestLXCStartCutOff leaves nobody who starts the container when that has been cut off.
func TestLXCStartCutOff(t *testing.T) {
	was := groupsAt
	groupsAt = t.TempDir()
	t.Cleanup(func() { groupsAt = was })
	at := filepath.Join(t.TempDir(), "pid")
	withPrograms(t, "echo $$ >"+at+".part; mv "+at+".part "+at+"; exec sleep 600")
	l := lxc{t.TempDir()}
	owner := "../.." + t.TempDir() // whose log is there
	r := record{Labels: map[string]string{labelOwner: owner, labelNode: "a"}, Spec: oci.Spec{Process: &specs.Process{Args: []string{"a"}}}}
	if err := r.keep(l.at("c", lxcRecord)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		for !exists(at) && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	if err := l.start(ctx, "c"); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "fuser") {
		t.Error(err)
	}
	text, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); !Over(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			_ = unix.Kill(pid, unix.SIGKILL)
			t.Fatal("it starts yet")
		}
	}
	if l.watched("c") {
		t.Error("watched")
	}
}

// TestLXCAttached: a command is over when it has ended, whatever it has left running.
func TestLXCAttached(t *testing.T) {
	var out strings.Builder
	at := filepath.Join(t.TempDir(), "pid")
	c := exec.Command("sh", "-c", "sleep 600 & echo $! >"+at+"; echo out")
	c.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	begun := time.Now()
	if err := attached(t.Context(), "c", c, Streams{Out: &out}); err != nil || out.String() != "out\n" || time.Since(begun) > time.Minute {
		t.Errorf("%v, %q after %v", err, out.String(), time.Since(begun))
	}
	text, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	c = exec.Command("sleep", "600")
	c.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	var ended *exec.ExitError
	if err := attached(ctx, "c", c, Streams{Out: &out}); !errors.As(err, &ended) {
		t.Error(err)
	}
}

// TestLXCUmask of whoever makes a container does not keep its users from its files.
func TestLXCUmask(t *testing.T) {
	if unix.Geteuid() != 0 {
		t.Skip("only root may change what is root")
	}
	was := unix.Umask(0o077)
	defer unix.Umask(was)
	root := filepath.Join(t.TempDir(), "root")
	if err := directory(root); err != nil {
		t.Fatal(err)
	}
	if err := netns.Unseen(func() error { return points(root, map[string]fs.FileMode{"/etc/f": 0, "/data/more": fs.ModeDir}) }); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]fs.FileMode{"": 0o755, "/etc": 0o755, "/etc/f": 0o644, "/data/more": 0o755} {
		if info, err := os.Stat(root + name); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// TestLXCFull: where a disk is full, nothing is left of a container that was begun.
func TestLXCFull(t *testing.T) {
	if unix.Geteuid() != 0 {
		t.Skip("only root may mount a small disk")
	}
	l := lxc{t.TempDir()}
	if err := netns.Unseen(func() error {
		if err := unix.Mount("none", l.dir, "tmpfs", 0, "size=4k"); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(l.dir, "filler"), []byte("all of it"), 0o600); err != nil {
			return err
		}
		if _, err := l.begin(t.Context(), "c", Wanted{Name: "c", Node: "c"}, ""); !errors.Is(err, unix.ENOSPC) {
			t.Errorf("%v, want that there is no space", err)
		}
		left, err := os.ReadDir(l.containers())
		if len(left) > 0 {
			t.Errorf("%v is left", left)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestLXCLimits are written where control groups of either version have them, and nowhere else.
func TestLXCLimits(t *testing.T) {
	was := groupsAt
	t.Cleanup(func() { groupsAt = was })
	for _, c := range []struct{ of, file, want string }{
		{"memory/lxc-c", "memory.limit_in_bytes", "67108864"}, {"cpu/lxc-c", "cpu.cfs_quota_us", "50000"},
		{"lxc-c", "memory.max", "67108864"}, {"lxc-c", "cpu.max", "50000 100000"}, {"unified/lxc-c", "cpuset.cpus", "0"},
		{"c", "memory.max", "before"}, {"unified/c", "cpuset.cpus", "before"}, // containerd's
	} {
		groupsAt = t.TempDir()
		name := filepath.Join(groupsAt, c.of, c.file)
		put(t, name, "before")
		if err := limitGroups("c", Limits{CPUs: "0", CPUTime: 0.5, MemoryBytes: 64 << 20}); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != c.want {
			t.Errorf("%s: %q, %v; want %q", name, text, err, c.want)
		}
		if entries, err := os.ReadDir(filepath.Dir(name)); err != nil || len(entries) != 1 {
			t.Errorf("%v, %v", entries, err)
		}
	}
}

// TestLXCTold: what LXC cannot be told is said before anything is taken away.
func TestLXCTold(t *testing.T) {
	for want, w := range map[string]Wanted{
		"":                   {Name: "a", Node: "a", Env: []string{"A=b"}, Seccomp: api.Unconfined},
		"line break":         {Name: "a", Node: "a", Env: []string{"A=b\nc"}},
		"syscalls[0].action": {Name: "a", Node: "a", Seccomp: `{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["read"],"action":"SCMP_ACT_LOG"}]}`},
		"keeps it from being fetched; have it fetched once by pull: missing": {Name: "a", Node: "a", Image: "nginx:1.25", Pull: "never"},
	} {
		_, err := (lxc{t.TempDir()}).Prepare(t.Context(), w, nil)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestLXCPoints are made in a container's files, wherever their links lead, and not in those of the machine.
func TestLXCPoints(t *testing.T) {
	if unix.Geteuid() != 0 {
		t.Skip("only root may change what is root")
	}
	root, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	if err := os.Symlink(outside, filepath.Join(root, "etc")); err != nil {
		t.Fatal(err)
	}
	made := map[string]fs.FileMode{"/etc/hosts": 0, "/data/more": fs.ModeDir, "/.nfchain": 0}
	if err := netns.Unseen(func() error { return points(root, made) }); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]fs.FileMode{filepath.Join(outside, "hosts"): 0, "/data/more": fs.ModeDir, "/.nfchain": 0} {
		if info, err := os.Stat(filepath.Join(root, name)); err != nil || info.Mode().Type() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if exists(outside) {
		t.Error("made outside")
	}
	if err := os.Symlink("round", filepath.Join(root, "round")); err != nil {
		t.Fatal(err)
	}
	if err := netns.Unseen(func() error { return points(root, map[string]fs.FileMode{"/round/f": 0}) }); err == nil {
		t.Error("nothing is said of a link to itself")
	}
}
