package netns_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
)

// opens names the namespace that a process started by TestNotSeenInside looks into.
const opens = "NETNS_TEST_OPENS"

func TestMain(m *testing.M) {
	if name := os.Getenv(opens); name != "" {
		os.Exit(lookInto(name))
	}
	if as := os.Getenv(executes); as != "" {
		os.Exit(executing(as))
	}
	os.Exit(nstest.Main(m))
}

// lookInto a namespace from the main thread until standard input ends.
func lookInto(name string) int {
	ended := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); close(ended) }()
	for {
		select {
		case <-ended:
			return 0
		default:
		}
		h, err := netns.Open(name)
		if err != nil {
			return 1
		}
		_, err = h.Request(unix.RTM_GETLINK, 0)
		h.Close()
		if err != nil {
			return 1
		}
	}
}

// TestNotSeenInside: a process that looks into a namespace is never taken for one that
// lives there, and so is not ended with it.
func TestNotSeenInside(t *testing.T) {
	nstest.Root(t)
	name := nstest.Namespace(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), opens+"="+name)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		found, err := netns.Processes([]string{name})
		if err != nil || len(found) > 0 {
			t.Errorf("found %v, %v", found, err)
			break
		}
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// here is the namespace that the calling thread is in.
func here(t testing.TB) string {
	t.Helper()
	to, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func TestCreateAndRemove(t *testing.T) {
	nstest.Root(t)
	name := nstest.Name(t)
	if netns.Exists(name) {
		t.Fatal("there already")
	}
	var inside string
	if err := netns.Create(name, func() error { inside = here(t); return nil }); err != nil {
		t.Fatal(err)
	}
	if inside == here(t) || !netns.Exists(name) || !contains(t, name) {
		t.Error("not made:", inside)
	}
	if err := netns.Create(name, func() error { return nil }); !errors.Is(err, fs.ErrExist) {
		t.Error("made twice:", err)
	}
	if out, err := exec.Command("ip", "-n", name, "link", "show", "lo").CombinedOutput(); err != nil {
		t.Errorf("ip does not know it: %v %s", err, out)
	}
	for range 2 { // gone is gone
		if err := netns.Remove(name); err != nil {
			t.Fatal(err)
		}
		if netns.Exists(name) || contains(t, name) {
			t.Error("still there")
		}
	}
}

func contains(t *testing.T, name string) bool {
	t.Helper()
	names, err := netns.List()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains("\n"+strings.Join(names, "\n")+"\n", "\n"+name+"\n")
}

// TestCreateThatFails leaves nothing under the name.
func TestCreateThatFails(t *testing.T) {
	nstest.Root(t)
	name, wrong := nstest.Name(t), errors.New("setup failed")
	if err := netns.Create(name, func() error { return wrong }); !errors.Is(err, wrong) {
		t.Error(err)
	}
	if contains(t, name) {
		t.Error("a name was left")
	}
}

// TestStaleFile is what a process leaves that is killed while it makes a namespace.
func TestStaleFile(t *testing.T) {
	name := nstest.Namespace(t)
	if err := netns.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(netns.Path(name), nil, 0o444); err != nil {
		t.Fatal(err)
	}
	if netns.Exists(name) || !contains(t, name) {
		t.Error("a stale file is listed and does not exist as a namespace")
	}
	if _, err := netns.Open(name); err == nil {
		t.Error("a stale file was opened as a namespace")
	}
	if err := netns.Do(name, func() error { return nil }); err == nil {
		t.Error("a stale file was entered")
	}
	if err := netns.Create(name, func() error { return nil }); err != nil || !netns.Exists(name) {
		t.Error("not made over a stale file:", err)
	}
}

// TestHalfMade is no namespace to enter, at any moment of its making.
func TestHalfMade(t *testing.T) {
	nstest.Root(t)
	name := nstest.Name(t)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := errors.Join(netns.Create(name, func() error { return nil }), netns.Remove(name)); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	opened, absent := 0, 0
	for opened < 50 || absent < 50 {
		h, err := netns.Open(name)
		switch {
		case err == nil:
			h.Close()
			opened++
		case errors.Is(err, fs.ErrNotExist):
			absent++
		default:
			t.Errorf("%v", err)
			opened, absent = 50, 50
		}
	}
	close(stop)
	<-done
}

// TestManyAtOnce enters two namespaces from 200 goroutines; every thread comes
// back, and the process never leaves the host's.
func TestManyAtOnce(t *testing.T) {
	a, b := nstest.Namespace(t), nstest.Namespace(t)
	want := map[string]string{}
	for _, ns := range []string{a, b} {
		if err := netns.Do(ns, func() error { want[ns] = here(t); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	home := here(t)
	failed := errors.New("fn failed")
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			ns := []string{a, b}[i%2]
			err := netns.Do(ns, func() error {
				runtime.Gosched()
				if got := here(t); got != want[ns] {
					t.Errorf("inside %s instead of %s", got, want[ns])
				}
				if host, err := os.Readlink(netns.Path(netns.Host)); err != nil || host != home {
					t.Errorf("the host became %s: %v", host, err)
				}
				if i%3 == 0 {
					return failed
				}
				return nil
			})
			if i%3 == 0 != errors.Is(err, failed) {
				t.Error(err)
			}
			if got := here(t); got != home {
				t.Errorf("came back to %s instead of %s", got, home)
			}
		}()
	}
	wg.Wait()
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		if at, err := os.Readlink("/proc/self/task/" + thread.Name() + "/ns/net"); err == nil && at != home {
			t.Errorf("thread %s stayed in %s", thread.Name(), at)
		}
	}
}

func TestDoOnHostAndNowhere(t *testing.T) {
	ran := false
	if err := netns.Do(netns.Host, func() error { ran = true; return nil }); err != nil || !ran {
		t.Error(err)
	}
	if err := netns.Do("nfchain-no-such-namespace", func() error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := netns.Open("nfchain-no-such-namespace"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestStartAndProcesses(t *testing.T) {
	a, b := nstest.Namespace(t), nstest.Namespace(t)
	cmd := exec.Command("sleep", "60")
	if err := netns.Start(a, cmd); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	found, err := netns.Processes([]string{a, b})
	if err != nil || len(found) != 1 || len(found[a]) != 1 || found[a][0] != cmd.Process.Pid {
		t.Errorf("found %v, want process %d in %s: %v", found, cmd.Process.Pid, a, err)
	}
}

// TestHandle reads a namespace without entering it.
func TestHandle(t *testing.T) {
	h := nstest.Open(t, nstest.Namespace(t))
	links, err := h.LinkList()
	if err != nil || len(links) != 1 || links[0].Attrs().Name != "lo" {
		t.Errorf("%v %v", links, err)
	}
	if _, err := h.Elsewhere(5, 1); err == nil {
		t.Error("an interface of an unknown namespace was found")
	}
	var st unix.Stat_t
	if err := unix.Fstat(h.FD(), &st); err != nil {
		t.Error(err)
	}
}
