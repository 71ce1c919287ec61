package trace

import (
	"fmt"
	"net"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
)

// outlet is the interface by which an end sends, its address there, and that of who takes what is sent.
type outlet struct {
	index    int
	own, hop net.HardwareAddr
}

// openTagged opens a socket of frames: a packet of a VLAN has no other way out of an end, which has no interface in it.
func (s *injector) openTagged(first Node) (err error) {
	if s.outlet, err = outletTo(first, s.flow.To.Addr()); err != nil {
		return fmt.Errorf("send from %s: %w", first.Name, err)
	}
	err = netns.Do(first.Namespace, func() (err error) {
		s.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return fmt.Errorf("send from %s: %w", first.Name, err)
	}
	return nil
}

// outletTo an address, as packets without a tag go there.
func outletTo(from Node, to netip.Addr) (outlet, error) {
	h, err := netns.Open(from.Namespace)
	if err != nil {
		return outlet{}, err
	}
	defer h.Close()
	routes, err := h.RouteGet(to.AsSlice())
	if err != nil || len(routes) == 0 {
		return outlet{}, fmt.Errorf("there is no route to %s: %w", to, err)
	}
	device, err := h.LinkByIndex(routes[0].LinkIndex)
	if err != nil {
		return outlet{}, err
	}
	next := routes[0].Gw
	if next == nil {
		next = to.AsSlice()
	}
	neighbours, err := h.NeighList(routes[0].LinkIndex, unix.AF_UNSPEC)
	if err != nil {
		return outlet{}, err
	}
	for _, n := range neighbours {
		if n.IP.Equal(next) && len(n.HardwareAddr) == 6 && len(device.Attrs().HardwareAddr) == 6 {
			return outlet{device.Attrs().Index, device.Attrs().HardwareAddr, n.HardwareAddr}, nil
		}
	}
	return outlet{}, fmt.Errorf("it is not known whose link-layer address %s has; have it sent a packet without a tag first, as by ping", next)
}

// without are the interfaces of a hop that nobody listens at for the VLAN of a flow: packets are for another host there. Those of
// VLAN 0 have a priority alone, and are taken.
func (h Hop) without(f Flow) (all []string) {
	for _, i := range h.Interfaces {
		if f.Tagged && f.VLAN != 0 && !slices.Contains(i.vlans, f.VLAN) {
			all = append(all, i.Name)
		}
	}
	return all
}

func (l outlet) send(fd int, f Flow, payload []byte) error {
	const tag = unix.ETH_P_8021Q>>8 | unix.ETH_P_8021Q&0xff<<8 // in the network's order
	return unix.Sendto(fd, f.frame(l.own, l.hop, payload), 0, &unix.SockaddrLinklayer{Ifindex: l.index, Protocol: tag})
}
