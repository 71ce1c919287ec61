package link_test

import (
	"net"
	"os"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
)

// TestCarry: an end that comes to another namespace is the one that it was, raised and quiet as before, and what it is joined to stays as it
// is. What is not the pair's, though it has its name, stays where it is, and so does what is nobody's.
func TestCarry(t *testing.T) {
	nstest.Root(t)
	owner := nstest.Owner(t)
	from, to, far := nstest.Open(t, nstest.Namespace(t)), nstest.Open(t, nstest.Namespace(t)), nstest.Open(t, nstest.Namespace(t))
	pair := func(device, port, mac string) link.Spec {
		return link.Spec{Owner: owner, MTU: 1600, Quiet: true, A: link.End{Node: "f", Namespace: from.Ref, Device: device, MAC: "02:00:00:00:00:0" + mac},
			B: link.End{Node: "_wiring", Namespace: far.Ref, Device: port, MAC: "02:00:00:00:01:0" + mac}}
	}
	west, east := pair("eth0", "port0", "1"), pair("eth1", "port1", "2")
	other := east // which joins the interface to another one
	other.B.Device = "port9"
	back := link.Spec{Owner: owner, MTU: 1500, A: link.End{Node: "g", Namespace: far.Ref, Device: "eth7", MAC: "02:00:00:00:00:07"},
		B: link.End{Node: "f", Namespace: from.Ref, Device: "eth8", MAC: "02:00:00:00:00:08"}}
	for _, made := range []struct {
		h *netns.Handle
		s link.Spec
	}{{from, west}, {from, east}, {far, back}} {
		change := resource.Change{Op: resource.Create, Key: made.s.Key(), Spec: made.s}
		if err := (link.Kind{}).Apply(resource.At(made.h, owner), []resource.Change{change}); err != nil {
			t.Fatal(err)
		}
	}
	if err := from.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "other"}, PeerName: "another"}); err != nil {
		t.Fatal(err)
	}
	before := indexes(t, far)
	carry := func(want bool, pairs ...link.Spec) {
		t.Helper()
		all, err := link.Carry(resource.At(from, owner), resource.At(to, owner), pairs)
		if err != nil || all != want {
			t.Fatalf("all were carried: %v, %v", all, err)
		}
	}
	carry(false, west, other)
	if is := indexes(t, to); len(is) != 2 || is["eth0"] == 0 {
		t.Fatalf("%v", is)
	}
	carry(true, east, back)
	if is := indexes(t, far); len(is) != len(before) || is["port0"] != before["port0"] || is["port1"] != before["port1"] || is["eth7"] != before["eth7"] {
		t.Errorf("what it is joined to was %v and is %v", before, is)
	}
	if is := indexes(t, from); len(is) != 3 || is["other"] == 0 || is["another"] == 0 {
		t.Errorf("there are left %v", is)
	}
	for _, s := range []link.Spec{west, east} {
		l, err := to.LinkByName(s.A.Device)
		if err != nil || l.Attrs().HardwareAddr.String() != s.A.MAC || l.Attrs().MTU != s.MTU || l.Attrs().Flags&net.FlagUp == 0 {
			t.Errorf("%s is %+v, %v", s.A.Device, l, err)
		}
		err = to.Do(func() error {
			text, err := os.ReadFile("/proc/sys/net/ipv6/conf/" + s.A.Device + "/disable_ipv6")
			if err == nil && strings.TrimSpace(string(text)) != "1" {
				t.Errorf("%s is not quiet any more", s.A.Device)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if l, err := to.LinkByName("eth8"); err != nil || l.Attrs().Flags&net.FlagUp == 0 {
		t.Errorf("%+v, %v", l, err)
	}
}

func indexes(t *testing.T, h *netns.Handle) map[string]int {
	t.Helper()
	all, err := link.Indexes(h)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
