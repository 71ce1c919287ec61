package engine

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// leave a bundle as containerd does that is killed when it has begun with a task, of a container, and another containerd, which is this process.
func leave(t *testing.T, namespace, id string) (b bundle, dir string, refusal error) {
	t.Helper()
	at := t.TempDir()
	dir = filepath.Join(at, "io.containerd.runtime.v2.task", namespace, id)
	if err := os.MkdirAll(filepath.Join(dir, "rootfs"), 0o711); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "config.json"), []byte("{}"), 0o600), os.Symlink(at, filepath.Join(dir, "work"))); err != nil {
		t.Fatal(err)
	}
	// The name of a socket is short, and t.TempDir has the test's name in it.
	short, err := os.MkdirTemp("", "c")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(short, "c.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = l.Close(), os.RemoveAll(short) })
	refusal = fmt.Errorf("failed to start shim: mkdir %s: %w: unknown", dir, unix.EEXIST)
	return bundle{id: id, address: filepath.Join(short, "c.sock"), rest: 50 * time.Millisecond}, dir, refusal
}

// clearFor a while, as who makes a task does.
func clearFor(b *bundle, refusal error, gone func() bool) (err error) {
	for deadline := time.Now().Add(5 * time.Second); !gone() && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if err = b.clear(refusal); err != nil {
			return err
		}
	}
	return nil
}

func isGone(dir string) func() bool {
	return func() bool { _, err := os.Lstat(dir); return err != nil }
}

// begin a program in a directory, which is called otherwise, and give the number of its process.
func begin(t *testing.T, dir string, words ...string) (pid int) {
	t.Helper()
	cmd := exec.Command("sleep", "100")
	cmd.Dir = dir
	if len(words) > 0 { // a shell takes words that it does not read
		cmd = exec.Command("sh", append([]string{"-c", "read _", "sh"}, words[1:]...)...)
		cmd.Dir, cmd.Args[0] = dir, words[0]
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = in.Close() })
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	return cmd.Process.Pid
}

// TestBundleLeft: what a killed containerd leaves of a task that it had just begun with is taken away, with the shim that nobody told of it.
func TestBundleLeft(t *testing.T) {
	for name, words := range map[string][]string{
		"alone":       nil,
		"with a shim": {"/usr/bin/containerd-shim-runc-v2", "-namespace", space, "-id", "nfchain.a.web", "-address", "/run/c.sock"},
	} {
		t.Run(name, func(t *testing.T) {
			b, dir, refusal := leave(t, space, "nfchain.a.web")
			if words != nil {
				begin(t, dir, words...)
			}
			if err := clearFor(&b, refusal, isGone(dir)); err != nil || !isGone(dir)() {
				t.Errorf("it is left: %v", err)
			}
		})
	}
}

// TestBundleKept: what may be in use is kept, which is said, and so is what is not the container's.
func TestBundleKept(t *testing.T) {
	for name, c := range map[string]struct {
		namespace, id string
		with          func(t *testing.T, dir string)
		want          string
	}{
		"of another namespace": {namespace: "default"},
		"of another container": {id: "nfchain.a.fwd"},
		"in which runc may have begun": {with: func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, shimsFile), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, want: "systemctl restart containerd"},
		"in which somebody is at work": {with: func(t *testing.T, dir string) { begin(t, dir) }, want: "(sleep) is at work in it; end that"},
		"in which another's shim is at work": {with: func(t *testing.T, dir string) {
			begin(t, dir, "containerd-shim-runc-v2", "-namespace", "default", "-id", "nfchain.a.web")
		}, want: "(containerd-shim-runc-v2) is at work in it; end that"},
		"in which something is": {with: func(t *testing.T, dir string) {
			if err := os.Mkdir(filepath.Join(dir, "rootfs", "etc"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, want: "directory not empty"},
	} {
		t.Run(name, func(t *testing.T) {
			namespace, id := space, "nfchain.a.web"
			if c.namespace != "" {
				namespace = c.namespace
			}
			b, dir, refusal := leave(t, namespace, id)
			if c.id != "" {
				b.id = c.id
			}
			if c.with != nil {
				c.with(t, dir)
			}
			asked := 0
			err := clearFor(&b, refusal, func() bool { asked++; return asked > 40 })
			if isGone(dir)() || (err != nil) != (c.want != "") || err != nil && !strings.Contains(kept(refusal, err).Error(), c.want) {
				t.Errorf("gone: %t, error %v", isGone(dir)(), err)
			}
		})
	}
}

// TestBundleGrows: as long as something is made in it, it is kept.
func TestBundleGrows(t *testing.T) {
	b, dir, refusal := leave(t, space, "nfchain.a.web")
	b.rest = 200 * time.Millisecond
	for i := range 60 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := b.clear(refusal); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := clearFor(&b, refusal, isGone(dir)); err != nil || !isGone(dir)() {
		t.Errorf("it is left: %v", err)
	}
}

// TestNoted: a snapshot is made where a number is found taken once, and not tried again for what else keeps it from being made.
func TestNoted(t *testing.T) {
	taken, full := errors.New("failed to rename: rename /s/new-1 /s/4: file exists: unknown"), errors.New("no space left on device")
	for _, c := range []struct {
		says  []error
		tried int
		want  error
	}{{[]error{nil}, 1, nil}, {[]error{taken, nil}, 2, nil}, {[]error{full, nil}, 1, full}, {[]error{taken, full, nil}, 2, full}, {[]error{taken, taken, taken, nil}, 3, taken}} {
		tried := 0
		err := noted(func() error { tried++; return c.says[tried-1] })
		if err != c.want || tried != c.tried {
			t.Errorf("%v: %v after %d", c.says, err, tried)
		}
	}
}
