package bridge_test

import (
	"fmt"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	kinds "nfchain.dev/nfchain/internal/resource/bridge"
	"nfchain.dev/nfchain/internal/wiring/bridge"
)

func planned(t *testing.T, options, functions string, o plan.Options) (*plan.Plan, error) {
	t.Helper()
	chain := plantest.Chain(t, "edge", fmt.Sprintf("wiring: bridge\nbridge: {%s}\n%s", options, functions))
	return plan.Make(chain, plantest.Catalogue(), plan.Facts{}, o)
}

func count(p *plan.Plan, kind string) (n int) {
	for _, r := range p.Resources {
		if r.Kind == kind {
			n++
		}
	}
	return n
}

// TestBridgesAndPorts: two ports a hop, and a bridge for each hop or for all, the direct
// one included.
func TestBridgesAndPorts(t *testing.T) {
	for options, bridges := range map[string]int{"": 5, "per: hop": 5, "per: chain": 1} {
		p, err := planned(t, options, plantest.Forwards(3), plan.Options{Direct: true})
		if err != nil {
			t.Fatal(err)
		}
		if b, ports := count(p, kinds.KindName), count(p, kinds.PortKindName); b != bridges || ports != 10 {
			t.Errorf("%q makes %d bridges with %d ports, want %d with 10", options, b, ports, bridges)
		}
	}
}

// TestInsertedFunctionLeavesOthers their bridges, and on the one for the chain their ports.
func TestInsertedFunctionLeavesOthers(t *testing.T) {
	for options, stay := range map[string]int{"": 2, "per: chain": 7} {
		few, err := planned(t, options, "functions: [{name: a, kind: forward}, {name: c, kind: forward}]\n", plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		more, err := planned(t, options, "functions: [{name: a, kind: forward}, {name: b, kind: forward}, {name: c, kind: forward}]\n", plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		after := map[string]string{}
		for _, r := range more.Resources {
			after[r.ID] = r.Spec.Fingerprint()
		}
		stayed := 0
		for _, r := range few.Resources {
			counts := r.Kind == kinds.KindName || r.Kind == kinds.PortKindName && options != ""
			if counts && after[r.ID] == r.Spec.Fingerprint() {
				stayed++
			}
		}
		if stayed != stay {
			t.Errorf("%q: %d stay, want %d", options, stayed, stay)
		}
	}
}

// TestTooManyPorts are refused before anything is made, with the number.
func TestTooManyPorts(t *testing.T) {
	if _, err := planned(t, "per: chain", plantest.Forwards(510), plan.Options{}); err != nil {
		t.Error("1,022 ports:", err)
	}
	_, err := planned(t, "per: chain", plantest.Forwards(511), plan.Options{})
	if err == nil || !strings.Contains(err.Error(), "needs 1024 ports") || !strings.Contains(err.Error(), "takes 1023") {
		t.Error("1,024 ports:", err)
	}
	if _, err := planned(t, "per: hop", plantest.Forwards(511), plan.Options{}); err != nil {
		t.Error("1,024 ports of 512 bridges:", err)
	}
}

func TestOptions(t *testing.T) {
	o := bridge.Wiring{}.Options().(*bridge.Options)
	if wrong := o.Validate(); len(wrong) > 0 {
		t.Error("the defaults are wrong:", wrong)
	}
	o.Ageing = 1
	if wrong := o.Validate(); len(wrong) != 1 || wrong[0].Path != "ageing" {
		t.Error(wrong)
	}
}
