package rundir_test

import (
	"os"
	"path/filepath"
	"testing"

	"nfchain.dev/nfchain/internal/netns/rundir"
)

// TestKeep writes over what is there, makes the directory, and leaves nothing besides; where it
// cannot write, what was there stays.
func TestKeep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "chain")
	path := filepath.Join(dir, "machine-governor")
	for _, text := range []string{"long before", "now"} {
		if err := rundir.Keep(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q, %v; want %q", got, err, text)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".part-machine-governor"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := rundir.Keep(path, []byte("later"), 0o600); err == nil {
		t.Error("nothing is said of what could not be written")
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "now" {
		t.Errorf("%q, %v", got, err)
	}
}
