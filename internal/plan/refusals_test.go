package plan_test

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
)

// TestRefusalsAreToldTogether, each by itself and none twice: mending one does not bring up the next.
func TestRefusalsAreToldTogether(t *testing.T) {
	for spec, want := range map[string][]string{
		`
  functions:
  - {name: a, kind: firewall, onFailure: bypass}
  - {name: b, kind: counter, runtime: inline}
  - {name: c, kind: forward, onFailure: block, encapsulation: nsh}`: {
			"function b: runtime inline: wiring veth", "function c: encapsulation: wiring veth", "function c: encapsulation: a forward", "function a: onFailure: over wiring veth", "function c: onFailure: over wiring veth"},
		`
  wiring: ebpf
  functions:
  - {name: a, kind: counter, runtime: inline, onFailure: bypass, replicas: 2}
  - {name: b, kind: bridge, runtime: inline}
  - {name: g1, kind: passthrough, group: g}
  - {name: g2, kind: firewall, group: g}`: {
			"function a: runtime inline: it has nothing that could fail", "function a: runtime inline: it is wherever", "function b: runtime inline: a bridge needs", "group g: function g1: a passthrough needs"},
		`
  wiring: ebpf
  functions:
  - {name: a, kind: passthrough, branches: [{mark: 1, to: server}]}
  - {name: b, kind: passthrough, branches: [{mark: 1, to: server}]}
  - {name: c, kind: passthrough}`: {"function a: branches: what a passthrough passes on has no mark", "function b: branches: what"},
		`
  wiring: ebpf
  functions:
  - {name: a, kind: command, command: {args: [x], restart: never}, replicas: 2, onFailure: bypass}
  - {name: b, kind: command, command: {args: [x], restart: never}, onFailure: block}`: {
			"function a: onFailure: its program is started once", "function b: onFailure: its program is started once"},
		`
  functions: [{name: f, kind: forward}, {name: p, kind: passthrough}]
  everywhere:
  - {kind: forward}
  - {kind: bridge}`: {"everywhere[0]: a forward needs", "everywhere[1]: a bridge needs"},
		`
  wiring: host
  mtu: 9000
  endpoints: [{name: client, interface: eth7}, {name: server, command: {args: [x]}}]
  functions: [{name: f, kind: forward}]`: {
			"spec.functions: wiring host", "spec.mtu: wiring host", "spec.endpoints[0].interface: wiring host", "spec.endpoints[1].command: wiring host"},
	} {
		_, err := plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), plan.Facts{}, plan.Options{})
		got := plan.Refusals(err)
		for i, one := range got {
			if i >= len(want) || !strings.HasPrefix(one.Error(), "chain edge: "+want[i]) {
				t.Errorf("%s: %d: %v", spec, i, one)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d refusals, want %d:\n%v", spec, len(got), len(want), err)
		}
	}
	if all := plan.Refusals(nil); all != nil {
		t.Error(all)
	}
}
