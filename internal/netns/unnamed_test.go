package netns_test

import (
	"testing"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestUnnamed enters a namespace that is in no list and goes when it is closed.
func TestUnnamed(t *testing.T) {
	nstest.Root(t)
	before, err := netns.List()
	if err != nil {
		t.Fatal(err)
	}
	u, err := netns.NewUnnamed()
	if err != nil {
		t.Fatal(err)
	}
	inside := ""
	if err := netns.Do(u.Ref(), func() error { inside = here(t); return nil }); err != nil {
		t.Fatal(err)
	}
	if home := here(t); inside == home {
		t.Error("it is the host's:", home)
	}
	for _, name := range before {
		if name == u.Ref() {
			t.Error("it is listed")
		}
	}
	ref := u.Ref()
	u.Close()
	if err := netns.Do(ref, func() error { return nil }); err == nil {
		t.Error("it can be entered after it was closed")
	}
}
