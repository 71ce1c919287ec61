package deploy_test

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

const oneArm = "per: chain, arms: 1"

// TestOneArm: every node reaches every other, there and back, through the functions between
// them, over a bridge that learns too; nobody is told of a shorter way.
func TestOneArm(t *testing.T) {
	needsBridge(t)
	for _, options := range []string{oneArm, oneArm + ", forwarding: learning"} {
		t.Run(options, func(t *testing.T) {
			p := planned(t, nstest.Owner(t), bridged(options, spec(forward("a"), firewall, forward("b"), forward("c"))))
			downAfter(t, p.Chain)
			up(t, p)
			unchanged(t, p)
			for i, from := range p.Nodes {
				for j, to := range p.Nodes {
					if i == j {
						continue
					}
					for _, at := range addresses(p, from.Name, to.Name) {
						if out, err := ping(from.Namespace, at); err != nil {
							t.Errorf("%s does not reach %s at %s: %v\n%s", from.Name, to.Name, at, err, out)
						}
						if got, want := hopsTo(t, from, at), max(i-j, j-i); got != want {
							t.Errorf("from %s to %s at %s are %d hops, want %d", from.Name, to.Name, at, got, want)
						}
					}
				}
			}
			for _, n := range p.Nodes {
				if told := redirects(t, n); told != "" {
					t.Errorf("%s was told, or told others, of a shorter way: %s", n.Name, told)
				}
			}
		})
	}
}

// hopsTo is how many nodes a packet comes to, as the last of them tells that let a packet
// live so long; each but the last says that its life is over.
func hopsTo(t *testing.T, from plan.Node, to netip.Addr) int {
	t.Helper()
	for hops := range 16 {
		out := sh(t, "ip netns exec "+from.Namespace+" ping -n -c 1 -w 20 -t "+strconv.Itoa(hops+1)+" "+to.String()+" || true")
		if strings.Contains(out, " 1 received") { // of however many, where a busy machine is slow to answer
			return hops + 1
		}
		if !strings.Contains(strings.ToLower(out), "exceeded") {
			t.Fatalf("no answer:\n%s", out)
		}
	}
	return -1
}

// redirects that a node's kernel has counted, of both families, in and out.
func redirects(t *testing.T, n plan.Node) string {
	t.Helper()
	return strings.TrimSpace(sh(t, "ip netns exec "+n.Namespace+" sh -c 'nstat -asz' | grep -i redirect | awk '$2 > 0' || true"))
}

// TestArmsChange between one and two, and functions with them.
func TestArmsChange(t *testing.T) {
	needsBridge(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	functions := spec(forward("a"), firewall)
	for _, s := range []string{
		bridged(oneArm, functions), bridged("per: chain", functions), bridged(oneArm, functions), functions,
		bridged(oneArm, spec(forward("a"), forward("new"), firewall)), bridged(oneArm, functions), bridged("", functions),
	} {
		p := planned(t, owner, s)
		if len(up(t, p)) == 0 {
			t.Errorf("nothing changed for\n%s", s)
		}
		crosses(t, p)
		unchanged(t, p)
		if t.Failed() {
			t.Fatalf("after\n%s", s)
		}
	}
}

// TestOneArmHeals from what only it has: a source of a route, an address without peer.
func TestOneArmHeals(t *testing.T) {
	needsBridge(t)
	p := planned(t, nstest.Owner(t), bridged(oneArm, spec(forward("a"))))
	downAfter(t, p.Chain)
	up(t, p)
	for line, kinds := range map[string][]string{
		"ip -n $a route flush proto 78":                                {"route"},
		"ip -n $a -6 route flush proto 78":                             {"route"},
		"ip -n $a route replace $to via $via dev eth0 onlink proto 78": {"route"},
		"ip -n $a address flush dev eth0 scope global":                 {"address", "route", "neighbour"},
		"ip -n $a link delete eth0":                                    {"link", "bridgeport", "address", "route", "neighbour"},
	} {
		a, via := p.Nodes[1], p.Server().West.Addresses[0]
		to := sh(t, "ip -n "+a.Namespace+" -o route show proto 78 via "+via.String())
		line = strings.NewReplacer("$a", a.Namespace, "$via", via.String(), "$to", strings.Fields(to)[0]).Replace(line)
		heals(t, p, line, kinds)
	}
}

// TestOneArmTranslates destinations, which go by their address; the other function does so
// for connections of the other end.
func TestOneArmTranslates(t *testing.T) {
	needsBridge(t)
	nstest.Require(t, feature.NFTNAT)
	p := planned(t, nstest.Owner(t), bridged(oneArm, spec(forward("a"), "{name: nat, kind: nat, nat: {destination: {}}}",
		"{name: lb, kind: loadbalancer, direction: reverse, loadbalancer: {}}", forward("b"))))
	downAfter(t, p.Chain)
	up(t, p)
	unchanged(t, p)
	crosses(t, p)
	for i, to := range addresses(p, "client", "server") {
		if !slices.Contains(p.Nodes[2].West.Addresses, to) {
			t.Errorf("the client knows the server as %s", to)
		}
		at := p.Server().West.Addresses[i]
		if from := arrives(t, p.Client(), p.Server(), netip.AddrPortFrom(to, 80), netip.AddrPortFrom(at, 80)); from != p.Client().East.Addresses[i] {
			t.Errorf("to %s it arrives from %s", to, from)
		}
	}
	for i, to := range addresses(p, "server", "client") {
		if !slices.Contains(p.Nodes[3].East.Addresses, to) {
			t.Errorf("the server knows the client as %s", to)
		}
		at := p.Client().East.Addresses[i]
		if from := arrives(t, p.Server(), p.Client(), netip.AddrPortFrom(to, 80), netip.AddrPortFrom(at, 80)); from != p.Server().West.Addresses[i] {
			t.Errorf("to %s it arrives from %s", to, from)
		}
	}
}

// TestThousandOnOneBridge: a thousand functions on one bridge, crossed both ways, and gone
// again.
func TestThousandOnOneBridge(t *testing.T) {
	needsBridge(t)
	const functions = 1000
	owner := nstest.Owner(t)
	downAfter(t, owner)
	p := planned(t, owner, bridged(oneArm, wide+plantest.Forwards(functions)))
	up(t, p)
	if ports := strings.Count(sh(t, "ip -n "+wiringOf(p)+" -o link show type bridge_slave"), "\n"); ports != functions+2 {
		t.Errorf("the bridge has %d ports, want %d", ports, functions+2)
	}
	crosses(t, p)
	down(t, owner)
	if names, err := deploy.Nodes(owner); err != nil || len(names) > 0 {
		t.Error("left:", names, err)
	}
}

// TestOneArmMirrors what passes, once, whichever way.
func TestOneArmMirrors(t *testing.T) {
	needsBridge(t)
	nstest.Require(t, feature.Redirect)
	p := planned(t, nstest.Owner(t), bridged(oneArm, spec(forward("a"), "{name: m, kind: mirror}", forward("b"))))
	downAfter(t, p.Chain)
	up(t, p)
	unchanged(t, p)
	crosses(t, p)
	const packets = 10
	for _, family := range []int{0, 1} {
		dropped, capture := nstest.Dropped(t), listen(t, namespace.Name(p.Chain, "m.tap"))
		there := carried(t, p.Client(), p.Server(), p.Server().West.Addresses[family], packets)
		back := carried(t, p.Server(), p.Client(), p.Client().East.Addresses[family], packets)
		seen := captured(t, capture, 2*packets)
		if there != packets || back != packets || nstest.Amiss(t, seen["forward"], packets, dropped) || nstest.Amiss(t, seen["reverse"], packets, dropped) {
			t.Errorf("of %d each way %d and %d arrived, and %v were captured", packets, there, back, seen)
		}
	}
}
