package bridge_test

import (
	"fmt"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	kinds "nfchain.dev/nfchain/internal/resource/bridge"
	"nfchain.dev/nfchain/internal/resource/link"
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

// TestPipeline: one bridge with the ends and their neighbours on it, and pairs between
// functions.
func TestPipeline(t *testing.T) {
	for functions, ports := range map[int]int{0: 2, 1: 4, 2: 4, 5: 4} {
		p, err := planned(t, "per: ends", plantest.Forwards(functions), plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		between := max(0, functions-1)
		if b, got, links := count(p, kinds.KindName), count(p, kinds.PortKindName), count(p, link.KindName); b != 1 || got != ports || links != ports+between {
			t.Errorf("%d functions: %d bridges with %d ports and %d pairs, want 1 with %d and %d", functions, b, got, links, ports, ports+between)
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

// TestOneArm: one port a function, two for the direct hop.
func TestOneArm(t *testing.T) {
	p, err := planned(t, "per: chain, arms: 1", plantest.Forwards(3), plan.Options{Direct: true})
	if err != nil {
		t.Fatal(err)
	}
	if b, ports := count(p, kinds.KindName), count(p, kinds.PortKindName); b != 1 || ports != 7 || p.Settings["arms"] != "1" {
		t.Errorf("%d bridges with %d ports, %v", b, ports, p.Settings)
	}
}

// TestTooManyPorts are refused before anything is made, with the number and the fix.
func TestTooManyPorts(t *testing.T) {
	const oneArm = "per: chain, arms: 1"
	for _, c := range []struct {
		options   string
		functions int
		direct    bool
		says      []string
	}{
		{"per: chain", 510, false, nil},
		{"per: chain", 511, false, []string{"needs 1024 ports", "takes 1023", "EXFULL", "arms: 1", "1 of the functions"}},
		{"per: hop", 511, false, nil},
		{oneArm, 1021, false, nil},
		{oneArm, 1022, false, []string{"needs 1024 ports", "takes 1023", "EXFULL", "per: hop", "1 of the functions"}},
		{oneArm, 1021, true, []string{"needs 1025 ports", "2 of the functions"}},
		{oneArm, 1019, true, nil},
	} {
		_, err := planned(t, c.options, plantest.Forwards(c.functions), plan.Options{Direct: c.direct})
		if (err != nil) != (len(c.says) > 0) {
			t.Errorf("%+v: %v", c, err)
		}
		for _, word := range c.says {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%+v: %v", c, err)
			}
		}
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
	for _, arms := range []int{0, 1, 3} { // one needs per: chain
		o := bridge.Wiring{}.Options().(*bridge.Options)
		o.Arms = arms
		if wrong := o.Validate(); len(wrong) != 1 || wrong[0].Path != "arms" {
			t.Error(arms, wrong)
		}
	}
}
