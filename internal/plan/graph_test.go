package plan_test

import (
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
)

// TestGraph: where packets go on from each node and back to, what all pass, and who stays inline.
func TestGraph(t *testing.T) {
	p, err := plan.Make(plantest.Chain(t, "edge", branches), plantest.Catalogue(), plan.Facts{CPUs: upTo(4)}, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := p.Graph() // client, tell, shape, log, hop, out, server
	equal := func(what string, got, want [][]int) {
		t.Helper()
		if !slices.EqualFunc(got, want, slices.Equal[[]int]) {
			t.Errorf("%s %v, want %v", what, got, want)
		}
	}
	equal("onward", g.Onward, [][]int{{1}, {5, 2, 3, 6}, {5}, {4}, {5}, {6}, nil})
	equal("back", g.Back, [][]int{nil, {0}, {1}, {1}, {3}, {1, 2, 4}, {5, 1}})
	equal("path", [][]int{g.Path()}, [][]int{{0, 1, 5, 6}})
	for place, want := range []bool{true, true, false, false, false, false, true} {
		if g.Always(place) != want {
			t.Errorf("always %d: %v", place, !want)
		}
	}
}

// TestRefusesWhereWaysPart what would be wrong there, and says what to do.
func TestRefusesWhereWaysPart(t *testing.T) {
	const head, tell = "wiring: ebpf\nfunctions:\n", "- {name: tell, kind: forward, branches: [{mark: 1, to: b}]}\n"
	for spec, want := range map[string]string{
		head + tell + "- {name: in, kind: nat, nat: {source: {masquerade: true}}}\n- {name: b, kind: forward}\n":                                 "function in: a nat gives connections addresses, and some ways lead past it",
		head + strings.ReplaceAll(tell, "to: b", "to: server") + "- {name: count, kind: counter, runtime: inline}\n- {name: b, kind: forward}\n": "function count is inline between tell and b, where ways part or come together",
		head + tell + "- {name: a, kind: forward}\n- {name: count, kind: counter, runtime: inline}\n- {name: b, kind: forward}\n":                "function count is inline between a and b, where ways part or come together",
		head + tell + "- {name: a, kind: passthrough}\n- {name: b, kind: forward}\n":                                                             "function a: a passthrough cannot be where functions",
		"ebpf: {stay: true}\n" + head + tell + "- {name: a, kind: forward}\n- {name: b, kind: forward}\n":                                        "flows cannot stay on their path",
	} {
		_, err := plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), plan.Facts{CPUs: upTo(4)}, plan.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
	auto := "runtime: auto\n" + head + tell + "- {name: one, kind: counter}\n- {name: two, kind: counter}\n- {name: b, kind: counter}\n- {name: last, kind: counter}\n"
	p, err := plan.Make(plantest.Chain(t, "edge", auto), plantest.Catalogue(), plan.Facts{CPUs: upTo(4)}, plan.Options{})
	if err != nil || p.Chose() != "b is netns, last is inline, one is netns, tell is netns, two is netns" {
		t.Errorf("%v: chose %s", err, p.Chose())
	}
}

// TestLongWays have their hop limits restored, though a way past some is shorter.
func TestLongWays(t *testing.T) {
	spec := "wiring: ebpf\nfunctions:\n"
	for i := range 90 {
		next := ""
		if i%30 == 28 { // the planned way leads past every thirtieth
			next = ", next: f" + string(rune('a'+(i+2)/10)) + "0, branches: [{mark: 1, to: f" + string(rune('a'+(i+1)/10)) + "9}]"
		}
		spec += "- {name: f" + string(rune('a'+i/10)) + string(rune('0'+i%10)) + ", kind: forward" + next + "}\n"
	}
	spec = strings.ReplaceAll(spec, "next: fj0", "next: server")
	p, err := plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), plan.Facts{CPUs: upTo(4)}, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	restores := map[string]bool{}
	for _, r := range p.Resources {
		restores[r.Namespace] = restores[r.Namespace] || r.Kind == "ruleset"
	}
	since := 0
	for _, place := range p.Graph().Path() {
		if since++; restores[p.Nodes[place].Namespace] {
			since = 0
		}
		if since > 62 {
			t.Fatalf("%d functions before %s restore no hop limit", since, p.Nodes[place].Name)
		}
	}
}
