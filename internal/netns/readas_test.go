package netns_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestReadAs reads what a process with a root of its own has, and nothing that it merely points at.
func TestReadAs(t *testing.T) {
	nstest.Root(t)
	name := nstest.Namespace(t)
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	secret := filepath.Join(dir, "secret")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	busybox, err := exec.LookPath("busybox")
	must(err)
	program, err := os.ReadFile(busybox)
	must(err)
	must(os.MkdirAll(filepath.Join(root, "run"), 0o755))
	must(os.Mkdir(filepath.Join(root, "proc"), 0o755))
	must(os.WriteFile(filepath.Join(root, "busybox"), program, 0o755))
	must(os.WriteFile(secret, []byte("secret"), 0o600))
	must(os.WriteFile(filepath.Join(root, "run/told"), []byte("load 1\n"), 0o644))
	must(os.WriteFile(filepath.Join(root, "run/long"), make([]byte, 101), 0o644))
	for link, to := range map[string]string{
		"within": "/run/told", "absolute": secret, "up": "../../../../../../../../.." + secret, "loop": "loop", "magic": "/proc/self/fd/3",
	} {
		must(os.Symlink(to, filepath.Join(root, "run", link)))
	}
	must(unix.Mkfifo(filepath.Join(root, "run/fifo"), 0o644))
	must(unix.Mknod(filepath.Join(root, "run/zero"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))))

	cmd := exec.Command("/busybox", "sleep", "1000")
	cmd.Path = "/busybox"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Pdeathsig: syscall.SIGKILL}
	must(netns.Start(name, cmd))
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })

	read := func(path string) (string, error) {
		text, at, err := netns.ReadAs(name, cmd.Process.Pid, path, 100)
		if err == nil && (at.After(time.Now().Add(time.Minute)) || at.Before(time.Now().Add(-time.Hour))) {
			t.Errorf("%s was written at %v", path, at)
		}
		return string(text), err
	}
	for _, path := range []string{"/run/told", "/run/within", "/../run/told"} {
		if text, err := read(path); err != nil || text != "load 1\n" {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
	for path, want := range map[string]string{
		"/run/absolute": "no such file", "/run/up": "no such file", "/run/none": "no such file", "/run/loop": "too many levels", "/run/magic": "no such file",
		"/run/fifo": "no regular file", "/run/zero": "no regular file", "/run": "no regular file", "/run/long": "longer than 100 bytes",
	} {
		if text, err := read(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v; want %q", path, text, err, want)
		}
	}
	sees := exec.Command("sleep", "1000") // the machine's root
	must(netns.Start(name, sees))
	t.Cleanup(func() { _ = sees.Process.Kill(); _ = sees.Wait() })
	for _, path := range []string{"/proc/version", "/sys/kernel/uevent_seqnum"} {
		link := filepath.Join(dir, filepath.Base(path))
		must(os.Symlink(path, link))
		if text, _, err := netns.ReadAs(name, sees.Process.Pid, link, 1000); err == nil || !strings.Contains(err.Error(), "it is the kernel's") {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
	if _, _, err := netns.ReadAs(netns.Host, cmd.Process.Pid, "/run/told", 100); !errors.Is(err, fs.ErrNotExist) {
		t.Error("of a process elsewhere:", err)
	}
	if _, _, err := netns.ReadAs(name, 1<<30, "/run/told", 100); !errors.Is(err, fs.ErrNotExist) {
		t.Error("of no process:", err)
	}
}
