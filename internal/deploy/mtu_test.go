package deploy_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
)

// jumbo is an MTU that no interface has by itself, and little one that is less than usual.
const (
	jumbo  = 9000
	little = 1400
)

// joinings are the wirings by their options. An ovs that is in user space is everywhere.
var joinings = []struct{ name, wiring string }{
	{"veth", ""},
	{"bridges", "wiring: bridge\n"},
	{"one bridge", "wiring: bridge\nbridge: {per: chain}\n"},
	{"one arm", "wiring: bridge\nbridge: {per: chain, arms: 1}\n"},
	{"macvlan", "wiring: macvlan\n"},
	{"private", "wiring: macvlan\nmacvlan: {mode: private}\n"},
	{"vepa", "wiring: macvlan\nmacvlan: {mode: vepa}\n"},
	{"passthru", "wiring: macvlan\nmacvlan: {mode: passthru}\n"},
	{"forwarder", "wiring: ebpf\n"},
	{"switches", "wiring: ovs\novs: {datapath: netdev, switches: 2, switch_to_switch: veth}\n"},
	{"one switch", "wiring: ovs\novs: {datapath: netdev, per: chain}\n"},
}

// needsFor what a wiring is made of.
func needsFor(t *testing.T, wiring string) {
	t.Helper()
	needs(t)
	switch {
	case strings.Contains(wiring, "ovs"):
		needsSwitches(t)
	case strings.Contains(wiring, "macvlan"):
		needsMacvlan(t)
	case strings.Contains(wiring, "ebpf"):
		nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	case strings.Contains(wiring, "bridge"):
		needsBridge(t)
	}
}

func withMTU(mtu int) string { return fmt.Sprintf("mtu: %d\n", mtu) }

// TestLongestPackets cross a chain whole, over whatever it is wired by, and through what
// functions make beside the wiring's interfaces.
func TestLongestPackets(t *testing.T) {
	for _, c := range joinings {
		t.Run(c.name, func(t *testing.T) {
			needsFor(t, c.wiring)
			p := planned(t, nstest.Owner(t), c.wiring+withMTU(jumbo)+spec(forward("a"), firewall))
			downAfter(t, p.Chain)
			up(t, p)
			longest(t, p, jumbo)
			longerThan(t, p, jumbo)
		})
	}
	t.Run("functions", func(t *testing.T) {
		needs(t)
		nstest.Require(t, feature.Bridge, feature.Tun, feature.Redirect)
		p := planned(t, nstest.Owner(t), withMTU(jumbo)+spec("{name: b, kind: bridge}", "{name: m, kind: mirror}", shaper))
		downAfter(t, p.Chain)
		up(t, p)
		longest(t, p, jumbo)
	})
	t.Run("internal ports", func(t *testing.T) {
		needsSwitches(t)
		p := planned(t, nstest.Owner(t), "wiring: ovs\novs: {ports: internal}\n"+spec(forward("a")))
		downAfter(t, p.Chain)
		up(t, p)
		longest(t, p, 1500)
	})
}

// longest packets that an MTU lets be sent, uncut, from both ends in each family.
func longest(t *testing.T, p *plan.Plan, mtu int) {
	t.Helper()
	for _, way := range [][2]plan.Node{{p.Client(), p.Server()}, {p.Server(), p.Client()}} {
		for _, to := range addresses(p, way[0].Name, way[1].Name) {
			if out, err := pingOf(way[0].Namespace, to, mtu, "-w", "20"); err != nil {
				t.Errorf("%d bytes from %s do not reach %s at %s: %v\n%s", mtu, way[0].Name, way[1].Name, to, err, out)
			}
		}
	}
}

// longerThan what an MTU lets be sent: the sender's kernel says so.
func longerThan(t *testing.T, p *plan.Plan, mtu int) {
	t.Helper()
	to := p.Server().West.Addresses[0]
	if out, err := pingOf(p.Client().Namespace, to, mtu+1, "-W", "1"); err == nil || !strings.Contains(out, strconv.Itoa(mtu)) {
		t.Errorf("of %d bytes to %s it says %v\n%s", mtu+1, to, err, out)
	}
}

// pingOf is a request in a packet of so many bytes that nobody may cut up.
func pingOf(ns string, to netip.Addr, bytes int, args ...string) (string, error) {
	headers := 20 + 8
	if to.Is6() {
		headers = 40 + 8
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	args = append([]string{"netns", "exec", ns, "ping", "-n", "-c", "1", "-M", "do", "-s", strconv.Itoa(bytes - headers)}, args...)
	out, err := exec.CommandContext(ctx, "ip", append(args, to.String())...).CombinedOutput()
	return string(out), err
}

// TestShortenedBetween: where somebody lowers the MTU of an interface between the nodes, over
// which nobody would tell a sender what fits, it is seen and mended.
func TestShortenedBetween(t *testing.T) {
	for _, c := range joinings[1:] {
		t.Run(c.name, func(t *testing.T) {
			needsFor(t, c.wiring)
			p := planned(t, nstest.Owner(t), c.wiring+withMTU(jumbo)+spec(forward("a")))
			downAfter(t, p.Chain)
			up(t, p)
			own := wiringOf(p)
			port, _, _ := strings.Cut(sh(t, "ip -n "+own+" -br link show type veth"), "@")
			sh(t, fmt.Sprintf("ip -n %s link set %s mtu %d", own, port, little))
			if seen := dryUp(t, p); len(seen) == 0 {
				t.Errorf("the MTU of %s is not seen", port)
			}
			up(t, p)
			unchanged(t, p)
			longest(t, p, jumbo)
		})
	}
}

// TestCardShortened: where the host's interface that devices are over is given a smaller MTU
// than the chain's, the kernel lowers theirs. It is seen, and refused by name.
func TestCardShortened(t *testing.T) {
	needsMacvlan(t)
	host := card(t)
	p := over(t, nstest.Owner(t), "macvlan: {parent: "+host+"}\n"+withMTU(jumbo), spec(forward("a")))
	downAfter(t, p.Chain)
	up(t, p)
	longest(t, p, jumbo)
	sh(t, fmt.Sprintf("ip link set %s mtu %d", host, little))
	if seen := dryUp(t, p); len(seen) == 0 {
		t.Error("it is not seen")
	}
	if err := deploy.Possible(p); err == nil || !strings.Contains(err.Error(), host+": its mtu is 1400, and the chain's is 9000") {
		t.Errorf("it says %v", err)
	}
	sh(t, fmt.Sprintf("ip link set %s mtu %d", host, jumbo))
	up(t, p)
	unchanged(t, p)
	longest(t, p, jumbo)
}

// TestEndpointOfAnotherMTU takes an interface of the host into a chain, one of a smaller MTU
// and one of a larger. The plan warns of it, and traffic of any length crosses, between the
// far end and a host beyond that interface: what does not fit is cut up, or its sender told.
func TestEndpointOfAnotherMTU(t *testing.T) {
	for _, c := range []struct {
		name, wiring string
		mtu, beyond  int
	}{
		{"veth", "", jumbo, little}, {"veth, larger", "", 1500, jumbo}, {"bridge", "wiring: bridge\n", jumbo, little},
		{"one arm", "wiring: bridge\nbridge: {per: chain, arms: 1}\n", jumbo, little},
		{"macvlan", "wiring: macvlan\n", jumbo, little},
		{"switches", "wiring: ovs\novs: {datapath: netdev}\n", jumbo, little},
	} {
		t.Run(c.name, func(t *testing.T) {
			needsFor(t, c.wiring)
			device := nstest.Device(t)
			outside := beyond(t, device, c.beyond)
			p := planned(t, nstest.Owner(t), c.wiring+withMTU(c.mtu)+"endpoints: [{name: client, interface: "+device+"}, {name: server}]\n"+spec(forward("a"), firewall))
			downAfter(t, p.Chain)
			if says := fmt.Sprintf("endpoint client: the MTU of interface %s is %d, and the chain's is %d", device, c.beyond, c.mtu); len(p.Warnings) != 1 || !strings.HasPrefix(p.Warnings[0], says) || !strings.Contains(p.Text(), "warning: "+says) {
				t.Errorf("the plan warns %q", p.Warnings)
			}
			up(t, p)
			unchanged(t, p)
			longest(t, p, c.mtu)
			if again := planned(t, p.Chain, c.wiring+withMTU(c.mtu)+"endpoints: [{name: client, interface: "+device+"}, {name: server}]\n"+spec(forward("a"), firewall)); len(again.Warnings) != 1 {
				t.Errorf("of the interface that it has taken, the plan warns %q", again.Warnings)
			}
			server := p.Server()
			for f, far := range []string{"240.77.41.2", "fd77:41::2"} {
				for _, way := range []struct {
					from, to string
					at       netip.Addr
				}{{outside, server.Namespace, server.West.Addresses[f]}, {server.Namespace, outside, netip.MustParseAddr(far)}} {
					comesBack(t, way.from, way.to, way.at)
					comesWhole(t, way.from, way.to, way.at, 3*little)
				}
			}
		})
	}
}

// beyond gives the host an interface with addresses, and a host at its other end that reaches
// everything by it.
func beyond(t *testing.T, device string, mtu int) (outside string) {
	t.Helper()
	outside = nstest.Namespace(t)
	sh(t, strings.NewReplacer("$d", device, "$o", outside, "$mtu", strconv.Itoa(mtu)).Replace(`
		ip link add $d mtu $mtu type veth peer name far mtu $mtu netns $o
		ip address add 240.77.41.1/24 dev $d; ip address add fd77:41::1/64 dev $d nodad; ip link set $d up
		ip -n $o address add 240.77.41.2/24 dev far; ip -n $o address add fd77:41::2/64 dev far nodad; ip -n $o link set far up
		ip -n $o route add default via 240.77.41.1; ip -n $o route add default via fd77:41::1`))
	t.Cleanup(func() { sh(t, "ip link del "+device) })
	nstest.Carries(t, nstest.Open(t, netns.Host), device)
	return outside
}

// comesBack opens a TCP connection and sends more than fits into a few packets, which comes back.
func comesBack(t *testing.T, from, to string, at netip.Addr) {
	t.Helper()
	const size = 200_000
	var listener net.Listener
	inside(t, to, func() (err error) { listener, err = net.Listen("tcp", netip.AddrPortFrom(at, 7020).String()); return })
	defer func() { _ = listener.Close() }()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.Copy(conn, io.LimitReader(conn, size))
	}()
	var conn net.Conn
	inside(t, from, func() (err error) { conn, err = net.DialTimeout("tcp", listener.Addr().String(), time.Minute); return })
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	go func() { _, _ = conn.Write(make([]byte, size)) }()
	if n, err := io.Copy(io.Discard, io.LimitReader(conn, size)); n != size || err != nil {
		t.Errorf("of %d bytes from %s to %s and back %d came: %v", size, from, at, n, err)
	}
}

// comesWhole sends a datagram of a size until one comes: the first that is too long for the
// way is lost, and tells the sender what fits.
func comesWhole(t *testing.T, from, to string, at netip.Addr, size int) {
	t.Helper()
	var listener net.PacketConn
	var conn net.Conn
	inside(t, to, func() (err error) {
		listener, err = net.ListenPacket("udp", netip.AddrPortFrom(at, 7021).String())
		return
	})
	defer func() { _ = listener.Close() }()
	inside(t, from, func() (err error) { conn, err = net.Dial("udp", listener.LocalAddr().String()); return })
	defer func() { _ = conn.Close() }()
	came := make([]byte, 2*size)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		_, _ = conn.Write(make([]byte, size)) // refused once, where the kernel has just been told
		_ = listener.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		if n, _, err := listener.ReadFrom(came); err == nil {
			if n != size {
				t.Errorf("a datagram of %d bytes from %s to %s came as %d", size, from, at, n)
			}
			return
		}
	}
	t.Errorf("no datagram of %d bytes from %s comes to %s", size, from, at)
}
