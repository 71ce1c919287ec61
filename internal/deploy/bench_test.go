package deploy_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/address"
	"nfchain.dev/nfchain/internal/resource/bridge"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/neighbour"
	"nfchain.dev/nfchain/internal/resource/route"
)

// BenchmarkChain makes and removes chains of n namespaces by turns with the
// package and with the barest netlink loop that makes the same objects, the
// floor, and reports the medians of both and their ratio: others' work slows one
// round or another.
func BenchmarkChain(b *testing.B) {
	nstest.Root(b)
	for _, n := range []int{8, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			besideFloor(b, planned(b, nstest.Owner(b), wide+plantest.Forwards(n-2)))
		})
	}
}

// BenchmarkOneBridge is a thousand functions of one interface on one bridge, beside the
// floor.
func BenchmarkOneBridge(b *testing.B) {
	needsBridge(b)
	besideFloor(b, planned(b, nstest.Owner(b), bridged(oneArm, wide+plantest.Forwards(1000))))
}

// besideFloor makes and removes a plan and its floor by turns.
func besideFloor(b *testing.B, p *plan.Plan) {
	var up, again, down, floorUp, floorDown []time.Duration
	for b.Loop() {
		floorUp = append(floorUp, timed(b, func() error { return floor(p) }))
		floorDown = append(floorDown, timed(b, func() error { return floorRemove(p) }))
		settle(b, p.Chain)
		d := &deploy.Deployer{}
		up = append(up, timed(b, func() error { _, err := d.Up(b.Context(), p); return err }))
		again = append(again, timed(b, func() error { _, err := d.Up(b.Context(), p); return err }))
		down = append(down, timed(b, func() error { _, err := d.Down(context.Background(), p.Chain); return err }))
		settle(b, p.Chain)
	}
	each := func(d []time.Duration) float64 { slices.Sort(d); return d[len(d)/2].Seconds() }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(each(up), "up-s")
	b.ReportMetric(each(again), "up-again-s")
	b.ReportMetric(each(down), "down-s")
	b.ReportMetric(each(floorUp), "floor-up-s")
	b.ReportMetric(each(floorDown), "floor-down-s")
	b.ReportMetric(each(up)/each(floorUp), "up/floor")
	b.ReportMetric(each(down)/each(floorDown), "down/floor")
}

func timed(tb testing.TB, fn func() error) time.Duration {
	tb.Helper()
	start := time.Now()
	if err := fn(); err != nil {
		tb.Fatal(err)
	}
	return time.Since(start)
}

// settle waits until the kernel has freed what was removed, so that one side's
// removal does not slow the other.
func settle(tb testing.TB, owner string) {
	tb.Helper()
	probe := "nfchain." + owner + ".settle"
	// Namespaces are freed in order, by one worker of the kernel: when an
	// interface of a namespace removed last is gone, so are the others'.
	h, err := netns.Open(netns.Host)
	if err != nil {
		tb.Fatal(err)
	}
	defer h.Close()
	if err := netns.Create(probe, func() error { return nil }); err != nil {
		tb.Fatal(err)
	}
	far, err := netns.Open(probe)
	if err != nil {
		tb.Fatal(err)
	}
	name := fmt.Sprintf("nfs%x", os.Getpid())
	err = h.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: "far", PeerNamespace: netlink.NsFd(far.FD())})
	if err != nil {
		tb.Fatal(err)
	}
	far.Close()
	if err := netns.Remove(probe); err != nil {
		tb.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if _, err := h.LinkByName(name); err != nil {
			return
		}
	}
	tb.Fatal("the kernel does not free removed namespaces")
}

// floor makes the plan's objects with one request each, one after the other,
// asking nothing.
func floor(p *plan.Plan) error {
	open := map[string]*netns.Handle{}
	index := map[string]map[string]int{}
	defer func() {
		for _, h := range open {
			h.Close()
		}
	}()
	for _, r := range p.Resources {
		if err := floorMake(open, index, r.Namespace, r.Spec); err != nil {
			return fmt.Errorf("%s: %w", r.ID, err)
		}
	}
	return nil
}

func floorMake(open map[string]*netns.Handle, index map[string]map[string]int, ns string, spec any) (err error) {
	switch s := spec.(type) {
	case namespace.Spec:
		err = netns.Create(s.Name, func() error {
			return floorSettings(s.Sysctls)
		})
		if err != nil {
			return err
		}
		if open[s.Name], err = netns.Open(s.Name); err != nil {
			return err
		}
		index[s.Name] = map[string]int{}
		return open[s.Name].LinkSetUp(&netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Index: 1}})
	case link.Spec:
		return floorLink(open, index, s)
	case bridge.Spec:
		return floorBridge(open[ns], index[ns], s)
	case bridge.PortSpec:
		return floorPort(open[ns], index[ns], s)
	case address.Spec:
		a := &netlink.Addr{IPNet: alone(s.Address)}
		if s.Peer.IsValid() {
			a.Peer = alone(s.Peer)
		}
		if s.Address.Is6() {
			a.Flags = unix.IFA_F_NODAD
		}
		return open[ns].AddrAdd(&netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Index: index[ns][s.Device]}}, a)
	case neighbour.Spec:
		mac, err := net.ParseMAC(s.MAC)
		if err != nil {
			return err
		}
		return open[ns].NeighSet(&netlink.Neigh{LinkIndex: index[ns][s.Device], State: netlink.NUD_PERMANENT, IP: s.Address.AsSlice(), HardwareAddr: mac})
	case route.Spec:
		return open[ns].RouteAdd(&netlink.Route{LinkIndex: index[ns][s.Device], Gw: s.Via.AsSlice(), Src: s.Source.AsSlice(), Flags: int(netlink.FLAG_ONLINK),
			Dst: &net.IPNet{IP: s.Destination.Addr().AsSlice(), Mask: net.CIDRMask(s.Destination.Bits(), s.Destination.Addr().BitLen())}})
	}
	return nil // rule sets are not in the floor
}

// floorSettings looks each directory of a family up once: below it, every path is looked
// for among those of all namespaces.
func floorSettings(all []namespace.Sysctl) error {
	for _, family := range []string{"net/ipv4/", "net/ipv6/"} {
		at, err := unix.Open("/proc/sys/"+family, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(at) }()
		for _, c := range all {
			name, of := strings.CutPrefix(c.Path, family)
			if !of {
				continue
			}
			fd, err := unix.Openat(at, name, unix.O_WRONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			_, err = unix.Write(fd, []byte(c.Value))
			_ = unix.Close(fd)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func floorLink(open map[string]*netns.Handle, index map[string]map[string]int, s link.Spec) error {
	a, b := open[s.A.Namespace], open[s.B.Namespace]
	macA, err := net.ParseMAC(s.A.MAC)
	if err != nil {
		return err
	}
	macB, err := net.ParseMAC(s.B.MAC)
	if err != nil {
		return err
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU, attrs.HardwareAddr = s.A.Device, s.MTU, macA
	if err := a.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: s.B.Device, PeerHardwareAddr: macB, PeerMTU: uint32(s.MTU), PeerNamespace: netlink.NsFd(b.FD())}); err != nil {
		return err
	}
	for _, end := range []struct {
		h *netns.Handle
		link.End
	}{{a, s.A}, {b, s.B}} {
		l, err := end.h.LinkByName(end.Device)
		if err != nil {
			return err
		}
		index[end.Namespace][end.Device] = l.Attrs().Index
		if err := end.h.LinkSetUp(l); err != nil {
			return err
		}
	}
	return nil
}

func floorBridge(h *netns.Handle, index map[string]int, s bridge.Spec) error {
	mac, err := net.ParseMAC(s.MAC)
	if err != nil {
		return err
	}
	attrs, snooping := netlink.NewLinkAttrs(), s.Snooping
	attrs.Name, attrs.MTU, attrs.HardwareAddr = s.Device, s.MTU, mac
	if err := h.LinkAdd(&netlink.Bridge{LinkAttrs: attrs, MulticastSnooping: &snooping}); err != nil {
		return err
	}
	l, err := h.LinkByName(s.Device)
	if err != nil {
		return err
	}
	index[s.Device] = l.Attrs().Index
	return h.LinkSetUp(l)
}

// floorPort takes three requests: to be a port, what not to do, and who is there.
func floorPort(h *netns.Handle, index map[string]int, s bridge.PortSpec) error {
	l := &netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Index: index[s.Device]}}
	if err := h.LinkSetMasterByIndex(l, index[s.Bridge]); err != nil {
		return err
	}
	r, err := h.Request(unix.RTM_NEWLINK, unix.NLM_F_ACK)
	if err != nil {
		return err
	}
	about := nl.NewIfInfomsg(unix.AF_UNSPEC)
	about.Index = int32(l.Index)
	r.AddData(about)
	info := nl.NewRtAttr(unix.IFLA_LINKINFO, nil)
	info.AddRtAttr(nl.IFLA_INFO_SLAVE_KIND, nl.NonZeroTerminated("bridge"))
	data := info.AddRtAttr(nl.IFLA_INFO_SLAVE_DATA, nil)
	for _, off := range []int{unix.IFLA_BRPORT_LEARNING, unix.IFLA_BRPORT_UNICAST_FLOOD, unix.IFLA_BRPORT_MCAST_FLOOD, unix.IFLA_BRPORT_BCAST_FLOOD} {
		data.AddRtAttr(off, nl.Uint8Attr(0))
	}
	r.AddData(info)
	if _, err := r.Execute(unix.NETLINK_ROUTE, 0); err != nil {
		return err
	}
	mac, err := net.ParseMAC(s.MAC)
	if err != nil {
		return err
	}
	return h.NeighSet(&netlink.Neigh{LinkIndex: l.Index, Family: unix.AF_BRIDGE, Flags: netlink.NTF_MASTER, State: netlink.NUD_NOARP, HardwareAddr: mac})
}

func floorRemove(p *plan.Plan) error {
	for _, name := range p.Namespaces() {
		if err := netns.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

func alone(a netip.Addr) *net.IPNet {
	return &net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(a.BitLen(), a.BitLen())}
}
