package watch

import (
	"errors"
	"testing"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// TestUnsure: what cannot be read is not taken for gone, and what is gone is told.
func TestUnsure(t *testing.T) {
	h, err := netns.Open(nstest.Namespace(t))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	gone := &port{name: "port"}
	if err := gone.open(resource.At(h, "nobody"), nil); err != nil || !gone.gone {
		t.Errorf("of a port that is not there: gone %v, error %v", gone.gone, err)
	}
	bare := &port{name: "lo"}
	if err := bare.open(resource.At(h, "nobody"), nil); err != nil || !bare.gone {
		t.Errorf("of a port that nothing steers: gone %v, error %v", bare.gone, err)
	}
	shut := *h
	shut.Ref = "nobodys" // it cannot be entered
	held := &port{name: "lo", steer: &steer.Port{}}
	if err := held.open(resource.At(&shut, "nobody"), nil); err == nil || held.gone || held.steer == nil {
		t.Errorf("of a port that could not be looked at: gone %v, held %v, error %v", held.gone, held.steer, err)
	}
}

// TestSharesAreToldAgain where another program has come to a port that keeps away from replicas: it may have begun without the
// shares that others get meanwhile.
func TestSharesAreToldAgain(t *testing.T) {
	nstest.Require(t, feature.Veth, feature.BPFPeer, feature.BPFClsact)
	owner := nstest.Owner(t)
	h := nstest.Open(t, nstest.Namespace(t))
	for _, name := range []string{"port", "one", "two"} {
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: name + "far"}
		if err := errors.Join(h.LinkAdd(pair), h.LinkSetAlias(pair, resource.Mark(owner)+name)); err != nil {
			t.Fatal(err)
		}
	}
	all := []steer.Replica{{Number: 1, Port: "one", Weight: 1}, {Number: 2, Port: "two", Weight: 1}}
	spec := steer.Spec{Device: "port", Hook: steer.Clsact, Among: &steer.Among{Of: "web", Replicas: all, Flows: 1 << 12, Idle: 1 << 40}}
	if err := (steer.Kind{}).Apply(resource.At(h, owner), []resource.Change{{Op: resource.Create, Key: "port", Spec: spec}}); err != nil {
		t.Fatal(err)
	}
	told := 0
	others := func() *steer.Shares { told++; return steer.SharesWithout(steer.Number(1), all) }
	p := &port{name: "port"}
	for want := range 3 {
		if err := p.open(resource.At(h, owner), nil); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := p.turn(0, steer.Number(1), others); err != nil {
				t.Fatal(err)
			}
		}
		if told != want+1 {
			t.Errorf("after %d programs shares are told %d times", want+1, told)
		}
		p.close() // as if another program were there, in which replicas fail already
	}
}
