package deploy_test

import (
	"fmt"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestBump passes packets on both ways, without an address and without being a hop.
func TestBump(t *testing.T) {
	needs(t)
	nstest.Require(t, feature.Bridge)
	for name, functions := range map[string][]string{
		"alone":    {"{name: b, kind: bridge}"},
		"learning": {"{name: b, kind: bridge, bridge: {learning: true}}"},
		"between":  {forward("f"), "{name: b, kind: bridge}", forward("g")},
		"two":      {forward("f"), "{name: b, kind: bridge}", "{name: c, kind: bridge}"},
		"at ends":  {"{name: b, kind: bridge}", "{name: nat, kind: nat, nat: {source: {addresses: [203.0.113.1]}, destination: {addresses: [203.0.113.2]}}}", "{name: c, kind: bridge}"},
	} {
		t.Run(name, func(t *testing.T) {
			p := planned(t, nstest.Owner(t), spec(functions...))
			downAfter(t, p.Chain)
			up(t, p)
			unchanged(t, p)
			crosses(t, p)
			hops := 0
			for _, n := range p.Functions() {
				if !n.Transparent {
					hops++
					continue
				}
				if out := sh(t, "ip -n "+n.Namespace+" -o address show | grep -v ' lo ' || true"); out != "" {
					t.Errorf("%s has addresses: %s", n.Name, out)
				}
				out := sh(t, "ip -n "+n.Namespace+" -o -d link show")
				if strings.Count(out, "master br0") != 2 || !strings.Contains(out, "stp_state 0") || !strings.Contains(out, "mcast_snooping 0") {
					t.Errorf("%s: %s", n.Name, out)
				}
			}
			for _, to := range addresses(p, "client", "server") {
				if !within(t, p.Client().Namespace, to.String(), hops+1) || hops > 0 && within(t, p.Client().Namespace, to.String(), hops) {
					t.Errorf("%s is not %d hops away", to, hops)
				}
			}
		})
	}
}

// within tells whether an echo with so many hops to live is answered.
func within(t *testing.T, ns, to string, hops int) bool {
	t.Helper()
	return strings.Contains(sh(t, fmt.Sprintf("ip netns exec %s ping -n -c 1 -w 20 -t %d %s || true", ns, hops, to)), " 1 received")
}

// TestBumpChanges into a function with addresses and back.
func TestBumpChanges(t *testing.T) {
	needs(t)
	nstest.Require(t, feature.Bridge)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	for _, b := range []string{"{name: b, kind: bridge}", forward("b"), "{name: b, kind: bridge, bridge: {learning: true}}", "{name: b, kind: bridge}"} {
		p := planned(t, owner, spec(forward("a"), b))
		up(t, p)
		unchanged(t, p)
		crosses(t, p)
		bridges := sh(t, "ip -n "+p.Functions()[1].Namespace+" -o link show type bridge")
		if strings.Contains(bridges, "br0") != p.Functions()[1].Transparent {
			t.Errorf("%s: %q", b, bridges)
		}
	}
}
