package deploy_test

import (
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

	p = planned(t, nstest.Owner(t)+"s", two)
	downAfter(t, p.Chain)
	runScript(t, p)
	unchanged(t, p)
	crosses(t, p)
}
