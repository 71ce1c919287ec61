package builtin

import (
	"context"
	"encoding/binary"
	"math"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// routed is a client, a router and a server in namespaces of their own.
type routed struct {
	traffic.Job
	router string
}

// newRouted joins client and router by 192.0.2.0/30 and 2001:db8:1::/64, and router and
// server by 198.51.100.0/30 and 2001:db8:2::/64.
func newRouted(t *testing.T, c trial.Condition) routed {
	t.Helper()
	nstest.Require(t, feature.Root, feature.BPFXDP)
	client, router, server := nstest.Namespace(t), nstest.Namespace(t), nstest.Namespace(t)
	joined(t, client, "eth0", router, "eth0", [4]string{"192.0.2.1/30", "2001:db8:1::1/64", "192.0.2.2/30", "2001:db8:1::2/64"})
	joined(t, router, "eth1", server, "eth0", [4]string{"198.51.100.1/30", "2001:db8:2::1/64", "198.51.100.2/30", "2001:db8:2::2/64"})
	routeBy(t, client, "192.0.2.2", "2001:db8:1::2")
	routeBy(t, server, "198.51.100.1", "2001:db8:2::1")
	if err := netns.Do(router, func() error {
		for _, path := range []string{"ipv4/ip_forward", "ipv6/conf/all/forwarding"} {
			if err := os.WriteFile("/proc/sys/net/"+path, []byte("1"), 0o644); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	c.Flows, c.DurationS = max(c.Flows, 1), max(c.DurationS, 1)
	return routed{traffic.Job{FirstPort: 5201, Condition: c, Ends: traffic.Ends{ClientNetns: client, ServerNetns: server,
		Address: netip.MustParseAddr("198.51.100.2")}}, router}
}

// joined makes a veth pair between two namespaces. The addresses are the first's of both versions, then the second's.
func joined(t *testing.T, a, device string, b, other string, addresses [4]string) {
	t.Helper()
	x, y := nstest.Open(t, a), nstest.Open(t, b)
	pair := netlink.NewVeth(netlink.LinkAttrs{Name: device})
	pair.PeerName, pair.PeerNamespace = other, netlink.NsFd(y.FD())
	if err := x.LinkAdd(pair); err != nil {
		t.Fatal(err)
	}
	macs := [2]net.HardwareAddr{bring(t, x, device, addresses[:2]), bring(t, y, other, addresses[2:])}
	know(t, x, device, addresses[2:], macs[1])
	know(t, y, other, addresses[:2], macs[0])
}

func bring(t *testing.T, h *netns.Handle, device string, addresses []string) net.HardwareAddr {
	t.Helper()
	l, err := h.LinkByName(device)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.LinkSetUp(l); err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		ip, network, _ := net.ParseCIDR(a)
		address := &netlink.Addr{IPNet: &net.IPNet{IP: ip, Mask: network.Mask}}
		if ip.To4() == nil {
			address.Flags = 0x2 // IFA_F_NODAD
		}
		if err := h.AddrAdd(l, address); err != nil {
			t.Fatal(err)
		}
	}
	return l.Attrs().HardwareAddr
}

func know(t *testing.T, h *netns.Handle, device string, addresses []string, mac net.HardwareAddr) {
	t.Helper()
	l, err := h.LinkByName(device)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		ip, _, _ := net.ParseCIDR(a)
		if err := h.NeighSet(&netlink.Neigh{LinkIndex: l.Attrs().Index, State: netlink.NUD_PERMANENT, IP: ip, HardwareAddr: mac}); err != nil {
			t.Fatal(err)
		}
	}
}

func routeBy(t *testing.T, ref string, gateways ...string) {
	t.Helper()
	h := nstest.Open(t, ref)
	for _, g := range gateways {
		if err := h.RouteAdd(&netlink.Route{Gw: net.ParseIP(g)}); err != nil {
			t.Fatal(err)
		}
	}
}

// routeSpares has the router send what goes to the job's spare addresses to the server.
func (r routed) routeSpares(t *testing.T) {
	t.Helper()
	h := nstest.Open(t, r.router)
	for _, a := range r.SpareEast {
		gateway := "198.51.100.2"
		if a.Is6() {
			gateway = "2001:db8:2::2"
		}
		if err := h.RouteAdd(&netlink.Route{Dst: &net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(a.BitLen(), a.BitLen())}, Gw: net.ParseIP(gateway)}); err != nil {
			t.Fatal(err)
		}
	}
}

// run the job.
func (r routed) run(t *testing.T) traffic.Sample {
	t.Helper()
	s, err := Tool{}.Run(context.Background(), r.Job)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// whole is a trial in which the machine itself drops nothing, as it may where another test floods it, or where it stalls for longer than
// interfaces hold packets: one of ten.
func (r routed) whole(t *testing.T) (s traffic.Sample) {
	t.Helper()
	for range 10 {
		before := r.dropped(t)
		if s = r.run(t); r.dropped(t) == before {
			break
		}
	}
	return s
}

// dropped are packets that cores and interfaces on the way had no room for.
func (r routed) dropped(t *testing.T) uint64 {
	t.Helper()
	return nstest.Dropped(t) + look(t, r.ClientNetns, "eth0").Statistics.TxDropped + look(t, r.ServerNetns, "eth0").Statistics.TxDropped +
		look(t, r.router, "eth0").Statistics.TxDropped + look(t, r.router, "eth1").Statistics.TxDropped
}

// rules loads an nftables rule set into the router.
func (r routed) rules(t *testing.T, text string) {
	t.Helper()
	nstest.Require(t, feature.NFTables, feature.ToolNFT)
	cmd := exec.Command("ip", "netns", "exec", r.router, "nft", "-f", "-")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestThroughARouter sends frames of every kind that a router passes on.
func TestThroughARouter(t *testing.T) {
	for name, c := range map[string]trial.Condition{
		"IPv4":      {OfferedPps: 1000},
		"IPv6":      {OfferedPps: 1000, Frames: trial.Frames{IPVersion: 6}},
		"flows":     {OfferedPps: 1000, Flows: 20_000, Frames: trial.Frames{IPVersion: 6}},
		"both ways": {OfferedPps: 1000, Frames: trial.Frames{Bidirectional: true, FrameSize: 512}},
		"IMIX":      {OfferedPps: 1000, Frames: trial.Frames{IMIX: "aaaaaaaddddg", IPVersion: 4}},
		"poisson":   {OfferedPps: 1000, Frames: trial.Frames{Pattern: poisson}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRouted(t, c).whole(t)
			o := raw(t, s)
			if o.Received != o.Sent || o.Arrived != o.Received || o.Reordered != 0 {
				t.Errorf("%d of %d came, %d with copies, %d out of order", o.Received, o.Sent, o.Arrived, o.Reordered)
			}
			// As many as were due: a thousand a second each way; a Poisson process gives
			// as many within five of its standard deviations.
			want, slack := 1000.0, 0.0
			if c.Bidirectional {
				want *= 2
			}
			if c.Pattern == poisson {
				slack = 5 * math.Sqrt(want)
			}
			if due := float64(o.Sent + o.Unsent); math.Abs(due-want) > slack {
				t.Errorf("%v packets were due, want %v", due, want)
			}
		})
	}
}

// TestChecksumsAreRight has the router look at them: it drops what fails, and a packet
// socket shows the kernel's own sums.
func TestChecksumsAreRight(t *testing.T) {
	for _, version := range []int{4, 6} {
		r := newRouted(t, trial.Condition{OfferedPps: 1000, Flows: 100, Frames: trial.Frames{IPVersion: version, IMIX: "bcd"}})
		heard := listen(t, r)
		o := raw(t, r.run(t))
		frames := heard()
		if o.Sent == 0 || uint64(len(frames)) < o.Sent {
			t.Fatalf("IPv%d: %d frames of %d were seen", version, len(frames), o.Sent)
		}
		for _, f := range frames {
			if got := checksum(f); got != 0xffff {
				t.Fatalf("IPv%d: the checksum adds up to %#x in % x", version, got, f)
			}
		}
	}
}

// checksum of a frame: of the IPv4 header, or of UDP and its pseudo-header in IPv6. It
// is 0xffff if it is right.
func checksum(f []byte) uint16 {
	if binary.BigEndian.Uint16(f[12:]) == 0x0800 {
		return fold(sum16(f[14:34]))
	}
	udp := f[54:]
	return fold(sum16(f[22:54]) + uint64(len(udp)) + udpProtocol + sum16(udp))
}

// TestLossIsExact drops one packet in a thousand in the router.
func TestLossIsExact(t *testing.T) {
	r := newRouted(t, trial.Condition{OfferedPps: 2000, DurationS: 5})
	r.rules(t, `table ip lossy {
		chain forward {
			type filter hook forward priority 0;
			udp dport 5201 numgen inc mod 1000 == 0 counter drop
		}
	}`)
	s := r.whole(t)
	o := raw(t, s)
	if want := o.Sent - (o.Sent+999)/1000; o.Received != want {
		t.Errorf("%d of %d came, want %d", o.Received, o.Sent, want)
	}
	if got, want := s.Metrics["loss_ratio"], float64((o.Sent+999)/1000)/float64(o.Sent); math.Abs(got-want) > 1e-9 {
		t.Errorf("loss %v, want %v", got, want)
	}
}

// TestLosesEverything measures a router that drops all.
func TestLosesEverything(t *testing.T) {
	r := newRouted(t, trial.Condition{OfferedPps: 1000})
	r.rules(t, `table ip lossy { chain forward { type filter hook forward priority 0; policy drop;
}
}`)
	s := r.run(t)
	if s.Metrics["loss_ratio"] != 1 || s.Metrics["forwarding_rate_pps"] != 0 {
		t.Errorf("%v", s.Metrics)
	}
	if _, there := s.Metrics["one_way_latency_p50_ns"]; there || len(s.Histograms["one_way_latency_ns"]) > 0 {
		t.Error("there is a latency of nothing")
	}
}

// TestPortsAreRewritten has the router translate addresses and ports.
func TestPortsAreRewritten(t *testing.T) {
	nstest.Require(t, feature.Conntrack)
	r := newRouted(t, trial.Condition{OfferedPps: 1000, Flows: 10})
	r.rules(t, `table ip rewriting { chain postrouting { type nat hook postrouting priority 100; udp dport 5201 snat to 198.51.100.1:40000-40100
}
}`)
	o := raw(t, r.whole(t))
	if o.Received != o.Sent || o.Sent == 0 {
		t.Errorf("%d of %d came", o.Received, o.Sent)
	}
}

// TestPortsOfBothEndsAreRewritten has the router translate where packets go, too.
func TestPortsOfBothEndsAreRewritten(t *testing.T) {
	nstest.Require(t, feature.Conntrack)
	r := newRouted(t, trial.Condition{OfferedPps: 1000, Flows: 10})
	r.rules(t, `table ip rewriting {
		chain prerouting {
			type nat hook prerouting priority -100
			udp dport 5201 dnat to :6000
		}
		chain postrouting {
			type nat hook postrouting priority 100
			udp dport 6000 masquerade to :30000-50000
		}
	}`)
	if o := raw(t, r.whole(t)); o.Received != o.Sent || o.Sent == 0 || o.Sent+o.Unsent != 1000 || o.Reordered+o.Duplicates != 0 {
		t.Errorf("%d of %d came, %d copies, %d out of order", o.Received, o.Sent, o.Duplicates, o.Reordered)
	}
}

// TestLoop has the router send packets back, and the client forward them once more, until
// they have lived too long: all are lost, and the trial ends.
func TestLoop(t *testing.T) {
	r := newRouted(t, trial.Condition{OfferedPps: 100})
	router := nstest.Open(t, r.router)
	_, there, _ := net.ParseCIDR("198.51.100.2/32")
	if err := router.RouteAdd(&netlink.Route{Dst: there, Gw: net.ParseIP("192.0.2.1")}); err != nil {
		t.Fatal(err)
	}
	if err := netns.Do(r.ClientNetns, func() error { return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644) }); err != nil {
		t.Fatal(err)
	}
	s := r.run(t)
	if o := raw(t, s); s.Metrics["loss_ratio"] != 1 || o.Sent == 0 || o.Sent+o.Unsent != 100 || o.Arrived != 0 {
		t.Errorf("%d of %d came, %v", o.Arrived, o.Sent, s.Metrics)
	}
}
