package deploy_test

import (
	"os/exec"
	"testing"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestNamesOfJoined: of what somebody leaves who is killed while containers join namespaces the next up takes the names away, of a namespace that
// nobody needs with it, and ends nothing that has joined one; down leaves none either.
func TestNamesOfJoined(t *testing.T) {
	nstest.Root(t)
	for _, wiring := range []string{"veth", "ebpf"} {
		if wiring == "ebpf" && !nstest.Has("bpf.peer") {
			continue
		}
		owner := nstest.Owner(t)
		downAfter(t, owner)
		p := planned(t, owner, "wiring: "+wiring+"\n"+spec(forward("a")))
		up(t, p)
		its, none := "nfchain."+owner+".a", "nfchain."+owner+".b.joining"
		lives := exec.Command("sleep", "1000")
		for _, err := range []error{netns.NameOf(its+".joining", its), netns.Create(none, func() error { return nil }), netns.Start(its, lives)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() { _ = lives.Process.Kill(); _ = lives.Wait() })
		if changes := dryUp(t, p); len(changes) > 0 || !netns.Exists(none) {
			t.Errorf("%s: told of %v", wiring, changes)
		}
		up(t, p)
		if netns.Exists(its+".joining") || netns.Exists(none) {
			t.Errorf("%s: names are left", wiring)
		}
		if !netns.Has(its, lives.Process.Pid) {
			t.Errorf("%s: what had joined has ended", wiring)
		}
		crosses(t, p)
		if err := netns.NameOf(its+".joining", its); err != nil {
			t.Fatal(err)
		}
		down(t, owner)
		if netns.Exists(its+".joining") || netns.Exists(its) {
			t.Errorf("%s: names are left", wiring)
		}
	}
}
