package nstest

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOwnMachine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cmdline")
	for text, want := range map[string]bool{
		"console=ttyS0 nfchain.tests quiet\n": true, "console=ttyS0 quiet\n": false, "nfchain.tests=0\n": false, "": false,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := ownMachine(file); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if ownMachine(filepath.Join(t.TempDir(), "none")) {
		t.Error("a machine that does not tell was started for tests")
	}
}
