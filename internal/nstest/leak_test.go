package nstest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/netns"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// TestLeaksAreSeen leaks one thing of each kind for a while.
func TestLeaksAreSeen(t *testing.T) {
	Root(t)
	before := descriptors()
	name := Name(t)
	if err := netns.Create(name, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	file, err := os.CreateTemp(t.TempDir(), "leaked")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sleep", "60")
	if err := netns.Start(name, cmd); err != nil {
		t.Fatal(err)
	}
	seen := strings.Join(append(append(named(), children()...), opened(before)...), "\n")
	for _, what := range []string{netns.Path(name), "mount ", "process ", "sleep 60", file.Name()} {
		if !strings.Contains(seen, what) {
			t.Errorf("%q is not among what is left:\n%s", what, seen)
		}
	}
	_ = file.Close()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err := netns.Remove(name); err != nil {
		t.Fatal(err)
	}
	if left := leftovers(before); len(left) > 0 {
		t.Errorf("after all was removed: %v", left)
	}
}

func TestOwnersDiffer(t *testing.T) {
	if a, b := Owner(t), Owner(t); a == b || !strings.HasPrefix(a, tag) || len(Device(t)) > 15 {
		t.Error(a, b)
	}
}
