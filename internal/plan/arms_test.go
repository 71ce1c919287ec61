package plan_test

import (
	"net/netip"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/address"
	"nfchain.dev/nfchain/internal/resource/route"
)

// oneArm begins the spec of a chain whose functions have one interface each.
const oneArm = "wiring: bridge\nbridge: {per: chain, arms: 1}\n"

// TestOneArm: both sides of a function are one interface, standalone ones' too; what it
// sends itself to one side comes from its address there, so that answers find back.
func TestOneArm(t *testing.T) {
	shared := plantest.Function(t, "filter", "kind: firewall\n")
	facts := plan.Facts{Functions: map[string]api.FunctionBody{"filter": shared.Spec}}
	p := made(t, oneArm+"functions: [{name: a, kind: forward}, {name: fw, ref: filter}, {name: b, kind: forward}]\n", facts, plan.Options{Direct: true})
	sound(t, p)
	for i, n := range p.Nodes {
		end := i == 0 || i == len(p.Nodes)-1
		if !end && (n.West.Device != n.East.Device || n.West.MAC != n.East.MAC || n.West.Addresses[0] == n.East.Addresses[0]) {
			t.Errorf("%s: west %+v, east %+v", n.Name, n.West, n.East)
		}
		for _, r := range p.Resources {
			switch s := r.Spec.(type) {
			case address.Spec:
				if r.Namespace == n.Namespace && s.Peer.IsValid() != end {
					t.Errorf("%s: %+v", n.Name, s)
				}
			case route.Spec:
				if r.Namespace == n.Namespace && s.Source != sourceOf(p, n, s) {
					t.Errorf("%s: %+v", n.Name, s)
				}
			}
		}
	}
}

// sourceOf a route is the node's address that those reach whom the route leads to: from
// the west it is reached in the eastern half, where its western side has its address.
func sourceOf(p *plan.Plan, n plan.Node, r route.Spec) netip.Addr {
	if n.West == nil || n.East == nil {
		return netip.Addr{}
	}
	side := n.West
	if r.Destination.Contains(p.Server().West.Addresses[0]) || r.Destination.Contains(p.Server().West.Addresses[1]) {
		side = n.East
	}
	for _, a := range side.Addresses {
		if a.Is4() == r.Via.Is4() {
			return a
		}
	}
	return netip.Addr{}
}

// TestOneArmRefuses what tells directions apart by the interface: by name, with the fix.
func TestOneArmRefuses(t *testing.T) {
	for spec, where := range map[string]string{
		"functions: [{name: x, kind: shaper, shaper: {rate: 1Gbit}}]\n":                                                         "function x: kind shaper",
		"functions: [{name: x, kind: bridge}]\n":                                                                                "function x: kind bridge",
		"functions: [{name: x, kind: impair, impair: {loss: {every: 10}}}]\n":                                                   "function x: kind impair",
		"functions: [{name: x, kind: firewall, direction: forward}]\n":                                                          "function x: kind firewall",
		"functions: [{name: x, kind: mirror, direction: reverse}]\n":                                                            "function x: kind mirror",
		"functions: [{name: x, kind: nat, nat: {source: {masquerade: true}}}]\n":                                                "function x: kind nat",
		"functions: [{name: x, kind: forward}]\neverywhere: [{kind: shaper, shaper: {rate: 1Gbit}}]\n":                          "everywhere[0]: kind shaper",
		"functions: [{name: x, kind: forward}]\neverywhere: [{kind: firewall, direction: reverse, firewall: {policy: drop}}]\n": "everywhere[0]: kind firewall",
		"functions: [{name: x, kind: firewall, group: g}, {name: y, kind: firewall, group: g}]\n":                               "function y: kind firewall",
	} {
		_, err := plan.Make(plantest.Chain(t, "edge", oneArm+spec), plantest.Catalogue(), plan.Facts{}, plan.Options{})
		if err == nil || !strings.Contains(err.Error(), "chain edge: "+where) || !strings.Contains(err.Error(), "bridge: {arms: 2}") {
			t.Errorf("%s: %v", spec, err)
		}
	}
	for _, spec := range []string{
		"functions: [{name: x, kind: firewall}, {name: y, kind: mirror}, {name: z, kind: command, command: {args: [cat]}}]\n",
		"functions: [{name: x, kind: firewall, group: g}, {name: y, kind: forward, group: g}]\n",
		"functions: [{name: x, kind: nat, nat: {destination: {}}}, {name: y, kind: loadbalancer, direction: reverse}]\n",
		"functions: [{name: x, kind: forward}]\neverywhere: [{kind: firewall}, {kind: shaper, except: [x], shaper: {rate: 1Gbit}}]\n",
	} {
		made(t, oneArm+spec, plan.Facts{}, plan.Options{})
	}
}
