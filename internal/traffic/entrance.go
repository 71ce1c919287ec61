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

// To is where the client sends packets of an IP version, or of any with 0.
func (e Ends) To(server *netns.Handle, version int) (netip.Addr, error) {
	for _, a := range append([]netip.Addr{e.Address}, e.Addresses...) {
		if version == 0 || a.Is4() == (version == 4) {
			return a, nil
		}
	}
	return AddressOf(server, e.Own(), version)
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
