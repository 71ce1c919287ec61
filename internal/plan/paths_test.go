package plan_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/steer"
)

const threeFunctions = "functions: [{name: ids, kind: forward}, {name: fw, kind: forward}, {name: shape, kind: forward}]\n"

// parting are the ways from each node's interface, by path where they part: "node device" to "path=node device", in order.
func parting(p *plan.Plan) map[string]string {
	behind := map[string]string{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is {
			behind[s.B.Device] = s.A.Node + " " + s.A.Device
		}
	}
	all := map[string]string{}
	for _, r := range p.Resources {
		s, is := r.Spec.(steer.Spec)
		if !is {
			continue
		}
		text := behind[s.To]
		if s.Paths != nil {
			var ways []string
			for _, w := range s.Paths.Ways {
				ways = append(ways, w.Path+"="+behind[w.Port])
			}
			text = strings.Join(ways, "; ")
			if s.Paths.Choice == nil {
				text += "; else " + s.Paths.Usual
			}
			if s.Paths.Learns {
				text += ", learns"
			}
		}
		all[behind[s.Device]] = text
	}
	return all
}

// TestPathsPart: a port leads plainly where all paths go on by the same node, and else by the flow's path.
func TestPathsPart(t *testing.T) {
	p := replicated(t, threeFunctions+"classifier: {rules: [{name: web, priority: -1, match: {protocol: tcp}, functions: [fw, shape]}, {name: rest, match: {protocol: udp}, functions: [ids, fw, shape]}]}\n")
	want := map[string]string{
		"client eth0": "ids fw shape=ids eth0; fw shape=fw eth0; =server eth0",
		"server eth0": "ids fw shape=shape eth1; fw shape=shape eth1; =client eth0",
		"ids eth0":    "client eth0", "ids eth1": "fw eth0",
		"fw eth0": "ids fw shape=ids eth1; fw shape=client eth0; else ids fw shape", "fw eth1": "shape eth0",
		"shape eth0": "fw eth1", "shape eth1": "server eth0",
		"client ethd0": "server ethd1", "server ethd1": "client ethd0",
	}
	if got := parting(p); !maps.Equal(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
	if c := p.Classifier; len(c.Paths) != 3 || c.Own != 3 || c.Choice.Rules[3].Name != "rest" || c.Choice.Rules[4].Name != "web" || len(p.Warnings) != 0 {
		t.Errorf("%+v, warnings %v", c, p.Warnings)
	}
}

// TestPathsInAnyOrder: each has its own, both ways.
func TestPathsInAnyOrder(t *testing.T) {
	got := parting(replicated(t, threeFunctions+"classifier: {otherwise: chain, rules: [{name: web, match: {protocol: tcp}, functions: [shape, ids]}]}\n"))
	for at, want := range map[string]string{
		"client eth0": "shape ids=shape eth0; ids fw shape=ids eth0",
		"shape eth1":  "shape ids=ids eth0; ids fw shape=server eth0; else shape ids",
		"ids eth1":    "shape ids=server eth0; ids fw shape=fw eth0; else shape ids",
		"server eth0": "shape ids=ids eth1; ids fw shape=shape eth1",
		"ids eth0":    "shape ids=shape eth1; ids fw shape=client eth0; else shape ids",
		"shape eth0":  "shape ids=client eth0; ids fw shape=fw eth1; else shape ids",
		"fw eth0":     "ids eth1", "fw eth1": "shape eth0",
	} {
		if got[at] != want {
			t.Errorf("%s: %s, want %s", at, got[at], want)
		}
	}
}

// TestPathsKeepTheirNumbers while others come and go.
func TestPathsKeepTheirNumbers(t *testing.T) {
	few := replicated(t, threeFunctions+"classifier: {rules: [{name: web, functions: [fw, shape]}]}\n").Classifier
	more := replicated(t, threeFunctions+"classifier: {otherwise: chain, rules: [{name: a, match: {protocol: udp}, functions: [ids]}, {name: web, functions: [fw, shape]}]}\n").Classifier
	if a, b := few.Path("fw shape").Number, more.Path("fw shape").Number; a != b || a < 1 || a > steer.MostPaths {
		t.Errorf("numbers %d and %d", a, b)
	}
}

// TestPathsOfTranslators: what comes out of one is on the first of its paths, and they may part before it alone.
func TestPathsOfTranslators(t *testing.T) {
	const functions = "functions: [{name: ids, kind: forward}, {name: nat, kind: nat, nat: {source: {masquerade: true}}}, {name: shape, kind: forward}]\n"
	got := parting(replicated(t, functions+"classifier: {rules: [{name: web, match: {protocol: tcp}, functions: [ids, nat, shape]}, {name: rest, match: {protocol: udp}, functions: [nat, shape]}]}\n"))
	if got["nat eth1"] != "ids nat shape=shape eth0; nat shape=shape eth0; else ids nat shape, learns" || got["nat eth0"] != "ids nat shape=ids eth1; nat shape=client eth0; else ids nat shape, learns" {
		t.Errorf("%v", got)
	}
}

// TestUnvisitedFunctions are warned of, and left where they are.
func TestUnvisitedFunctions(t *testing.T) {
	p := replicated(t, threeFunctions+"classifier: {rules: [{name: web, functions: [fw]}]}\n")
	if len(p.Warnings) != 2 || !strings.Contains(p.Warnings[0], "no path goes by ids") {
		t.Errorf("%v", p.Warnings)
	}
}

// TestClassifierRefuses what would not be known, or not be met.
func TestClassifierRefuses(t *testing.T) {
	for want, spec := range map[string]string{
		"nat translates addresses": "functions: [{name: nat, kind: nat, nat: {source: {masquerade: true}}}, {name: a, kind: forward}]\nclassifier: {rules: [{name: x, match: {protocol: tcp}, functions: [nat, a]}, {name: y, functions: [nat]}]}\n",
		"count is inline beside client, whose packets all meet it, and the path \"direct\"": "functions: [{name: count, kind: counter, runtime: inline}, {name: a, kind: forward}]\nclassifier: {rules: [{name: x, match: {protocol: tcp}, functions: [count, a]}]}\n",
		"nat translates addresses, and which of them others see":                            "functions: [{name: nat, kind: nat, nat: {source: {masquerade: true}}}, {name: a, kind: forward}]\nclassifier: {otherwise: drop, rules: [{name: x, functions: [a, nat]}]}\n",
		"would meet a, count, b: one that is inline":                                        "functions: [{name: a, kind: forward}, {name: count, kind: counter, runtime: inline}, {name: b, kind: forward}]\nclassifier: {otherwise: drop, rules: [{name: x, functions: [count, a, b]}]}\n",
		"would meet b, a: one that is inline":                                               "functions: [{name: a, kind: forward}, {name: count, kind: counter, runtime: inline}, {name: b, kind: forward}]\nclassifier: {otherwise: drop, rules: [{name: x, functions: [b, count, a]}]}\n",
		"goes by it and not by b":                                                           "functions: [{name: a, kind: forward}, {name: count, kind: counter, runtime: inline}, {name: b, kind: forward}]\nclassifier: {otherwise: drop, rules: [{name: x, functions: [a, count]}]}\n",
	} {
		_, err := plan.Make(plantest.Chain(t, "edge", "wiring: ebpf\n"+spec), plantest.Catalogue(), plan.Facts{}, plan.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// TestPathsPastFunctions: what goes to the same node from another is told apart by its path where it would go
// different ways past that one.
func TestPathsPastFunctions(t *testing.T) {
	const chain = "functions: [{name: ids, kind: forward}, {name: fw, kind: forward, onFailure: POLICY}, {name: shape, kind: forward}]\n" +
		"classifier: {otherwise: chain, rules: [{name: web, match: {protocol: tcp}, functions: [ids, fw]}]}\n"
	for policy, want := range map[string][2]string{
		"bypass": {"ids fw=fw eth0; ids fw shape=fw eth0; else ids fw", "ids fw=fw eth1; ids fw shape=shape eth1"},
		"block":  {"fw eth0", "ids fw=fw eth1; ids fw shape=shape eth1"},
	} {
		p := replicated(t, strings.Replace(chain, "POLICY", policy, 1))
		got := parting(p)
		if got["ids eth1"] != want[0] || got["server eth0"] != want[1] || got["shape eth0"] != "fw eth1" {
			t.Errorf("%s: %v", policy, got)
		}
		for _, r := range p.Resources {
			s, is := r.Spec.(health.Spec)
			if !is {
				continue
			}
			if len(s.Paths) != 2 || !slices.Equal(s.Paths[0].Nodes, []int{0, 1, 2, 4}) || !slices.Equal(s.Paths[1].Nodes, []int{0, 1, 2, 3, 4}) || s.Paths[0].Number != p.Classifier.Path("ids fw").Number {
				t.Errorf("%s: %+v", policy, s.Paths)
			}
		}
	}
}

// TestInlineOnPaths: a function without a namespace is on the paths that go by both of its neighbours.
func TestInlineOnPaths(t *testing.T) {
	p := replicated(t, "functions: [{name: a, kind: forward}, {name: count, kind: counter, runtime: inline}, {name: b, kind: forward}, {name: auto, kind: counter, runtime: auto}]\nclassifier: {rules: [{name: x, functions: [a, count, b]}]}\n")
	if got := p.Classifier.Path("a count b"); !slices.Equal(got.Nodes, []string{"client", "a", "b", "server"}) || p.Runtimes["auto"] != "netns" {
		t.Errorf("%+v, runtimes %v", got, p.Runtimes)
	}
}
