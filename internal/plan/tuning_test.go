package plan_test

import (
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/tuning"
)

// TestTuningIsEverywhere: each interface of each node, the direct path's too, and each
// namespace once; without tuning there is none.
func TestTuningIsEverywhere(t *testing.T) {
	shared := plantest.Function(t, "filter", "kind: firewall\n")
	facts := plan.Facts{Functions: map[string]api.FunctionBody{"filter": shared.Spec}}
	for fields, want := range map[string]int{"": 0, "{}": 0, "{gro: true, tcp_mss: 1000}": 8, "{tcp_window_scaling: true}": 4, "{rps: none, tcp_rmem: [1, 2, 3]}": 12} {
		p := made(t, "tuning: "+fields+"\n"+plantest.Forwards(2), plan.Facts{}, plan.Options{Direct: true})
		sound(t, p)
		got := 0
		for _, r := range p.Resources {
			if r.Kind == tuning.KindName {
				got++
			}
		}
		if got != want {
			t.Errorf("tuning: %s is at %d places, want %d", fields, got, want)
		}
	}
	for _, s := range []string{"endpoints: [{name: l, namespace: left}, {name: r}]\n", "functions: [{name: f, ref: filter}]\n"} {
		sound(t, made(t, s+"tuning: {gro: true, tcp_mss: 1000}\n", facts, plan.Options{}))
		_, err := plan.Make(plantest.Chain(t, "edge", s+"tuning: {tcp_wmem: [1, 2, 3]}\n"), plantest.Catalogue(), facts, plan.Options{})
		if err == nil || !strings.Contains(err.Error(), "tuning.tcp_wmem: namespace") {
			t.Errorf("%s: TCP of a namespace that is not the chain's: %v", s, err)
		}
	}
}

// TestTuningOfWhatHasNoRoute: the segment size is of routes, and a node without
// addresses has none; the rest is set there as anywhere.
func TestTuningOfWhatHasNoRoute(t *testing.T) {
	p := made(t, "tuning: {gro: true, tcp_mss: 1000}\nfunctions: [{name: b, kind: bridge}]\n", plan.Facts{}, plan.Options{})
	got := map[string]int{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(tuning.Spec); is {
			got[r.Namespace] += len(s.Settings)
		}
	}
	for _, n := range p.Nodes {
		if got[n.Namespace] != 2 {
			t.Errorf("%s has %d settings, want 2", n.Name, got[n.Namespace])
		}
	}
}
