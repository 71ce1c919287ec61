package traffic

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
)

// Exit is where packets to an address leave a namespace.
type Exit struct {
	Device netlink.Link
	// From is the address that the kernel would send from.
	From netip.Addr
	// ToMAC is the next hop's link-layer address.
	FromMAC, ToMAC net.HardwareAddr
}

// Exit of a job's client towards an address of the server.
func (j Job) Exit(to netip.Addr) (Exit, error) {
	h, err := netns.Open(j.ClientNetns)
	if err != nil {
		return Exit{}, err
	}
	defer h.Close()
	return ExitTo(h, to, "")
}

// ExitTo finds how a namespace reaches an address, by a device if one is named. A
// neighbour that the kernel does not know yet is looked up.
func ExitTo(h *netns.Handle, to netip.Addr, device string) (e Exit, err error) {
	if device != "" {
		if _, err := Device(h, device); err != nil {
			return e, err
		}
	}
	routes, err := h.RouteGetWithOptions(to.AsSlice(), &netlink.RouteGetOptions{Oif: device})
	if err != nil || len(routes) == 0 {
		return e, fmt.Errorf("there is no route to %s %s: %w", to, place(h), err)
	}
	r := routes[0]
	if e.Device, err = h.LinkByIndex(r.LinkIndex); err != nil {
		return e, fmt.Errorf("the interface towards %s: %w", to, err)
	}
	if e.Device.Attrs().Flags&net.FlagLoopback != 0 {
		return e, fmt.Errorf("%s is an address %s itself: packets to it never leave", to, place(h))
	}
	e.FromMAC = e.Device.Attrs().HardwareAddr
	e.From, _ = netip.AddrFromSlice(r.Src)
	e.From = e.From.Unmap()
	next := to
	if gateway, ok := netip.AddrFromSlice(r.Gw); ok {
		next = gateway.Unmap()
	} else if via, ok := r.Via.(*netlink.Via); ok {
		if gateway, ok := netip.AddrFromSlice(via.Addr); ok {
			next = gateway.Unmap()
		}
	}
	e.ToMAC, err = neighbour(h, r.LinkIndex, next)
	if errors.Is(err, errUnresolved) {
		e.ToMAC, err = resolve(h, r.LinkIndex, to, next)
	}
	return e, err
}

// ErrNoDevice is returned for an interface that is not there.
var ErrNoDevice = errors.New("`ip link` shows those there are")

// Device of a namespace by its name.
func Device(h *netns.Handle, name string) (netlink.Link, error) {
	l, err := h.LinkByName(name)
	if errors.As(err, new(netlink.LinkNotFoundError)) {
		return nil, fmt.Errorf("there is no interface %q %s; %w", name, place(h), ErrNoDevice)
	}
	if err != nil {
		return nil, fmt.Errorf("interface %q %s: %w", name, place(h), err)
	}
	return l, nil
}

// place of a namespace in a sentence.
func place(h *netns.Handle) string {
	if h.Ref == "" {
		return "in this namespace"
	}
	return fmt.Sprintf("in %q", h.Ref)
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
