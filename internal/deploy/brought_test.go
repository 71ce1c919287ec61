package deploy_test

import (
	"os"
	"path/filepath"
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestBroughtThatCannotBeRead: a note of which nothing can be made hides no other.
func TestBroughtThatCannotBeRead(t *testing.T) {
	if !nstest.Alone(t) { // nothing is spoilt for other tests
		return
	}
	spoilt, whole := nstest.Owner(t), nstest.Owner(t)
	for _, owner := range []string{spoilt, whole} {
		t.Cleanup(func() { down(t, owner) })
		if err := deploy.NoteBrought(owner, deploy.Brought{Node: "client", Container: "c"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(deploy.StateDir(spoilt), "brought", "ids"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	of, err := deploy.BroughtTo(spoilt)
	if err == nil || len(of) != 1 || of["client"].Container != "c" {
		t.Errorf("%v, %v", of, err)
	}
	all, err := deploy.AllBrought()
	if err == nil || len(all[spoilt]) != 1 || len(all[whole]) != 1 {
		t.Errorf("%v, %v", all, err)
	}
}

// TestStands: a chain is there as long as a container has a place in it, once anything was made of it.
func TestStands(t *testing.T) {
	owner, container := nstest.Owner(t), nstest.Namespace(t)
	t.Cleanup(func() { down(t, owner) })
	b := deploy.Brought{Node: "client", Netns: netns.Path(container)}
	stands := func(want bool, when string) {
		t.Helper()
		if is, err := deploy.Stands(owner); err != nil || is != want {
			t.Errorf("%s: %t, %v", when, is, err)
		}
	}
	for _, step := range []struct {
		when string
		do   func() error
		want bool
	}{
		{"before all", func() error { return nil }, false},
		{"noted", func() error { return deploy.NoteBrought(owner, b) }, false},
		{"seated", func() error { return b.Seat(owner) }, false},
		{"made", func() error { return deploy.Remember(owner, []byte("{}")) }, true},
		{"taken out", func() error { return b.Unseat(owner) }, false},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		stands(step.want, step.when)
	}
}
