package plan_test

import (
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// TestGroup has functions share a namespace, where packets of each direction meet rules
// in the chain's order, and are found by every name.
func TestGroup(t *testing.T) {
	p := made(t, group, plan.Facts{}, plan.Options{Direct: true})
	if len(p.Nodes) != 4 || p.Nodes[1].Name != "box" || len(p.Nodes[1].Functions) != 7 {
		t.Fatalf("nodes %+v", p.Nodes)
	}
	priorities := map[string]int{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(ruleset.Spec); is && s.Hook == "forward" {
			priorities[s.Backend+" "+s.Table] = s.Priority
		}
	}
	for table, want := range map[string]int{
		"nftables nfchain-firewall-fw-forward": -1, "nftables nfchain-firewall-fw-reverse": 1, "iptables nfchain": 0, "nftables nfchain-firewall-there": 1,
	} {
		if got, is := priorities[table]; !is || got != want {
			t.Errorf("%s has priority %d, want %d; all: %v", table, got, want, priorities)
		}
	}
	for _, name := range []string{"client", "box", "web", "server"} {
		var names []string
		for _, h := range p.Hosts(name) {
			names = append(names, h.Name)
		}
		for _, want := range []string{"client", "server", "box", "fw", "web", "last"} {
			if !slices.Contains(names, want) {
				t.Errorf("%s does not resolve in %s, only %v", want, name, names)
			}
		}
	}
}

// TestGroupRefuses what one namespace cannot do in the chain's order, naming both and
// what can be done.
func TestGroupRefuses(t *testing.T) {
	for functions, want := range map[string]string{
		"{name: a, kind: shaper, shaper: {rate: 1Gbit}}; {name: b, kind: shaper, shaper: {rate: 1Gbit}}":                                                "a and b both take an interface's queue on the way there",
		"{name: a, kind: firewall}; {name: b, kind: shaper, shaper: {rate: 1Gbit}}":                                                                     "on the way back packets would meet a before b, since in one namespace the list of rules comes before an interface's queue; give one of them another group, or direction: forward",
		"{name: a, kind: shaper, direction: forward, shaper: {rate: 1Gbit}}; {name: b, kind: firewall}":                                                 "on the way there packets would meet b before a",
		"{name: a, kind: firewall}; {name: b, kind: nat, nat: {destination: {}}}":                                                                       "on the way there packets would meet b before a, since in one namespace the translation of destinations comes before the list of rules",
		"{name: a, kind: firewall}; {name: b, kind: loadbalancer}":                                                                                      "on the way there packets would meet b before a",
		"{name: a, kind: nat, nat: {source: {masquerade: true}}}; {name: b, kind: firewall}":                                                            "on the way there packets would meet b before a",
		"{name: a, kind: nat, nat: {source: {masquerade: true}}}; {name: b, kind: nat, nat: {source: {addresses: [203.0.113.1]}}}":                      "a and b both take the translation of sources",
		"{name: a, kind: firewall, firewall: {backend: iptables}}; {name: b, kind: firewall}; {name: c, kind: firewall, firewall: {backend: iptables}}": "a and c both take the list of rules",
		"{name: a, kind: mirror}; {name: b, kind: firewall}":                                                                                            "function a: a mirror needs a namespace of its own; leave its group out",
		"{name: a, kind: firewall}; {name: b, kind: bridge}":                                                                                            "function b: a bridge needs a namespace of its own",
		"{name: a, kind: impair, impair: {delay: 1ms}}":                                                                                                 "function a: a impair needs a namespace of its own",
		"{name: a, kind: command, command: {args: [x], ready: {tcp_port: 80}}}; {name: b, kind: command, command: {args: [x], ready: {tcp_port: 80}}}":  "function a takes TCP port 80 of namespace nfchain.edge.box already",
	} {
		var spec strings.Builder
		spec.WriteString("functions:\n")
		for f := range strings.SplitSeq(functions, "; ") {
			spec.WriteString("- " + strings.TrimSuffix(f, "}") + ", group: box}\n")
		}
		_, err := plan.Make(plantest.Chain(t, "edge", spec.String()), plantest.Catalogue(), plan.Facts{}, plan.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", functions, err, want)
		}
	}
}

// TestGroupAllows what one namespace does in the chain's order on both ways.
func TestGroupAllows(t *testing.T) {
	const shaped = "{name: back, kind: shaper, direction: reverse, group: box, shaper: {rate: 1Gbit, classes: [{name: web, rate: 1Mbit, match: {protocol: tcp}}]}}"
	for _, functions := range []string{
		shaped + "\n- {name: fw, kind: firewall, group: box}\n- {name: there, kind: shaper, direction: forward, group: box, shaper: {rate: 1Gbit, classes: [{name: web, rate: 1Mbit, match: {protocol: tcp}}]}}",
		"{name: in, kind: nat, group: box, nat: {destination: {}}}\n- {name: fw, kind: firewall, group: box}\n- {name: out, kind: nat, group: box, nat: {source: {masquerade: true}}}",
		"{name: lb, kind: loadbalancer, group: box}\n- {name: one, kind: firewall, group: box}\n- {name: two, kind: firewall, group: box}",
		"{name: back, kind: nat, direction: reverse, group: box, nat: {source: {masquerade: true}}}\n- {name: out, kind: nat, group: box, nat: {source: {masquerade: true}}}",
		"{name: fw, kind: firewall, group: box}",
	} {
		if p := made(t, "functions:\n- "+functions+"\n", plan.Facts{}, plan.Options{}); p.Service == nil {
			sound(t, p) // what is translated cannot be followed by addresses
		}
	}
}
