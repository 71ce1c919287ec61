package plan_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
)

// TestClaims: a chain keeps the CPUs that it has been given, has none that is another's, and others have none that is its own.
func TestClaims(t *testing.T) {
	bank := func(own map[string]int, named ...int) plan.Claims {
		return plan.Claims{"bank": {Own: own, Named: named}}
	}
	const bound = "{name: proxy, kind: command, command: {args: [proxy]}, resources: {cpus: \"2-3\"}}"
	for _, c := range []struct {
		functions, asked string
		claims           plan.Claims
		want             string // the plan's line, or a part of the error
	}{
		{proxy, "{functions: exclusive}", bank(map[string]int{"filter": 3}), "CPUs: proxy on 2; load on 0-1,3 at client and 0-1,3 at server"},
		{proxy, "{functions: exclusive}", bank(nil, 2, 3), "CPUs: proxy on 1; load on 0,2-3 at client and 0,2-3 at server"},
		{relay, "{load: exclusive}", bank(map[string]int{"filter": 3}, 0), "CPUs: load on 1 at client and 2 at server"},
		{relay, "{load: exclusive}", bank(map[string]int{"filter": 3}, 0, 1), "exclusive needs 2 CPUs, one each for client, server, and of those that nfchain may use (0-3) 1 are not named for anything else (bank has 0-1,3; `nfchain down` frees them)"},
		{relay, "{load: {shared: 2-3}}", bank(map[string]int{"filter": 3}), "placement.load: CPU 3 is filter's of bank alone (placement: exclusive); name others, or `nfchain down bank`"},
		{relay, "{load: {shared: 2-3}}", bank(nil, 3), "CPUs: load on 2-3 at client and 2-3 at server"},
		{bound, "{}", bank(map[string]int{"filter": 3}), "function proxy: resources.cpus: CPU 3 is filter's of bank alone"},
		{bound, "{}", bank(nil, 3), ""},
		// What it has been given itself.
		{proxy, "{functions: exclusive}", plan.Claims{"edge": {Own: map[string]int{"proxy": 1}}}, "CPUs: proxy on 1; load on 0,2-3 at client and 0,2-3 at server"},
		{proxy, "{functions: exclusive, load: {shared: 1}}", plan.Claims{"edge": {Own: map[string]int{"proxy": 1}}}, "CPUs: proxy on 3; load on 1 at client and 1 at server"},
		{relay, "{load: exclusive}", plan.Claims{"edge": {Own: map[string]int{"server": 2, "gone": 3}}}, "CPUs: load on 3 at client and 2 at server"},
		{relay, "{load: exclusive}", plan.Claims{"edge": {Own: map[string]int{"server": 2}}, "bank": {Named: []int{2}}}, "CPUs: load on 1 at client and 3 at server"},
	} {
		text := "functions: [" + c.functions + "]\nplacement: " + c.asked + "\n"
		p, err := plan.Make(plantest.Chain(t, "edge", text), plantest.Catalogue(), plan.Facts{CPUs: upTo(4), Claims: c.claims}, plan.Options{})
		line := ""
		if err == nil {
			line = cpuLine(p)
		} else if !feature.NotHere(err) {
			t.Errorf("%s: it is not said that the machine lacks it: %v", text, err)
		}
		if err == nil && line != c.want || err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s%+v\ngot  %q, error %v\nwant %q", text, c.claims, line, err, c.want)
		}
	}
}

// TestClaimOfMemoryNode: a CPU is kept in the memory node that it is to be of, and no other.
func TestClaimOfMemoryNode(t *testing.T) {
	facts := plan.Facts{CPUs: upTo(6), MemoryNodes: map[int][]int{0: {0, 1, 2}, 1: {3, 4, 5}},
		Claims: plan.Claims{"edge": {Own: map[string]int{"client": 0, "server": 4}}, "bank": {Own: map[string]int{"filter": 2}}}}
	for asked, want := range map[string]string{
		"{numa: \"0\", load: exclusive}":                      "CPUs: load on 0 at client and 1 at server; memory of client at node 0; memory of relay at node 0; memory of server at node 0",
		"{numa: \"1\", load: exclusive}":                      "CPUs: load on 5 at client and 4 at server; memory of client at node 1; memory of relay at node 1; memory of server at node 1",
		"{numa: \"0\", load: exclusive, softirqs: exclusive}": "memory node 0 has none left for it (0-2) (bank has 2; `nfchain down` frees them)",
	} {
		p, err := plan.Make(plantest.Chain(t, "edge", "functions: ["+relay+"]\nplacement: "+asked+"\n"), plantest.Catalogue(), facts, plan.Options{})
		if err == nil && cpuLine(p) != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, error %v", asked, p, err)
		}
	}
}

// TestClaimOfPlan: what a plan is given is all that it names and has to itself, and stays what it is where nothing more is asked for.
func TestClaimOfPlan(t *testing.T) {
	text := "functions: [{name: b, kind: command, command: {args: [b]}, resources: {cpus: \"0\"}}]\nplacement: {load: exclusive, softirqs: {shared: \"1\"}}\n"
	p, err := plan.Make(plantest.Chain(t, "edge", text), plantest.Catalogue(), plan.Facts{CPUs: upTo(4)}, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := plan.Claim{Own: map[string]int{"client": 2, "server": 3}, Named: []int{0, 1}}
	if got := p.Claim(); !reflect.DeepEqual(got, want) || !got.Has(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if !p.Stays(p.Blocks, want) || p.Stays(p.Blocks, plan.Claim{Own: map[string]int{"client": 2}, Named: []int{0, 1}}) || p.Stays(p.Blocks, plan.Claim{Own: want.Own}) {
		t.Error("it stays by another claim than its own")
	}
	if text, err := json.Marshal(p); err != nil || strings.Contains(string(text), "claim") {
		t.Errorf("%s, error %v", text, err)
	}
	alone, err := plan.MakeFunction(plantest.Function(t, "filter", "kind: command\ncommand: {args: [x]}\nresources: {cpus: \"1,3\"}\n"), plantest.Catalogue(), plan.Facts{})
	if err != nil || !reflect.DeepEqual(alone.Claim(), plan.Claim{Named: []int{1, 3}}) {
		t.Errorf("%+v, error %v", alone, err)
	}
	all := plan.Claims{"edge": want, "bank": {Named: []int{1}}}
	if err := all.Clashing(alone); err == nil || !strings.Contains(err.Error(), "function filter: resources.cpus: CPU 3 is server's of edge alone") {
		t.Errorf("error %v", err)
	}
}

// TestClaimsTogether: while a chain is changed it has what it had and what it is to have.
func TestClaimsTogether(t *testing.T) {
	before := plan.Claim{Own: map[string]int{"a": 1, "b": 2}, Named: []int{5}}
	now := plan.Claim{Own: map[string]int{"a": 3}, Named: []int{5, 0}}
	want := plan.Claim{Own: map[string]int{"a": 3, "b": 2}, Named: []int{0, 1, 5}}
	if got := before.With(now); !reflect.DeepEqual(got, want) || !got.Has(now) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if !(plan.Claim{}).With(plan.Claim{}).Empty() {
		t.Error("nothing and nothing is something")
	}
}

// TestNoSuchCPU: a CPU that the machine does not have is refused wherever a file names one.
func TestNoSuchCPU(t *testing.T) {
	facts := plan.Facts{CPUs: upTo(1), Nameable: upTo(2)} // of which the second is kept from what does not name it
	const proxy = "kind: command\ncommand: {args: [x]}\nresources: {cpus: \"1-2\"}\n"
	_, alone := plan.MakeFunction(plantest.Function(t, "filter", proxy), plantest.Catalogue(), facts)
	_, inChain := plan.Make(plantest.Chain(t, "edge", "functions: [{name: proxy, kind: command, command: {args: [x]}, resources: {cpus: \"1-2\"}}]\n"), plantest.Catalogue(), facts, plan.Options{})
	for name, err := range map[string]error{"function filter": alone, "chain edge: function proxy": inChain} {
		if want := name + ": resources.cpus: there is no CPU 2 for nfchain, which may use 0-1"; err == nil || err.Error() != want || !feature.NotHere(err) {
			t.Errorf("%v, want %s, for want of the machine", err, want)
		}
	}
	if _, err := plan.MakeFunction(plantest.Function(t, "filter", strings.Replace(proxy, "1-2", "0-1", 1)), plantest.Catalogue(), facts); err != nil {
		t.Error(err)
	}
	if _, err := plan.Make(plantest.Chain(t, "edge", "functions: [{name: proxy, kind: command, command: {args: [x]}}]\nplacement: {functions: {shared: 1}}\n"), plantest.Catalogue(), facts, plan.Options{}); err != nil {
		t.Error(err)
	}
	facts.Nameable = nil // it does not tell
	if _, err := plan.MakeFunction(plantest.Function(t, "filter", proxy), plantest.Catalogue(), facts); err != nil {
		t.Error(err)
	}
}
