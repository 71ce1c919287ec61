package traffic

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
)

// benchMTU holds the largest frame there is.
const benchMTU = 9216

// Workbench makes two namespaces without names and a veth pair between them, over which
// tools find what they can do by themselves. The kernel frees all of it when it is done
// with, or when this process ends.
func Workbench(ipv4 bool) (e Ends, done func(), err error) {
	a, err := netns.NewUnnamed()
	if err != nil {
		return e, nil, err
	}
	b, err := netns.NewUnnamed()
	if err != nil {
		a.Close()
		return e, nil, err
	}
	done = func() { a.Close(); b.Close() }
	from, to := netip.MustParsePrefix("2001:db8::1/64"), netip.MustParsePrefix("2001:db8::2/64")
	if ipv4 {
		from, to = netip.MustParsePrefix("192.0.2.1/24"), netip.MustParsePrefix("192.0.2.2/24")
	}
	e = Ends{ClientNetns: a.Ref(), ServerNetns: b.Ref(), ClientNode: "source", ServerNode: "sink", Address: to.Addr()}
	if err := join(e, from, to); err != nil {
		done()
		return e, nil, fmt.Errorf("make a veth pair: %w", err)
	}
	return e, done, nil
}

// The link-layer addresses of a workbench's veth pair.
var (
	benchFrom = net.HardwareAddr{2, 0, 0, 0, 0, 1}
	benchTo   = net.HardwareAddr{2, 0, 0, 0, 0, 2}
)

// join two namespaces, each of which knows the other's address.
func join(e Ends, from, to netip.Prefix) error {
	a, err := netns.Open(e.ClientNetns)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := netns.Open(e.ServerNetns)
	if err != nil {
		return err
	}
	defer b.Close()
	pair := netlink.NewVeth(netlink.LinkAttrs{Name: "veth0", MTU: benchMTU, HardwareAddr: benchFrom})
	pair.PeerName, pair.PeerHardwareAddr, pair.PeerNamespace = "veth0", benchTo, netlink.NsFd(b.FD())
	if err := a.LinkAdd(pair); err != nil {
		return err
	}
	if err := settle(a, from, to.Addr(), benchTo); err != nil {
		return err
	}
	return settle(b, to, from.Addr(), benchFrom)
}

// settle an end of the veth pair: its address, and who is at the other end.
func settle(h *netns.Handle, own netip.Prefix, other netip.Addr, mac net.HardwareAddr) error {
	l, err := h.LinkByName("veth0")
	if err != nil {
		return err
	}
	if err := h.LinkSetUp(l); err != nil {
		return err
	}
	address := &netlink.Addr{IPNet: &net.IPNet{IP: own.Addr().AsSlice(), Mask: net.CIDRMask(own.Bits(), own.Addr().BitLen())}}
	if own.Addr().Is6() {
		address.Flags = unix.IFA_F_NODAD
	}
	if err := h.AddrAdd(l, address); err != nil {
		return err
	}
	return h.NeighSet(&netlink.Neigh{LinkIndex: l.Attrs().Index, State: netlink.NUD_PERMANENT, IP: other.AsSlice(), HardwareAddr: mac})
}
