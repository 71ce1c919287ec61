package traffic

import (
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
)

// Entrance finds the interface of a namespace that has an address.
func Entrance(h *netns.Handle, address netip.Addr) (netlink.Link, error) {
	links, err := h.LinkList()
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		addresses, err := h.AddrList(l, netlink.FAMILY_ALL)
		if err != nil {
			return nil, err
		}
		for _, a := range addresses {
			if ip, ok := netip.AddrFromSlice(a.IP); ok && ip.Unmap() == address {
				return l, nil
			}
		}
	}
	return nil, fmt.Errorf("no interface of %q has the address %s", h.Ref, address)
}

// AddressOf gives the address of a version that an interface has which has another one.
func AddressOf(h *netns.Handle, known netip.Addr, version int) (netip.Addr, error) {
	if version == 0 || known.Is4() == (version == 4) {
		return known, nil
	}
	l, err := Entrance(h, known)
	if err != nil {
		return known, err
	}
	addresses, err := h.AddrList(l, netlink.FAMILY_ALL)
	if err != nil {
		return known, err
	}
	for _, a := range addresses {
		ip, ok := netip.AddrFromSlice(a.IP)
		if ip = ip.Unmap(); ok && ip.Is4() == (version == 4) && !ip.IsLinkLocalUnicast() {
			return ip, nil
		}
	}
	return known, fmt.Errorf("%s in %q has no address of IP version %d", l.Attrs().Name, h.Ref, version)
}
