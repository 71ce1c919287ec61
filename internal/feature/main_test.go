package feature

import (
	"os"
	"path/filepath"
	"testing"

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
