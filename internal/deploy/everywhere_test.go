package deploy_test

import (
	"fmt"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// TestEverywhere splits rules over the namespaces but the sender's, where they see
// packets on their way through and at the receiver those that come in, and not those
// that come by the direct path.
func TestEverywhere(t *testing.T) {
	needs(t)
	for _, backend := range []string{"nftables", "iptables"} {
		t.Run(backend, func(t *testing.T) {
			spec := spec(forward("f0"), forward("f1")) + "everywhere:\n- {kind: shaper, shaper: {rate: 1Tbit, burst: max}}\n" +
				"- {kind: firewall, except: [client], firewall: {backend: " + backend + ", rules: {total: 100, stateful: true, list: [" +
				"{protocol: udp, destination_port: 99, action: drop, comment: named}, {protocol: udp, action: accept, comment: seen}]}}}\n"
			p := direct(t, nstest.Owner(t), spec)
			downAfter(t, p.Chain)
			up(t, p)
			unchanged(t, p)
			crosses(t, p)
			for i, to := range addresses(p, "client", "server") {
				if !reaches(t, "udp", p.Client().Namespace, p.Server().Namespace, to, 100, long) {
					t.Errorf("nothing reaches %s", to)
				}
				if !reaches(t, "udp", p.Client().Namespace, p.Server().Namespace, p.Direct.Server.Addresses[i], 99, long) {
					t.Errorf("rules act on the direct path to %s", p.Direct.Server.Addresses[i])
				}
			}
			sum := 0
			for _, n := range p.Nodes[1:] {
				generated, seen, named := countedAt(t, p, n)
				sum += generated
				// A packet of each family, and perhaps again; none of those past the chain.
				if generated < 33 || generated > 34 || seen < 2 || named > 0 {
					t.Errorf("%s: %d rules were generated, and %d packets seen of 2, %d of them past the chain", n.Name, generated, seen+named, named)
				}
			}
			if sum != 100 {
				t.Errorf("%d rules in all", sum)
			}
			for _, n := range p.Nodes {
				for _, port := range []*plan.Interface{n.West, n.East} {
					if port == nil {
						continue
					}
					if out := sh(t, fmt.Sprintf("tc -n %s class show dev %s", n.Namespace, port.Device)); !strings.Contains(out, "rate 1Tbit") {
						t.Errorf("%s %s: %s", n.Name, port.Device, out)
					}
				}
			}
		})
	}
}

// direct is the plan of a chain with a hop beside it.
func direct(t *testing.T, owner, spec string) *plan.Plan {
	t.Helper()
	chain := plantest.Chain(t, owner, spec)
	facts, err := deploy.Facts(chain)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Make(chain, plantest.Catalogue(), facts, plan.Options{Direct: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// countedAt is the number of rules that match nothing at a node, and the packets that
// the rules "seen" and "named" counted.
func countedAt(t *testing.T, p *plan.Plan, n plan.Node) (generated int, seen, named uint64) {
	t.Helper()
	at := resource.At(nstest.Open(t, n.Namespace), p.Chain)
	for _, r := range p.Resources {
		s, is := r.Spec.(ruleset.Spec)
		if !is || r.Namespace != n.Namespace {
			continue
		}
		counters, err := ruleset.Count(at, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range counters.Rules {
			switch {
			case c.Comment == "seen":
				seen = c.Packets
			case c.Comment == "named":
				named = c.Packets
			case s.Rules[c.Rule-1].ConnectionBytes > 0 && c.Packets == 0:
				generated++
			}
		}
	}
	return generated, seen, named
}
