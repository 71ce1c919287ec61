package run_test

import (
	"os"
	"path/filepath"
	"testing"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/run"
)

// TestImagesAreReadOnce by who brings chains up: the image that a chain was measured with stays its image, and what it is made of is
// not read again.
func TestImagesAreReadOnce(t *testing.T) {
	nstest.Root(t)
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("Dockerfile", "FROM scratch\nCOPY text /\n")
	write("text", "one")
	chain := plantest.Chain(t, nstest.Owner(t), "functions: [{name: web, kind: forward, runtime: docker, container: {image: "+dir+"}}]\n")
	image := func(h *run.Host) string {
		t.Helper()
		p, err := h.Plan(chain, nil, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return p.Images()[dir]
	}
	h := newHost()
	first := image(h)
	write("text", "another")
	if again := image(h); again != first || first == "" {
		t.Errorf("it was %q, and is %q", first, again)
	}
	if other := image(newHost()); other == first {
		t.Errorf("another content is called %q as well", other)
	}
}
