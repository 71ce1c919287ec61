package plan_test

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// TestInlineFirewalls have their rules at both ports, and let pass what is not theirs; rules that ask for
// no states are where they act alone. As many connections are known on either way, however many there are.
func TestInlineFirewalls(t *testing.T) {
	p := made(t, `wiring: ebpf
runtime: inline
functions:
- {name: both, kind: firewall, firewall: {policy: drop}}
- {name: stateful, kind: firewall, direction: forward, firewall: {rules: {list: [{state: [new], action: drop}]}}}
- {name: stateless, kind: firewall, direction: reverse, firewall: {rules: {generate: 3}}}
`, plan.Facts{}, plan.Options{})
	sound(t, p)
	got := map[string]string{}
	for _, r := range p.Resources {
		s, is := r.Spec.(pass.Spec)
		if !is {
			continue
		}
		for _, f := range s.Firewalls {
			got[r.ID] += " " + f.Name
			if f.Aside {
				got[r.ID] += " aside"
			}
		}
		if s.Connections != 65536 || len(s.Steps) != len(s.Firewalls) {
			t.Errorf("%s remembers %d connections in %d steps", r.ID, s.Connections, len(s.Steps))
		}
	}
	forward, reverse := p.Inline[0].Forward.Pass, p.Inline[0].Reverse.Pass
	if len(got) != 2 || got[forward] != " both stateful" || got[reverse] != " stateless stateful aside both" {
		t.Errorf("%v", got)
	}
	if p.Inline[1].Reverse != nil || p.Inline[2].Forward != nil {
		t.Errorf("%+v", p.Inline)
	}
	for i, n := range []int{0, 1, 3} {
		if _, rules := p.Inline[i].Firewall(p); rules == nil || len(rules.Rules) != n || rules.Aside {
			t.Errorf("%s has rules %+v, want %d", p.Inline[i].Name, rules, n)
		}
	}
}

// TestInlineFirewallRefuses what needs a namespace.
func TestInlineFirewallRefuses(t *testing.T) {
	for options, want := range map[string]string{
		"backend: iptables": "leave backend out", "hooks: [input]": "leave hook input out", "rules: {total: 5}": "use rules.generate",
	} {
		spec := "wiring: ebpf\nfunctions: [{name: fw, kind: firewall, runtime: inline, firewall: {" + options + "}}]\n"
		if _, err := plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), plan.Facts{}, plan.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", options, err)
		}
	}
}
