package plan_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/route"
)

// TestInlineTranslators follow connections from each end: each translates to where the one behind it, or the end,
// is reached, and opens connections on the one way alone. Those of answers are made first.
func TestInlineTranslators(t *testing.T) {
	p := made(t, translated, plan.Facts{}, plan.Options{})
	inline := map[string]plan.Inline{}
	for _, f := range p.Inline {
		inline[f.Name] = f
	}
	for name, want := range map[string]struct {
		opens string
		rules int
	}{"out": {inline["out"].Forward.Pass, 2}, "lb": {inline["lb"].Forward.Pass, 1}, "back": {inline["back"].Reverse.Pass, 4}} {
		f := inline[name]
		spec, n := f.NAT(p)
		if n == nil || f.Forward == nil || f.Reverse == nil || len(n.Rules) != want.rules || len(f.Addresses) != 4 || !strings.HasSuffix(want.opens, spec.Device) {
			t.Fatalf("%s: %+v %+v", name, f, n)
		}
		for _, r := range n.Rules {
			if own := slices.Contains(f.Addresses, r.Targets[0].Address); r.Source != own {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
	if spec, n := inline["fw"].NAT(p); n != nil {
		t.Errorf("%+v translates", spec)
	}
	var ways []bool
	for _, r := range p.Resources {
		if s, is := r.Spec.(pass.Spec); is && s.Connections > 0 {
			ways = append(ways, s.NATs[0].Answers)
		}
	}
	if !slices.Equal(ways, []bool{true, false, false, false}) { // of the second pair, back answers at the one and lb at the other
		t.Errorf("passes are made in the order %v", ways)
	}
	if s := p.Reached(); s.Addresses[0] != netip.MustParseAddr("203.0.113.80") || !slices.Contains(inline["out"].Addresses, s.Source[0]) || len(s.Served) < 3 {
		t.Errorf("%+v", s)
	}
	for _, spare := range append(p.Spare(false, 1000), p.Spare(true, 1000)...) {
		for _, f := range p.Inline {
			if slices.Contains(f.Addresses, spare) {
				t.Errorf("%s is %s's", spare, f.Name)
			}
		}
	}
}

// TestInlineTranslatorsAreLedTo where their addresses are not the plan's, from the one side; nodes behind are not
// probed at them.
func TestInlineTranslatorsAreLedTo(t *testing.T) {
	p := made(t, "wiring: ebpf\nfunctions:\n- {name: a, kind: forward, onFailure: block}\n"+
		"- {name: nat, kind: nat, runtime: inline, nat: {source: {addresses: [203.0.113.1]}, destination: {addresses: [203.0.113.2]}}}\n"+
		"- {name: b, kind: forward, onFailure: block}\n", plan.Facts{}, plan.Options{})
	led := map[string][]string{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(route.Spec); is && s.Destination.Bits() == 32 {
			_, node, _ := strings.Cut(r.Namespace, "edge.")
			led[s.Destination.String()] = append(led[s.Destination.String()], node)
		}
		h, is := r.Spec.(health.Spec)
		if !is {
			continue
		}
		for node, want := range map[int]string{1: "203.0.113.2", 2: p.Server().West.Addresses[0].String()} {
			if got := h.Path.Nodes[node].Eastward.To.String(); got != want {
				t.Errorf("%s is probed by packets to %s, want %s", h.Path.Nodes[node].Node, got, want)
			}
		}
	}
	for address, want := range map[string][]string{"203.0.113.1/32": {"b", "server"}, "203.0.113.2/32": {"a", "client"}} {
		if slices.Sort(led[address]); !slices.Equal(led[address], want) {
			t.Errorf("%s is led to from %v, want %v", address, led[address], want)
		}
	}
}

// TestInlineTranslatorsRefuse what would lead nowhere.
func TestInlineTranslatorsRefuse(t *testing.T) {
	for options, want := range map[string]string{
		"kind: nat, nat: {source: {addresses: [198.18.0.1]}}":                                     "is in the chain's own block",
		"kind: loadbalancer, loadbalancer: {addresses: [203.0.113.1], backends: ['2001:db8::1']}": "none are of one family",
		"kind: loadbalancer, replicas: 2, loadbalancer: {}":                                       "leave replicas out",
		"kind: nat, onFailure: block, nat: {source: {}}":                                          "leave onFailure out",
	} {
		spec := "wiring: ebpf\naddresses: {ipv4: 198.18.0.0/26, ipv6: none}\nfunctions: [{name: f, runtime: inline, " + options + "}]\n"
		if _, err := plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), plan.Facts{}, plan.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", options, err)
		}
	}
}
