package container

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/resource"
)

// TestAlone: one by itself is as its engine's command line makes it, and has nothing of the chain.
func TestAlone(t *testing.T) {
	s := Spec{Engine: engine.Docker, Node: "f", Name: "nfchain.edge.f", Network: "n", Beside: "nfchain.edge.g", Names: true}
	if w := s.alone("edge", "/nfchain"); !w.Plain || w.Network != "" || w.Beside != "" || len(w.Mounts) > 0 || w.Name != "nfchain.edge.f.alone" {
		t.Errorf("%+v", w)
	}
	if w := s.wanted("edge", "/nfchain"); w.Plain {
		t.Errorf("that of the chain: %+v", w)
	}
}

// TestCovering: nothing of a longer text is seen behind the one that is written over it.
func TestCovering(t *testing.T) {
	for was, want := range map[int64]string{0: "a b\n", 2: "a b\n", 4: "a b\n", 7: "a b\n\n\n\n"} {
		if got := string(covering([]byte("a b\n"), was)); got != want {
			t.Errorf("over %d bytes %q, not %q", was, got, want)
		}
	}
}

// TestLimited: a container runs on where what it may use is another, and nothing else is.
func TestLimited(t *testing.T) {
	was := Spec{Engine: engine.Docker, Name: "a", Image: "box:1", Limits: engine.Limits{MemoryBytes: 64 << 20}}
	more, other, unlimited := was, was, was
	more.MemoryBytes, more.CPUs = 128<<20, "0"
	other.MemoryBytes, other.ReadOnly = 128<<20, true
	unlimited.Limits = engine.Limits{}
	for what, c := range map[string]struct {
		to   Spec
		want bool
	}{"more": {more, true}, "none": {unlimited, true}, "another": {other, false}, "the same": {was, false}} {
		change := resource.Change{Op: resource.Update, Was: was.Fingerprint(), Spec: c.to}
		if got := Limited(change); got != c.want {
			t.Errorf("%s: from %q to %q: %v", what, change.Was, c.to.Fingerprint(), got)
		}
		if (c.to.Digest() == was.Digest()) != (what != "another") {
			t.Errorf("%s: the digest %s was %s", what, c.to.Digest(), was.Digest())
		}
	}
	if Limited(resource.Change{Op: resource.Update, Was: Ended, Spec: more}) || Limited(resource.Change{Op: resource.Create, Spec: more}) {
		t.Error("one that does not run is limited as it runs")
	}
	if !strings.Contains(was.Fingerprint(), "at most memory 64MiB") {
		t.Errorf("a fingerprint does not tell limits: %s", was.Fingerprint())
	}
}
