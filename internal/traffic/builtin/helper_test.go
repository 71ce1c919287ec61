package builtin

import (
	"context"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/trial"
)

// TestThroughAHelper sends from devices that take no XDP frames themselves, and from a
// veth whose far side is in a namespace without a name.
func TestThroughAHelper(t *testing.T) {
	t.Run("bridge", func(t *testing.T) {
		nstest.Require(t, feature.Bridge)
		exact(t, newRouted(t, trial.Condition{OfferedPps: 2000}), func(h *netns.Handle, out netlink.Link) netlink.Link {
			bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "br0", HardwareAddr: out.Attrs().HardwareAddr}}
			must(t, h.LinkAdd(bridge))
			must(t, h.LinkSetMaster(out, bridge))
			return bridge
		})
	})
	t.Run("macvlan", func(t *testing.T) {
		nstest.Require(t, feature.Macvlan)
		exact(t, newRouted(t, trial.Condition{OfferedPps: 2000}), func(h *netns.Handle, out netlink.Link) netlink.Link {
			above := &netlink.Macvlan{LinkAttrs: netlink.LinkAttrs{Name: "mv0", ParentIndex: out.Attrs().Index}, Mode: netlink.MACVLAN_MODE_BRIDGE}
			must(t, h.LinkAdd(above))
			return above
		})
	})
}

// exact measures a chain whose client has its address on another device.
func exact(t *testing.T, r routed, other func(h *netns.Handle, out netlink.Link) netlink.Link) {
	t.Helper()
	h := nstest.Open(t, r.ClientNetns)
	out, err := h.LinkByName("eth0")
	must(t, err)
	mac := move(t, h, out, other(h, out))
	router := nstest.Open(t, r.router)
	know(t, router, "eth0", []string{"192.0.2.1/30"}, mac)
	o := raw(t, r.run(t))
	if o.Sent+o.Unsent != 2000 || o.Received != o.Sent {
		t.Errorf("%d of %d came, %d were not sent", o.Received, o.Sent, o.Unsent)
	}
	links, err := h.LinkList()
	must(t, err)
	for _, l := range links {
		if strings.HasPrefix(l.Attrs().Name, "nfgen") {
			t.Error("a helper is left:", l.Attrs().Name)
		}
	}
}

// move the client's address, route and neighbour from one device to another.
func move(t *testing.T, h *netns.Handle, from, to netlink.Link) []byte {
	t.Helper()
	address, err := netlink.ParseAddr("192.0.2.1/30")
	must(t, err)
	must(t, h.AddrDel(from, address))
	must(t, h.LinkSetUp(to))
	address, err = netlink.ParseAddr("192.0.2.1/30")
	must(t, err)
	must(t, h.AddrAdd(to, address))
	routeBy(t, h.Ref, "192.0.2.2")
	neighbours, err := h.NeighList(from.Attrs().Index, netlink.FAMILY_V4)
	must(t, err)
	for _, n := range neighbours {
		if n.State == netlink.NUD_PERMANENT {
			know(t, h, to.Attrs().Name, []string{"192.0.2.2/30"}, n.HardwareAddr)
		}
	}
	at, err := h.LinkByName(to.Attrs().Name)
	must(t, err)
	return at.Attrs().HardwareAddr
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestPeerWithoutAName sends to a router that no name leads to, as containers are.
func TestPeerWithoutAName(t *testing.T) {
	r := newRouted(t, trial.Condition{OfferedPps: 2000})
	must(t, netns.Do(r.router, func() error { return nil }))
	held := nstest.Open(t, r.router) // the namespace outlives its name
	must(t, netns.Remove(r.router))
	_ = held
	s, err := Tool{}.Run(context.Background(), r.Job)
	must(t, err)
	if o := raw(t, s); o.Received != o.Sent || o.Sent+o.Unsent != 2000 {
		t.Errorf("%d of %d came, %d were not sent", o.Received, o.Sent, o.Unsent)
	}
}
