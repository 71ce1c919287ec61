package deploy_test

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// TestNotedBlocks count as long as the chain is the one that they were noted of: else its namespaces
// are asked.
func TestNotedBlocks(t *testing.T) {
	needs(t)
	owner, other := nstest.Owner(t), nstest.Owner(t)
	downAfter(t, owner)
	p := planned(t, owner, spec(forward("a")))
	remember := func() {
		if err := deploy.Remember(owner, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	known := func() []netip.Prefix {
		facts, err := deploy.Facts(plantest.Chain(t, other, spec()))
		if err != nil {
			t.Fatal(err)
		}
		return facts.Blocks[owner]
	}
	file := filepath.Join(deploy.StateDir(owner), "blocks")
	noted := func(from, to string) { // with something changed
		remember()
		if err := deploy.Note(p); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, []byte(strings.ReplaceAll(string(text), from, to)), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	up(t, p)
	if got := known(); !reflect.DeepEqual(got, p.Blocks) {
		t.Errorf("without a note: %v, not %v", got, p.Blocks)
	}
	told := netip.MustParsePrefix("203.0.113.0/26")
	noted(p.Blocks[0].String(), told.String())
	if got := known(); len(got) == 0 || got[0] != told {
		t.Errorf("the note does not count: %v", got)
	}
	remember() // made anew, by whomever
	if got := known(); !reflect.DeepEqual(got, p.Blocks) {
		t.Errorf("a note from before counts: %v", got)
	}
	noted(netns.Identity(p.Client().Namespace), "1:1")
	if got := known(); !reflect.DeepEqual(got, p.Blocks) {
		t.Errorf("a note of another namespace counts: %v", got)
	}
}

// TestReservedBlocks are others' until the lock is released, beside those that the chain has, and none of the chain's own.
func TestReservedBlocks(t *testing.T) {
	needs(t)
	owner, other := nstest.Owner(t), nstest.Owner(t)
	p := planned(t, owner, spec(forward("a")))
	known := func(by string) []netip.Prefix {
		facts, err := deploy.Facts(plantest.Chain(t, by, spec()))
		if err != nil {
			t.Fatal(err)
		}
		return facts.Blocks[owner]
	}
	l, err := deploy.Reserve(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if got := known(other); !reflect.DeepEqual(got, p.Blocks) {
		t.Errorf("another knows of %v, not %v", got, p.Blocks)
	}
	if got := known(owner); len(got) > 0 {
		t.Errorf("its own %v keep it out", got)
	}
	l.Release()
	if got := known(other); len(got) > 0 {
		t.Errorf("released: %v", got)
	}
}

// TestMadeBeforeTurned: who waits for what is new is told as soon as it is there, when packets still go
// through what is to go.
func TestMadeBeforeTurned(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	first := planned(t, owner, forwarders["tcx"]+spec(forward("a")))
	up(t, first)
	second := planned(t, owner, forwarders["tcx"]+spec(forward("b")))
	told := 0
	d := &deploy.Deployer{Made: func() error {
		told++
		for _, node := range []string{"a", "b"} {
			if !netns.Exists(namespace.Name(owner, node)) {
				t.Errorf("%s is not there", node)
			}
		}
		crosses(t, first)
		return nil
	}}
	if _, err := d.Up(t.Context(), second); err != nil || told != 1 {
		t.Fatalf("told %d times, error %v", told, err)
	}
	if netns.Exists(namespace.Name(owner, "a")) {
		t.Error("what is not wanted is left")
	}
	crosses(t, second)
}
