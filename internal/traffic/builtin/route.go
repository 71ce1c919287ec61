package builtin

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
)

// exit is where packets to an address leave a namespace.
type exit struct {
	netns          string
	device         netlink.Link
	from           netip.Addr
	fromMAC, toMAC net.HardwareAddr
}

// exitTo finds how a namespace reaches an address, by a device if one is named.
func exitTo(h *netns.Handle, to netip.Addr, device string) (e exit, err error) {
	e.netns = h.Ref
	routes, err := h.RouteGetWithOptions(to.AsSlice(), &netlink.RouteGetOptions{Oif: device})
	if err != nil || len(routes) == 0 {
		return e, fmt.Errorf("there is no route to %s in %q: %w", to, h.Ref, err)
	}
	r := routes[0]
	if e.device, err = h.LinkByIndex(r.LinkIndex); err != nil {
		return e, fmt.Errorf("the interface towards %s: %w", to, err)
	}
	if e.device.Attrs().Flags&net.FlagLoopback != 0 {
		return e, fmt.Errorf("%s is an address of %q itself: packets to it never leave", to, h.Ref)
	}
	e.fromMAC = e.device.Attrs().HardwareAddr
	e.from, _ = netip.AddrFromSlice(r.Src)
	e.from = e.from.Unmap()
	next := to
	if gateway, ok := netip.AddrFromSlice(r.Gw); ok {
		next = gateway.Unmap()
	} else if via, ok := r.Via.(*netlink.Via); ok {
		if gateway, ok := netip.AddrFromSlice(via.Addr); ok {
			next = gateway.Unmap()
		}
	}
	e.toMAC, err = neighbour(h, r.LinkIndex, next)
	if errors.Is(err, errUnresolved) {
		e.toMAC, err = resolve(h, r.LinkIndex, to, next)
	}
	return e, err
}

// resolve has the kernel look a neighbour up, by a packet to the discard service
// (RFC 863) of the address behind it.
func resolve(h *netns.Handle, device int, to, next netip.Addr) (mac net.HardwareAddr, err error) {
	err = h.Do(func() error {
		c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(to, 9)))
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		_, err = c.Write([]byte{0})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look up neighbour %s: %w", next, err)
	}
	for deadline := time.Now().Add(resolveLimit); ; time.Sleep(resolveStep) {
		mac, err = neighbour(h, device, next)
		if !errors.Is(err, errUnresolved) || time.Now().After(deadline) {
			return mac, err
		}
	}
}

// How long a neighbour may take to answer, and how often that is asked.
const (
	resolveLimit = 2 * time.Second
	resolveStep  = 5 * time.Millisecond
)

// errUnresolved says that a neighbour's link-layer address is not known.
var errUnresolved = errors.New("its link-layer address is not known; `ping` it first, or add it with `ip neighbour`")

// neighbour looks up the link-layer address of a neighbour.
func neighbour(h *netns.Handle, device int, address netip.Addr) (net.HardwareAddr, error) {
	family := netlink.FAMILY_V4
	if address.Is6() {
		family = netlink.FAMILY_V6
	}
	list, err := h.NeighList(device, family)
	if err != nil {
		return nil, fmt.Errorf("list the neighbours of %q: %w", h.Ref, err)
	}
	for _, n := range list {
		ip, _ := netip.AddrFromSlice(n.IP)
		if ip.Unmap() == address && len(n.HardwareAddr) == 6 && n.State&(netlink.NUD_FAILED|netlink.NUD_INCOMPLETE) == 0 {
			return n.HardwareAddr, nil
		}
	}
	return nil, fmt.Errorf("neighbour %s: %w", address, errUnresolved)
}

// entrance finds the interface of a namespace that has an address.
func entrance(h *netns.Handle, address netip.Addr) (netlink.Link, error) {
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

// addressOf gives the address of a version that an interface has which has another one.
func addressOf(h *netns.Handle, known netip.Addr, version int) (netip.Addr, error) {
	if version == 0 || known.Is4() == (version == 4) {
		return known, nil
	}
	l, err := entrance(h, known)
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
