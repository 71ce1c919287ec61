package entry

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestLookUp finds what package exec finds, and says what it says.
func TestLookUp(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, mode := range map[string]os.FileMode{"here/tool": 0o755, "here/text": 0o644, "there/text": 0o755, "own": 0o755} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	found := 0
	for _, path := range []string{"", dir + "/here", dir + "/here/:" + dir + "/there", ":" + dir + "/here", "here", "none:" + dir + "/there"} {
		t.Setenv("PATH", path)
		for _, name := range []string{"tool", "text", "own", "here", "here/tool", "./here/text", dir + "/here/tool", "here/", "none", "/none", "./own"} {
			want, wrong := exec.LookPath(name)
			got, err := lookUp(name)
			if wrong != nil {
				want = ""
			} else {
				found++
			}
			if got != want || (err == nil) != (wrong == nil) || err != nil && err.Error() != wrong.Error() {
				t.Errorf("%q in %q: %q, %v; want %q, %v", name, path, got, err, want, wrong)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d were found", found)
	}
}

func TestGateOf(t *testing.T) {
	for _, words := range [][]string{{Program}, {Program, Enter}, {Program, Enter, "--"}, {Program, Enter, "sh", "-c"}, {Program, Hosted, "--", "name"}, {Program, "up", "--", "x"}} {
		if is, ok := gateOf(words); ok {
			t.Errorf("%q waits at %+v", words, is)
		}
	}
	for at, words := range map[string][]string{Gate: {Program, Enter, "--", "sh", "-c"}, BesideGate: {Program, Beside, "--", "sh", "-c"}, HostedGate + "name": {Program, Hosted, "--", "name", "sh", "-c"}} {
		if is, ok := gateOf(words); !ok || is.at != at || len(is.args) != 2 || is.args[0] != "sh" || is.rootAlone != (words[1] == Hosted) {
			t.Errorf("%q: %+v, %v", words, is, ok)
		}
	}
}
