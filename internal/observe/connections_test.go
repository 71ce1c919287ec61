package observe

import (
	"os"
	"path/filepath"
	"testing"

	root "nfchain.dev/nfchain/internal/feature/procfs"
)

// TestConnections: each core's line has the connections of all, and what became of those that it had.
func TestConnections(t *testing.T) {
	dir := t.TempDir()
	stat := filepath.Join(dir, "proc", "thread-self", "net", "stat")
	if err := os.MkdirAll(filepath.Join(dir, "proc", "thread-self"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := Connections(root.Root(dir)); err != nil || got != nil {
		t.Errorf("without connection tracking %+v, %v", got, err)
	}
	if err := os.MkdirAll(stat, 0o700); err != nil {
		t.Fatal(err)
	}
	const head = "entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop icmp_error  expect_new expect_create expect_delete search_restart\n"
	for text, want := range map[string]*ConnectionCounts{
		"00000000 0 0 0 0 0 0 0 0 00000000 00000000 00000000 0 0 0 0 0\n":                                                                nil,
		"00000011 0 0 0 0 0 0 0 0 00000009 0000000a 00000002 0 0 0 0 0\n00000011 0 0 0 0 0 0 0 0 00000009 00000001 00000003 0 0 0 0 0\n": {Tracked: 17, Evicted: 5, Dropped: 11},
		"00000000 0 0 0 0 0 0 0 0 00000000 00000000 00000001 0 0 0 0 0\n":                                                                {Evicted: 1},
	} {
		if err := os.WriteFile(filepath.Join(stat, "nf_conntrack"), []byte(head+text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Connections(root.Root(dir))
		if err != nil || (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("of %q: %+v, %v, want %+v", text, got, err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(stat, "nf_conntrack"), []byte(head+"what is this\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Connections(root.Root(dir)); err == nil {
		t.Errorf("what nobody can read is %+v", got)
	}
}
