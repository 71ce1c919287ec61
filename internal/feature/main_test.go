package feature

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature/procfs"
)

// TestMain lets the test binary stand in for a machine of its own, see
// TestProbingChangesNothing.
func TestMain(m *testing.M) {
	if os.Getenv(untouchedEnv) != "" {
		os.Exit(untouchedChild())
	}
	os.Exit(m.Run())
}

// needNetNS skips a test where the kernel refuses a network namespace, which a program is
// started in to see: what is tested here is no witness for itself.
func needNetNS(t *testing.T) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^$")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNET}
	err := cmd.Run()
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		t.Skip("no network namespace: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// needWitnesses skips a test where a program is missing that tells the same in its own way.
func needWitnesses(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skip("nothing to witness with: ", err)
		}
	}
}

// tree writes files under a fresh root.
func tree(t *testing.T, files map[string]string) procfs.Root {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		writeFile(t, filepath.Join(dir, name), content, 0o644)
	}
	return procfs.Root(dir)
}

// bin makes a directory of scripts, the only one in PATH.
func bin(t *testing.T, scripts map[string]string) Env {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		writeFile(t, filepath.Join(dir, name), "#!/bin/sh\n"+script+"\n", 0o755)
	}
	return Env{Path: dir}
}

func writeFile(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}
