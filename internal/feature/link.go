package feature

import (
	"context"
	"fmt"

	"github.com/vishvananda/netlink"
)

// The names of the links made in a scratch namespace.
const (
	scratchLink = "nfprobe0"
	scratchPeer = "nfprobe1"
)

// linkKind is a kind of link and the way to make one over a parent.
type linkKind struct {
	part
	make func(attrs netlink.LinkAttrs, parent int) netlink.Link
	// over tells that the kind needs a parent.
	over bool
}

var (
	vethKind = linkKind{part: part{"link kind veth", "veth", "CONFIG_VETH"},
		make: func(a netlink.LinkAttrs, _ int) netlink.Link {
			return &netlink.Veth{LinkAttrs: a, PeerName: "nfprobe3"}
		}}
	bridgeKind = linkKind{part: part{"link kind bridge", "bridge", "CONFIG_BRIDGE"},
		make: func(a netlink.LinkAttrs, _ int) netlink.Link { return &netlink.Bridge{LinkAttrs: a} }}
	macvlanKind = linkKind{part: part{"link kind macvlan", "macvlan", "CONFIG_MACVLAN"}, over: true,
		make: func(a netlink.LinkAttrs, parent int) netlink.Link {
			a.ParentIndex = parent
			return &netlink.Macvlan{LinkAttrs: a, Mode: netlink.MACVLAN_MODE_BRIDGE}
		}}
	ipvlanKind = linkKind{part: part{"link kind ipvlan", "ipvlan", "CONFIG_IPVLAN"}, over: true,
		make: func(a netlink.LinkAttrs, parent int) netlink.Link {
			a.ParentIndex = parent
			return &netlink.IPVlan{LinkAttrs: a, Mode: netlink.IPVLAN_MODE_L3}
		}}
	dummyKind = linkKind{part: part{"link kind dummy", "dummy", "CONFIG_DUMMY"},
		make: func(a netlink.LinkAttrs, _ int) netlink.Link { return &netlink.Dummy{LinkAttrs: a} }}
	vxlanKind = linkKind{part: part{"link kind vxlan", "vxlan", "CONFIG_VXLAN"},
		make: func(a netlink.LinkAttrs, _ int) netlink.Link {
			return &netlink.Vxlan{LinkAttrs: a, VxlanId: 1, Port: 4789}
		}}
	// A tun device is made by /dev/net/tun.
	tunKind = linkKind{part: part{"tun devices", "tun", "CONFIG_TUN"},
		make: func(a netlink.LinkAttrs, _ int) netlink.Link {
			return &netlink.Tuntap{LinkAttrs: a, Mode: netlink.TUNTAP_MODE_TUN, Flags: netlink.TUNTAP_NO_PI}
		}}
)

// linkAsking asks for a kind by making a link of it.
func linkAsking(kind linkKind) asking {
	return func(ctx context.Context, env Env) answer {
		return kind.try(ctx, env, kind.add)
	}
}

func (k linkKind) add() error {
	parent := 0
	if k.over {
		index, err := addVeth()
		if err != nil {
			return err
		}
		parent = index
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "nfprobe2"
	return netlink.LinkAdd(k.make(attrs, parent))
}

// addVeth makes the pair that other probes stand on, and gives the index of its
// first end.
func addVeth() (int, error) {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = scratchLink
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: scratchPeer}); err != nil {
		return 0, fmt.Errorf("a veth to try it on: %w", err)
	}
	link, err := netlink.LinkByName(scratchLink)
	if err != nil {
		return 0, err
	}
	return link.Attrs().Index, nil
}
