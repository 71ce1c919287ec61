package container_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
)

// TestNames: what is read is what was written, and whoever has the file open, as a container that it is mounted into, has what is
// written over it.
func TestNames(t *testing.T) {
	nstest.Root(t)
	at := resource.Place{Owner: nstest.Owner(t)}
	dir := filepath.Join(rundir.Root, at.Owner)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	apply := func(op resource.Op, spec container.Names) {
		t.Helper()
		change := resource.Change{Op: op, Key: "web", Spec: spec}
		if err := (container.NamesKind{}).Apply(at, []resource.Change{change}); err != nil {
			t.Fatal(err)
		}
	}
	is := func() []resource.Observed {
		t.Helper()
		found, err := (container.NamesKind{}).Read(at)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	first := container.Names{Node: "web", Hosts: []string{"10.1.2.3 a", "10.1.2.4 long-name"}}
	apply(resource.Create, first)
	if got := is(); len(got) != 1 || got[0] != (resource.Observed{Key: "web", Fingerprint: first.Fingerprint()}) {
		t.Errorf("%+v", got)
	}
	mounted, err := os.Open(filepath.Join(dir, "web.etc-hosts"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mounted.Close() }()
	second := container.Names{Node: "web", Hosts: []string{"10.1.2.3 b"}}
	apply(resource.Update, second)
	if text, err := io.ReadAll(mounted); string(text) != "127.0.0.1 localhost\n::1 localhost\n10.1.2.3 b\n" {
		t.Errorf("%q, %v", text, err)
	}
	if got := is(); len(got) != 1 || got[0].Fingerprint != second.Fingerprint() {
		t.Errorf("%+v", got)
	}
	apply(resource.Delete, container.Names{})
	apply(resource.Delete, container.Names{}) // by somebody else before
	if got := is(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
