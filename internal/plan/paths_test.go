package plan_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
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
				to := behind[w.Port]
				if w.Of != "" {
					to = "one of " + w.Of
				}
				ways = append(ways, w.Path+"="+to)
			}
			for _, a := range s.Paths.Among {
				var all []string
				for _, r := range a.Replicas {
					all = append(all, fmt.Sprintf("%d %s", r.Number, behind[r.Port]))
				}
				ways = append(ways, a.Of+": "+strings.Join(all, ", "))
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

// TestRulesOfAnyProtocol: a number is the protocol of that name, where there is one.
func TestRulesOfAnyProtocol(t *testing.T) {
	of := func(protocol string) *plan.Classifier {
		return replicated(t, threeFunctions+"classifier: {rules: [{name: x, match: {protocol: "+protocol+"}, functions: [fw]}]}\n").Classifier
	}
	for number, name := range map[string]string{"6": "tcp", `"17"`: "udp", "132": "sctp", "1": "icmp", "58": "icmpv6", "47": "gre", "050": "esp"} {
		got, want := of(number).Choice.Rules, of(name).Choice.Rules
		if !reflect.DeepEqual(got, want) || want[len(want)-1].Protocol != api.Protocol(name) {
			t.Errorf("%s: %+v, want %+v", number, got, want)
		}
	}
	c := of("89")
	if r := c.Choice.Rules[c.Own]; r.Protocol != "89" || r.String() != "protocol 89" {
		t.Errorf("%+v, %s", r, r)
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
		"nat translates addresses":                               "functions: [{name: nat, kind: nat, nat: {source: {masquerade: true}}}, {name: a, kind: forward}]\nclassifier: {rules: [{name: x, match: {protocol: tcp}, functions: [nat, a]}, {name: y, functions: [nat]}]}\n",
		"nat translates addresses, and which of them others see": "functions: [{name: nat, kind: nat, nat: {source: {masquerade: true}}}, {name: a, kind: forward}]\nclassifier: {otherwise: drop, rules: [{name: x, functions: [a, nat]}]}\n",
		"flows cannot stay on their path":                        "ebpf: {stay: true}\nfunctions: [{name: a, kind: forward, next: b}, {name: b, kind: command, encapsulation: nsh, command: {args: [relay]}}]\nclassifier: {rules: [{name: x, match: {protocol: tcp}, functions: [a]}]}\n",
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
	if got := p.Classifier.Path("a count b"); !slices.Equal(got.Nodes, []string{"client", "a", "b", "server"}) || p.Runtimes["auto"] != "inline" {
		t.Errorf("%+v, runtimes %v", got, p.Runtimes)
	}
}

// TestInlineAutoOnPaths: functions that leave their runtime to the plan are inline, whichever paths go by them.
func TestInlineAutoOnPaths(t *testing.T) {
	const counters = "{name: one, kind: counter}, {name: two, kind: counter}, {name: three, kind: counter}"
	for _, c := range []struct{ functions, rules, inline string }{
		{counters, "{name: x, functions: [one, two, three]}", "[one three two]"},
		{counters, "{name: x, functions: [one, two, three]}, {name: y, match: {protocol: udp}, functions: [one, three]}", "[one three two]"},
		{"{name: a, kind: forward}, " + counters + ", {name: b, kind: forward}", "{name: x, functions: [a, one, two, three, b]}", "[one three two]"},
		{"{name: a, kind: forward}, " + counters + ", {name: b, kind: forward}", "{name: x, functions: [a, one, two, three, b]}, {name: y, match: {protocol: udp}, functions: [a, three, b]}", "[one three two]"},
		{"{name: a, kind: forward, replicas: 2}, " + counters + ", {name: b, kind: forward}", "{name: x, functions: [a, one, two, three, b]}", "[one three two]"},
		{"{name: a, kind: forward}, {name: one, kind: nat, nat: {source: {}}}, {name: b, kind: forward}", "{name: x, functions: [a, one, b]}", "[one]"},
		{"{name: a, kind: forward, runtime: netns, onFailure: bypass}, {name: one, kind: counter}, {name: b, kind: forward}, {name: two, kind: counter}, {name: c, kind: forward}", "{name: x, functions: [a, one, b, two, c]}", "[one two]"},
		{"{name: a, kind: forward, runtime: netns, onFailure: bypass, replicas: 2}, {name: one, kind: counter}, {name: b, kind: forward}", "{name: x, functions: [a, one, b]}", "[one]"},
	} {
		spec := "wiring: ebpf\nruntime: auto\nfunctions: [" + c.functions + "]\nclassifier: {rules: [" + c.rules + "]}\n"
		p := made(t, spec, plan.Facts{}, plan.Options{})
		inline := []string{}
		for name, is := range p.Runtimes {
			if is == api.RuntimeInline {
				inline = append(inline, name)
			}
		}
		slices.Sort(inline)
		if fmt.Sprint(inline) != c.inline || len(p.Inline) != len(inline) {
			t.Errorf("%s: chosen %v, inline %v, want %s", spec, p.Runtimes, inline, c.inline)
		}
		again := made(t, spec, plan.Facts{}, plan.Options{Runtimes: p.Runtimes})
		if !maps.Equal(again.Runtimes, p.Runtimes) {
			t.Errorf("%s: chosen %v where it was %v", spec, again.Runtimes, p.Runtimes)
		}
	}
}

// TestPathsToReplicas: a path leads to a function with replicas, from each of which it leads on, and to those behind a
// function that it may be led past.
func TestPathsToReplicas(t *testing.T) {
	p := replicated(t, "functions: [{name: ids, kind: forward, replicas: 2, onFailure: bypass}, {name: fw, kind: forward, replicas: 3}, {name: shape, kind: forward}]\n"+
		"classifier: {rules: [{name: web, match: {protocol: tcp}, functions: [ids, fw]}, {name: rest, match: {protocol: udp}, functions: [fw, shape]}]}\n")
	const ids, fw, back = "ids: 1 ids-1 eth0, 2 ids-2 eth0", "fw: 1 fw-1 eth0, 2 fw-2 eth0, 3 fw-3 eth0", "fw: 1 fw-1 eth1, 2 fw-2 eth1, 3 fw-3 eth1"
	got := parting(p)
	for at, want := range map[string]string{
		"client eth0": "ids fw=one of ids; fw shape=one of fw; =server eth0; " + ids + "; " + fw,
		"ids-1 eth1":  "ids fw=one of fw; " + fw + "; else ids fw",
		"ids-2 eth1":  "ids fw=one of fw; " + fw + "; else ids fw",
		"ids-2 eth0":  "client eth0",
		"fw-3 eth1":   "ids fw=server eth0; fw shape=shape eth0; else ids fw",
		"fw-1 eth0":   "ids fw=one of ids; fw shape=client eth0; ids: 1 ids-1 eth1, 2 ids-2 eth1; else ids fw",
		"shape eth0":  "fw shape=one of fw; " + back + "; else fw shape",
		"server eth0": "ids fw=one of fw; fw shape=shape eth1; =client eth0; " + back,
	} {
		if got[at] != want {
			t.Errorf("%s: %q, want %q", at, got[at], want)
		}
	}
	if path := p.Classifier.Path("ids fw"); !slices.Equal(path.Nodes, []string{"client", "ids-1", "ids-2", "fw-1", "fw-2", "fw-3", "server"}) || p.Classifier.Choice.Rules[1].Name != "to fw" || len(p.Warnings) > 0 {
		t.Errorf("%+v, rules %+v, warnings %v", path, p.Classifier.Choice.Rules, p.Warnings)
	}
	last := ""
	for _, r := range p.Resources {
		switch s := r.Spec.(type) {
		case link.Spec:
			if last != "" {
				t.Errorf("%s comes before %s, to which it may lead", last, r.ID)
			}
		case steer.Spec:
			if last = r.ID; s.Stay == nil || s.Among != nil {
				t.Errorf("%+v: flows cannot stay on older paths", s)
			}
		case health.Spec:
			if !slices.Equal(s.Paths[0].Nodes, []int{0, 1, 2, 3, 4, 5, 7}) || !slices.Equal(s.Paths[1].Nodes, []int{0, 3, 4, 5, 6, 7}) {
				t.Errorf("%+v", s.Paths)
			}
		}
	}
}
