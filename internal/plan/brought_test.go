package plan_test

import (
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

const places = `
endpoints: [{name: client, runtime: cni}, {name: server}]
functions: [{name: fw, kind: forward}, {name: ids, kind: forward, runtime: cni}]
`

// TestBroughtKeepsWhoItIs: a container in a node's place has its addresses, link-layer ones too, under names of its own; what
// stands in for it forwards nothing.
func TestBroughtKeepsWhoItIs(t *testing.T) {
	chain := plantest.Chain(t, "edge", places)
	before, err := plan.Make(chain, plantest.Catalogue(), plan.Facts{}, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	brought := map[string]plan.Brought{"ids": {Namespace: "nfchain-cni.edge.ids", Devices: []string{"west", "east"}}}
	after, err := plan.Make(chain, plantest.Catalogue(), plan.Facts{Brought: brought}, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(before.Waiting(), []string{"client", "ids"}) || !slices.Equal(after.Waiting(), []string{"client"}) {
		t.Errorf("%v wait, and then %v", before.Waiting(), after.Waiting())
	}
	if len(before.Warnings) != 1 || !strings.Contains(after.Warnings[0], "client waits for its container") {
		t.Errorf("%q, %q", before.Warnings, after.Warnings)
	}
	was, is := before.Nodes[2], after.Nodes[2]
	if is.Namespace != "nfchain-cni.edge.ids" || is.Made || !was.Made || was.Namespace != namespace.Name("edge", "ids") {
		t.Errorf("%+v, %+v", was, is)
	}
	for _, side := range [][2]*plan.Interface{{was.West, is.West}, {was.East, is.East}} {
		if side[0].MAC != side[1].MAC || !slices.Equal(side[0].Addresses, side[1].Addresses) {
			t.Errorf("%+v becomes %+v", side[0], side[1])
		}
	}
	if is.West.Device != "west" || is.East.Device != "east" {
		t.Errorf("%s, %s", is.West.Device, is.East.Device)
	}
	forwards := namespace.Sysctl{Path: "net/ipv4/ip_forward", Value: "1"}
	still := namespace.Sysctl{Path: "net/ipv4/ip_forward", Value: "0"}
	for p, want := range map[*plan.Plan]namespace.Sysctl{before: still, after: forwards} {
		for _, r := range p.Resources {
			if s, made := r.Spec.(namespace.Spec); made && s.Name == p.Nodes[2].Namespace && !slices.Contains(s.Sysctls, want) {
				t.Errorf("%+v", s)
			}
		}
	}
}

// TestBroughtIsRefused where nfchain would have to do something to the container, or its interfaces have names of their own.
func TestBroughtIsRefused(t *testing.T) {
	for text, says := range map[string]string{
		"functions: [{name: fw, kind: firewall, runtime: cni}]":                                                            "nothing of kind firewall is made there",
		"runtime: cni\nfunctions: [{name: fw, kind: passthrough}]":                                                         "nothing of kind passthrough is made there",
		"wiring: host\nendpoints: [{name: client, runtime: cni}, {name: server}]":                                          "no place for a container",
		"wiring: cni\ncni: {config: x}\nendpoints: [{name: client, runtime: cni}, {name: server}]":                         "no place for a container",
		places + "everywhere: [{kind: firewall}]":                                                                          "is not the chain's own",
		places + "tuning: {tcp_window_scaling: true}":                                                                      "is not the chain's own",
		"wiring: ovs\novs: {ports: internal, datapath: system}\nendpoints: [{name: client, runtime: cni}, {name: server}]": "interfaces have names of wiring ovs's own",
	} {
		_, err := plan.Make(plantest.Chain(t, "edge", text), plantest.Catalogue(), plan.Facts{}, plan.Options{})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
