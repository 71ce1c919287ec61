package plan_test

import (
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/qdisc"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// TestEverywhere has rules split over the namespaces but the sender's, and a shaper at
// every interface.
func TestEverywhere(t *testing.T) {
	const spec = `everywhere:
- {kind: firewall, except: [client], firewall: {rules: {total: 10}}}
- {kind: shaper, shaper: {rate: 1Tbit}}
functions:
`
	for n, want := range map[int][]int{0: {10}, 1: {5, 5}, 2: {4, 3, 3}, 9: {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 14: {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0}} {
		p := made(t, spec+strings.TrimPrefix(plantest.Forwards(n), "functions:\n"), plan.Facts{}, plan.Options{Direct: true})
		sound(t, p)
		rules, shaped := map[string]int{}, 0
		for _, r := range p.Resources {
			switch s := r.Spec.(type) {
			case ruleset.Spec:
				rules[r.Namespace] = countOf(s)
				if hook := s.Hook; (hook == "input") != (r.Namespace == p.Server().Namespace) || len(s.AlsoHooks) > 0 {
					t.Errorf("%s: %s", r.Namespace, s.Key())
				}
			case qdisc.Spec:
				shaped++
			}
		}
		for i, node := range p.Nodes[1:] {
			if rules[node.Namespace] != want[i] {
				t.Errorf("of %d namespaces %s has %d rules, want %d", n+2, node.Name, rules[node.Namespace], want[i])
			}
		}
		if shaped != 2*(n+1) || len(rules) != n+1 {
			t.Errorf("%d functions: %d shapers, %d rule sets", n, shaped, len(rules))
		}
	}
}

// countOf the generated rules: those for the direct hop let it pass.
func countOf(s ruleset.Spec) (n int) {
	for _, r := range s.Rules {
		if r.Counted {
			n++
		}
	}
	return n
}

// TestEverywhereRefuses what cannot be: one discipline an interface, one filter table,
// no rules in namespaces of others.
func TestEverywhereRefuses(t *testing.T) {
	shared := plantest.Function(t, "filter", "kind: firewall\n")
	facts := plan.Facts{Functions: map[string]api.FunctionBody{"filter": shared.Spec}}
	for spec, want := range map[string]string{
		"functions: [{name: s, kind: shaper, shaper: {rate: 1Gbit}}]\neverywhere: [{kind: shaper, shaper: {rate: 1Gbit}}]\n":                                              "function s takes qdisc:nfchain.edge.s:eth0 already",
		"functions: [{name: f, kind: firewall, firewall: {backend: iptables}}]\neverywhere: [{kind: firewall, firewall: {backend: iptables, hooks: [input, forward]}}]\n": "function f takes ruleset:nfchain.edge.f:iptables/nfchain already",
		"everywhere: [{kind: command, command: {args: [sleep, inf]}}]\n":                                                                                                  "a command needs a namespace of its own",
		"endpoints: [{name: l, namespace: left}, {name: r}]\neverywhere: [{kind: firewall}]\n":                                                                            "write except: [l]",
		"functions: [{name: f, ref: filter}]\neverywhere: [{kind: firewall}]\n":                                                                                           "write except: [f]",
		"functions: [{name: f, kind: firewall, firewall: {rules: {total: 5}}}]\n":                                                                                         "put it under everywhere",
	} {
		_, err := plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), facts, plan.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", spec, err, want)
		}
	}
	made(t, "endpoints: [{name: l, namespace: left}, {name: r}]\neverywhere: [{kind: firewall, except: [l]}, {kind: shaper, shaper: {rate: 1Gbit}}]\n", plan.Facts{}, plan.Options{})
}
