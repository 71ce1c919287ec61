package deploy_test

import (
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
)

// TestWithin: both ends have names of one namespace, which has a loopback and no other interface. Another wiring parts them, by a forwarder
// too, this one joins them again, and a name that somebody gave to another namespace is mended.
func TestWithin(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, feature.ToolPing, feature.ToolIP)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	others := []string{"wiring: veth\n"}
	if nstest.Has(feature.BPFPeer) && nstest.Has(feature.BPFClsact) {
		others = append(others, forwarders["clsact"])
	}
	for _, other := range append(others, others...) {
		p := planned(t, owner, "wiring: pod\n")
		up(t, p)
		unchanged(t, p)
		shares(t, p, true)
		sh(t, "ip netns exec "+p.Client().Namespace+" ping -4 -c 1 -w 20 127.0.0.1; ip netns exec "+p.Server().Namespace+" ping -6 -c 1 -w 20 ::1")
		if links := sh(t, "ip -n "+p.Server().Namespace+" -o link | wc -l"); links != "1\n" {
			t.Errorf("%s interfaces", links)
		}
		p = planned(t, owner, other)
		seen := map[string]int{}
		for _, c := range dryUp(t, p) {
			if seen[c]++; seen[c] > 1 {
				t.Errorf("%s: %s is told of twice", other, c)
			}
		}
		up(t, p)
		unchanged(t, p)
		shares(t, p, false)
		crosses(t, p)
	}
	p := planned(t, owner, "wiring: pod\n")
	up(t, p)
	sh(t, "ip netns del "+p.Server().Namespace+"; ip netns add "+p.Server().Namespace)
	if seen := dryUp(t, p); len(seen) == 0 {
		t.Error("a name of another namespace is not seen")
	}
	up(t, p)
	unchanged(t, p)
	shares(t, p, true)
	down(t, owner)
	scripted := planned(t, nstest.Owner(t)+"s", "wiring: pod\n")
	downAfter(t, scripted.Chain)
	runScript(t, scripted)
	unchanged(t, scripted)
	shares(t, scripted, true)
}

// shares tells whether the ends are in one namespace.
func shares(t *testing.T, p *plan.Plan, want bool) {
	t.Helper()
	client, server := netns.Identity(p.Client().Namespace), netns.Identity(p.Server().Namespace)
	if client == "" || server == "" || (client == server) != want {
		t.Errorf("the ends are in namespaces %s and %s", client, server)
	}
}

// TestHarmWithin is refused: the loopback is the namespace's.
func TestHarmWithin(t *testing.T) {
	p := planned(t, "edge", "wiring: pod\n")
	for _, name := range []string{"client", "server"} {
		if err := deploy.Harmable(p, api.Harm{What: api.HarmInterface, Node: name}); err == nil || !strings.Contains(err.Error(), name+" has no interface that is the chain's alone") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
