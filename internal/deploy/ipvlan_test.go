package deploy_test

import (
	"fmt"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
)

// TestIPvlan joins two ends by ipvlan devices, edits them, and makes the same with the
// commands of a plan's script. Packets cross at once and in TCP. scripts/test-vm runs it where
// the kernel has no ipvlan.
func TestIPvlan(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, feature.IPvlan, feature.Veth, feature.ToolPing, feature.ToolIP)
	const two = "wiring: ipvlan\nfunctions: []\n"
	owner := nstest.Owner(t)
	downAfter(t, owner)
	for _, s := range []string{two, two + "mtu: 9000\n", "functions: []\n", two} {
		p := planned(t, owner, s)
		if len(up(t, p)) == 0 {
			t.Errorf("nothing changed for\n%s", s)
		}
		unchanged(t, p)
		crosses(t, p)
		connects(t, p)
		if there := netns.Exists(wiringOf(p)); there != (p.Wiring == "ipvlan") {
			t.Errorf("wiring %s has a namespace of its own: %t", p.Wiring, there)
		}
	}
	p := planned(t, owner, two)
	sh(t, "ip -n "+p.Server().Namespace+" link del eth0")
	if len(up(t, p)) == 0 {
		t.Error("nothing was mended")
	}
	crosses(t, p)
	chain := plantest.Chain(t, owner, two)
	facts, err := deploy.Facts(chain)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = plan.Make(chain, plantest.Catalogue(), facts, plan.Options{Direct: true}); err != nil {
		t.Fatal(err)
	}
	up(t, p)
	for _, to := range p.Direct.Server.Addresses {
		if out, err := ping(p.Client().Namespace, to); err != nil {
			t.Errorf("beside the chain %s is not reached: %v\n%s", to, err, out)
		}
		if way := sh(t, "ip -n "+p.Client().Namespace+" route get "+to.String()); !strings.Contains(way, "dev "+p.Direct.Client.Device+" ") {
			t.Errorf("the way to %s is %s", to, way)
		}
	}
	down(t, owner)

	longAndShort(t, owner, two)
	tenantsOnTheirOwn(t, two)

	p = planned(t, nstest.Owner(t)+"s", two)
	downAfter(t, p.Chain)
	runScript(t, p)
	unchanged(t, p)
	crosses(t, p)
}

// longAndShort has the longest packets cross, and longer ones refused. An MTU that somebody
// lowers between the nodes, which takes the devices' with it, is seen and mended.
func longAndShort(t *testing.T, owner, spec string) {
	t.Helper()
	p := planned(t, owner, spec+withMTU(jumbo))
	up(t, p)
	longest(t, p, jumbo)
	longerThan(t, p, jumbo)
	own := wiringOf(p)
	port, _, _ := strings.Cut(sh(t, "ip -n "+own+" -br link show type veth"), "@")
	sh(t, fmt.Sprintf("ip -n %s link set %s mtu %d", own, port, little))
	if seen := dryUp(t, p); len(seen) == 0 {
		t.Errorf("the MTU of %s is not seen", port)
	}
	up(t, p)
	unchanged(t, p)
	longest(t, p, jumbo)
	down(t, owner)
}

// tenantsOnTheirOwn have the same addresses, each a wiring of its own: what one sends comes
// to its own server.
func tenantsOnTheirOwn(t *testing.T, spec string) {
	t.Helper()
	one, two := nstest.Owner(t)+"-1", nstest.Owner(t)+"-2"
	common := spec + "endpoints: [{name: client}, {name: server, addresses: [203.0.113.10]}]\naddresses: {ipv4: 240.77.19.0/26, ipv6: \"fd77:19::/64\"}\n"
	f := plantest.Function(t, nstest.Owner(t), "kind: forward\n") // which ipvlan has no place for
	a, b := tenant(t, one, two, common, f), tenant(t, two, one, common, f)
	for _, p := range []*plan.Plan{a, b} {
		downAfter(t, p.Chain)
		up(t, p)
	}
	a, b = tenant(t, one, two, common, f), tenant(t, two, one, common, f)
	if a.Blocks[0] != b.Blocks[0] || a.Blocks[1] != b.Blocks[1] {
		t.Errorf("the tenants have the blocks %v and %v, not the same", a.Blocks, b.Blocks)
	}
	for _, p := range []*plan.Plan{a, b} {
		unchanged(t, p)
		crosses(t, p)
	}
	onlyOwn(t, a, b)
	onlyOwn(t, b, a)
	down(t, a.Chain)
	crosses(t, b)
	down(t, b.Chain)
}
