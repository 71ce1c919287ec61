package bridge_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/bridge"
)

func place(t *testing.T) (resource.Place, bridge.Spec) {
	t.Helper()
	nstest.Require(t, feature.Bridge)
	owner := nstest.Owner(t)
	p := resource.At(nstest.Open(t, nstest.Namespace(t)), owner)
	return p, bridge.Spec{Owner: owner, Device: "br0", Joins: "a:eth0=b:eth0", MAC: "02:00:00:00:00:01", MTU: 1500, AgeingS: 300}
}

func apply(t *testing.T, k resource.Kind, p resource.Place, op resource.Op, s resource.Spec) {
	t.Helper()
	if err := k.Apply(p, []resource.Change{{Op: op, Key: s.Key(), Spec: s}}); err != nil {
		t.Fatal(err)
	}
}

// as checks that one thing is there, as its spec says.
func as(t *testing.T, k resource.Kind, p resource.Place, s resource.Spec) {
	t.Helper()
	found, err := k.Read(p)
	if err != nil || len(found) != 1 || found[0].Key != s.Key() || found[0].Fingerprint != s.Fingerprint() {
		t.Errorf("found %+v, error %v\nwant %s", found, err, s.Fingerprint())
	}
}

func none(t *testing.T, k resource.Kind, p resource.Place) {
	t.Helper()
	if found, err := k.Read(p); err != nil || len(found) > 0 {
		t.Errorf("found %+v, error %v", found, err)
	}
}

// pair makes a veth pair whose first end may become a port.
func pair(t *testing.T, p resource.Place, name string) {
	t.Helper()
	err := p.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name, Flags: unix.IFF_UP}, PeerName: name + "x"})
	for _, end := range []string{name, name + "x"} {
		if err == nil {
			err = p.LinkSetUp(&netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Name: end}})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestBridgeReadsBack(t *testing.T) {
	p, s := place(t)
	tree, other := s, s
	tree.STP, tree.Snooping = true, true
	other.MAC, other.MTU, other.AgeingS, other.Joins = "02:00:00:00:00:02", 9000, 20, "all"
	for _, step := range []struct {
		op resource.Op
		s  bridge.Spec
	}{{resource.Create, s}, {resource.Create, s}, {resource.Update, tree}, {resource.Update, other}, {resource.Update, s}} {
		apply(t, bridge.Kind{}, p, step.op, step.s)
		as(t, bridge.Kind{}, p, step.s)
	}
	apply(t, bridge.Kind{}, p, resource.Delete, s)
	apply(t, bridge.Kind{}, p, resource.Delete, s)
	none(t, bridge.Kind{}, p)
}

// TestBridgeOfOthers is left alone; one that a killed process left without a mark is not.
func TestBridgeOfOthers(t *testing.T) {
	p, s := place(t)
	if err := p.LinkAdd(&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: s.Device}}); err != nil {
		t.Fatal(err)
	}
	none(t, bridge.Kind{}, p)
	apply(t, bridge.Kind{}, p, resource.Create, s)
	as(t, bridge.Kind{}, p, s)
	l, err := p.LinkByName(s.Device)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.LinkSetAlias(l, "somebody's"); err != nil {
		t.Fatal(err)
	}
	none(t, bridge.Kind{}, p)
	err = bridge.Kind{}.Apply(p, []resource.Change{{Op: resource.Create, Key: s.Key(), Spec: s}})
	if err == nil || !strings.Contains(err.Error(), "is not this chain's") {
		t.Error(err)
	}
}

func TestPortReadsBack(t *testing.T) {
	p, s := place(t)
	second := s
	second.Device, second.MAC = "br1", "02:00:00:00:00:02"
	apply(t, bridge.Kind{}, p, resource.Create, s)
	apply(t, bridge.Kind{}, p, resource.Create, second)
	pair(t, p, "p0")
	told := bridge.PortSpec{Bridge: "br0", Device: "p0", MAC: "02:00:00:00:00:10"}
	learns, moved, pairs, several := told, told, told, told
	several.Also, several.Hairpin = []string{"02:00:00:00:00:0f", "02:00:00:00:00:12"}, true
	learns.Learns, learns.Floods = true, true
	moved.Bridge, moved.MAC = "br1", "02:00:00:00:00:11"
	pairs.Floods = true
	none(t, bridge.PortKind{}, p)
	for _, step := range []bridge.PortSpec{told, told, learns, told, several, moved, pairs, told} {
		apply(t, bridge.PortKind{}, p, resource.Update, step)
		as(t, bridge.PortKind{}, p, step)
	}
	apply(t, bridge.PortKind{}, p, resource.Delete, told)
	apply(t, bridge.PortKind{}, p, resource.Delete, told)
	none(t, bridge.PortKind{}, p)
	if _, err := p.LinkByName("p0"); err != nil {
		t.Error("the interface went with its place at the bridge:", err)
	}
}

// TestMostPorts is as many as the kernel gives a bridge, and not one more.
func TestMostPorts(t *testing.T) {
	p, s := place(t)
	apply(t, bridge.Kind{}, p, resource.Create, s)
	br, err := p.LinkByName(s.Device)
	if err != nil {
		t.Fatal(err)
	}
	for i := range bridge.MostPorts {
		err := p.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: fmt.Sprintf("p%d", i), MasterIndex: br.Attrs().Index}, PeerName: fmt.Sprintf("x%d", i)})
		if err != nil {
			t.Fatalf("port %d: %v", i+1, err)
		}
	}
	pair(t, p, "more")
	port := bridge.PortSpec{Bridge: s.Device, Device: "more", MAC: "02:00:00:00:00:10"}
	err = bridge.PortKind{}.Apply(p, []resource.Change{{Op: resource.Create, Key: port.Key(), Spec: port}})
	if !errors.Is(err, unix.EXFULL) || !strings.Contains(err.Error(), "1023 ports") {
		t.Error(err)
	}
}
