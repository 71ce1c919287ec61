package deploy_test

import (
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
)

func needsBridge(t testing.TB) {
	t.Helper()
	needs(t)
	nstest.Require(t, feature.Bridge)
}

// bridged is a spec with bridges of these options.
func bridged(options, spec string) string {
	return "wiring: bridge\nbridge: {" + options + "}\n" + spec
}

func wiringOf(p *plan.Plan) string { return "nfchain." + p.Chain + "." + plan.WiringNode }

// TestBridges are as the options say, carry traffic both ways, and go.
func TestBridges(t *testing.T) {
	needsBridge(t)
	for options, c := range map[string]struct {
		bridges int
		has     []string
	}{
		"":                                    {3, []string{"stp_state 0", "mcast_snooping 0", "ageing_time 30000 ", "mtu 1500"}},
		"per: hop, stp: true, snooping: true": {3, []string{"stp_state 1", "mcast_snooping 1", "forward_delay 200 "}},
		"per: chain":                          {1, []string{"stp_state 0", "mcast_snooping 0"}},
		"per: chain, forwarding: learning, ageing: 10s": {1, []string{"ageing_time 1000 "}},
	} {
		t.Run(options, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			p := planned(t, owner, bridged(options, spec(forward("a"), firewall)))
			up(t, p)
			unchanged(t, p)
			crosses(t, p)
			text := sh(t, "ip -n "+wiringOf(p)+" -d -o link show type bridge")
			if n := strings.Count(text, "\n"); n != c.bridges {
				t.Errorf("%d bridges, want %d:\n%s", n, c.bridges, text)
			}
			for _, word := range c.has {
				if n := strings.Count(text, word); n != c.bridges {
					t.Errorf("%d bridges have %q:\n%s", n, word, text)
				}
			}
			unchanged(t, p)
			down(t, owner)
			if names, err := deploy.Nodes(owner); err != nil || len(names) > 0 {
				t.Error("left:", names, err)
			}
		})
	}
}

// TestBridgesAreSilent looks at every frame that passes the bridges: all come
// from the nodes, as they do over any wiring. The bridges have no address that they
// could answer for.
func TestBridgesAreSilent(t *testing.T) {
	needsBridge(t)
	p := planned(t, nstest.Owner(t), bridged("per: chain", spec(forward("a"), forward("b"))))
	downAfter(t, p.Chain)
	up(t, p)
	var fd int
	inside(t, wiringOf(p), func() (err error) {
		fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, int(binary.NativeEndian.Uint16([]byte{0, unix.ETH_P_ALL})))
		return err
	})
	defer func() { _ = unix.Close(fd) }()
	crosses(t, p)
	nodes := map[string]bool{}
	for _, n := range p.Nodes {
		for _, i := range []*plan.Interface{n.West, n.East} {
			if i != nil {
				nodes[i.MAC] = true
			}
		}
	}
	frames, buffer := 0, make([]byte, 2048)
	for {
		n, _, err := unix.Recvfrom(fd, buffer, 0)
		if errors.Is(err, unix.EAGAIN) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if n < 14 || !nodes[net.HardwareAddr(buffer[6:12]).String()] {
			t.Errorf("a frame that no node sent: %x", buffer[:n])
		}
		frames++
	}
	if frames == 0 {
		t.Error("no frame was seen")
	}
	if text := sh(t, "ip -n "+wiringOf(p)+" -o address | grep -v ' lo ' || true"); text != "" {
		t.Error("the bridges' namespace has addresses:", text)
	}
}

// TestOneBridgeFloodsNothing: on one bridge for the chain every packet comes to the one
// port that it is for, the first as the last.
func TestOneBridgeFloodsNothing(t *testing.T) {
	needsBridge(t)
	p := planned(t, nstest.Owner(t), bridged("per: chain", spec(forward("a"), forward("b"), forward("c"))))
	downAfter(t, p.Chain)
	up(t, p)
	// While it was made a port may have flooded what the nodes said of their own: the kernel
	// has ports flood until they are told not to.
	for tries := 0; ; tries++ {
		dropped, before := nstest.Dropped(t), portsSent(t, p)
		crosses(t, p)
		var sent []uint64
		alike := func() bool {
			sent = portsSent(t, p)
			for i := range sent {
				sent[i] -= before[i]
			}
			return len(sent) == 8 && sent[0] > 0 && slices.Max(sent) == slices.Min(sent)
		}
		for deadline := time.Now().Add(10 * time.Second); !alike() && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			continue // a ping that was sent again may be on its way
		}
		if alike() {
			return
		}
		if nstest.Dropped(t) == dropped || tries == 20 { // a ping may have got half the way else
			t.Fatalf("pings went out by %d ports so often: %v", len(sent), sent)
		}
	}
}

// portsSent is how many packets the chain's bridge sent by each of its ports.
func portsSent(t *testing.T, p *plan.Plan) (sent []uint64) {
	t.Helper()
	links, err := nstest.Open(t, wiringOf(p)).LinkList()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if l.Attrs().MasterIndex != 0 {
			sent = append(sent, l.Attrs().Statistics.TxPackets)
		}
	}
	return sent
}

// TestBridgesHeal breaks bridges in one place at a time. One pass mends it, touching only
// what was broken.
func TestBridgesHeal(t *testing.T) {
	needsBridge(t)
	p := planned(t, nstest.Owner(t), bridged("", spec(forward("a"))))
	downAfter(t, p.Chain)
	up(t, p)
	own := wiringOf(p)
	for _, broken := range []struct {
		how   string
		heals []string
	}{
		{"ip -n $w link set $br down", []string{"bridge", "bridgeport"}},
		{"ip -n $w link set $br mtu 1400", []string{"bridge"}},
		{"ip -n $w link set $br address 02:00:00:00:00:77", []string{"bridge"}},
		{"ip -n $w link set $br alias ''", []string{"bridge", "bridgeport"}},
		{"ip -n $w link set $br type bridge stp_state 1", []string{"bridge", "bridgeport"}},
		{"ip -n $w link set $br type bridge mcast_snooping 1", []string{"bridge"}},
		{"ip -n $w link set $br type bridge ageing_time 1000", []string{"bridge"}},
		{"ip -n $w link delete $br", []string{"bridge", "bridgeport"}},
		{"ip -n $w link add strange type bridge; ip -n $w link set strange alias 'nfchain $c bridge:x'", []string{"bridge"}},
		{"ip -n $w link add s0 type veth peer name s1; ip -n $w link set s0 master $br", []string{"bridgeport"}},
		{"ip -n $w link set $port nomaster", []string{"bridgeport"}},
		{"ip -n $w link set $port type bridge_slave learning on", []string{"bridgeport"}},
		{"ip -n $w link set $port type bridge_slave flood on", []string{"bridgeport"}},
		{"ip -n $w link set $port type bridge_slave mcast_flood off", []string{"bridgeport"}},
		{"ip -n $w link set $port type bridge_slave bcast_flood off", []string{"bridgeport"}},
		{"bridge -n $w link set dev $port state 0", []string{"bridgeport"}},
		{"bridge -n $w fdb delete $mac dev $port master", []string{"bridgeport"}},
		{"bridge -n $w fdb add 02:00:00:00:00:78 dev $port master static", []string{"bridgeport"}},
		{"ip -n $w link delete $port", []string{"link", "bridgeport", "address", "neighbour", "route"}},
		{"ip -n $w link set $port mtu 1400", []string{"link", "bridgeport", "address", "neighbour", "route"}},
		{"ip netns delete $w", []string{"namespace", "bridge", "link", "bridgeport", "address", "neighbour", "route"}},
	} {
		br, _, _ := strings.Cut(sh(t, "ls -1 /sys/class/net >/dev/null; ip -n "+own+" -br link show type bridge"), " ")
		port, _, _ := strings.Cut(sh(t, "ip -n "+own+" -br link show type bridge_slave master "+br), "@")
		mac := strings.Fields(sh(t, "bridge -n "+own+" fdb show br "+br+" | grep 'dev "+port+" .*static'"))[0]
		line := strings.NewReplacer("$w", own, "$br", br, "$port", port, "$mac", mac, "$c", p.Chain).Replace(broken.how)
		t.Log(line)
		heals(t, p, line, broken.heals)
	}
}

// TestPacketFilterLeavesBridgesAlone where the kernel would give it what they pass on.
func TestPacketFilterLeavesBridgesAlone(t *testing.T) {
	needsBridge(t)
	p := planned(t, nstest.Owner(t), bridged("", spec()))
	downAfter(t, p.Chain)
	up(t, p)
	const look = "sh -c 'cat /proc/sys/net/bridge/bridge-nf-call-*tables 2>/dev/null || true'"
	if text := sh(t, "ip netns exec "+wiringOf(p)+" "+look); strings.Contains(text, "1") {
		t.Error("the packet filter is called:", text)
	}
	if !strings.Contains(sh(t, look), "0") && !strings.Contains(sh(t, look), "1") {
		return // this kernel has no such filter
	}
	sh(t, "ip netns exec "+wiringOf(p)+" sysctl -qw net.bridge.bridge-nf-call-iptables=1")
	if changes := up(t, p); len(changes) != 1 || !strings.HasPrefix(changes[0], "update bridge:") {
		t.Error(changes)
	}
	unchanged(t, p)
}

// TestWiringsChange edits nothing but how neighbours are joined.
func TestWiringsChange(t *testing.T) {
	needsBridge(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	functions := spec(forward("a"), firewall)
	for _, s := range []string{
		functions, bridged("", functions), bridged("per: chain", functions), bridged("per: chain, forwarding: learning", functions),
		bridged("stp: true", functions), bridged("", spec(forward("a"), forward("new"), firewall)), functions,
		bridged("per: chain", "mtu: 9000\n"+functions), bridged("per: chain", functions), functions,
	} {
		p := planned(t, owner, s)
		if len(up(t, p)) == 0 {
			t.Errorf("nothing changed for\n%s", s)
		}
		crosses(t, p)
		unchanged(t, p)
		if there := netns.Exists(wiringOf(p)); there != (p.Wiring == "bridge") {
			t.Errorf("wiring %s has a namespace of its own: %t", p.Wiring, there)
		}
		if t.Failed() {
			t.Fatalf("after\n%s", s)
		}
	}
}
