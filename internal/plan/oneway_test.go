package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/ruleset"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// TestOneWay: what comes in at the ports to the west goes past functions that are not visited on the way back.
func TestOneWay(t *testing.T) {
	const functions = "functions: [{name: a, kind: forward}, {name: b, kind: forward, BOTH}, {name: c, kind: forward}]\n"
	there := map[string]string{"client eth0": "a eth0", "a eth1": "b eth0", "b eth1": "c eth0", "c eth1": "server eth0", "client ethd0": "server ethd1", "server ethd1": "client ethd0"}
	for both, want := range map[string]struct {
		back map[string]string
		text string
	}{
		"":                 {map[string]string{"a eth0": "client eth0", "b eth0": "client eth0", "c eth0": "client eth0", "server eth0": "client eth0"}, "back: server → client\n"},
		"symmetric: true":  {map[string]string{"a eth0": "client eth0", "b eth0": "client eth0", "c eth0": "b eth1", "server eth0": "b eth1"}, "back: server → b → client\n"},
		"symmetric: false": {map[string]string{"a eth0": "client eth0", "b eth0": "client eth0", "c eth0": "client eth0", "server eth0": "client eth0"}, "back: server → client\n"},
	} {
		p := replicated(t, "symmetric: false\n"+strings.Replace(functions, "BOTH", both, 1))
		sound(t, p)
		maps.Copy(want.back, there)
		if got := parting(p); !maps.Equal(got, want.back) {
			t.Errorf("%q: got\n%v\nwant\n%v", both, got, want.back)
		}
		if text := p.Text(); !strings.Contains(text, "→ server\n"+want.text) {
			t.Errorf("%q: %.200s", both, text)
		}
	}
	if p := replicated(t, strings.Replace(functions, "BOTH", "", 1)); p.Back() != nil {
		t.Errorf("all visited, back %v", p.Back())
	}
}

// TestOneWayInline: a function without a namespace has a step for what it is visited by, at the port where that comes in.
func TestOneWayInline(t *testing.T) {
	p := replicated(t, "functions: [{name: w, kind: counter, runtime: inline}, {name: a, kind: forward, symmetric: false}, {name: x, kind: counter, runtime: inline}, {name: y, kind: counter, runtime: inline, symmetric: false}, {name: b, kind: forward}, {name: z, kind: counter, runtime: inline, symmetric: false}]\n")
	sound(t, p)
	behind := map[string]string{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is {
			behind[s.B.Device] = s.A.Node + " " + s.A.Device
		}
	}
	got := map[string][]string{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(pass.Spec); is {
			got[behind[s.Device]] = s.Of
		}
	}
	want := map[string][]string{"client eth0": {"w"}, "a eth1": {"x", "y"}, "b eth0": {"x", "w"}, "b eth1": {"z"}}
	if !maps.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, f := range p.Inline {
		if (f.Reverse == nil) != f.OneWay || f.Forward == nil {
			t.Errorf("%+v", f)
		}
	}
	if back := p.Back(); !slices.Equal(back, []string{"server", "b", "x", "w", "client"}) {
		t.Errorf("back %v", back)
	}
}

// TestOneWayReplicas: what goes back is shared out over replicas that it visits, and past those that it does not.
func TestOneWayReplicas(t *testing.T) {
	p := replicated(t, "functions: [{name: a, kind: forward, replicas: 2}, {name: b, kind: forward, replicas: 2, symmetric: false}]\n")
	a := []string{"a-1 eth1 of a 1", "a-2 eth1 of a 2"}
	b := []string{"b-1 eth0 of b 1", "b-2 eth0 of b 2"}
	for at, want := range map[string][]string{"client eth0": {"a-1 eth0 of a 1", "a-2 eth0 of a 2"}, "a-1 eth1": b, "a-2 eth1": b, "b-1 eth0": a, "b-2 eth0": a, "server eth0": a, "a-2 eth0": {"client eth0"}, "b-2 eth1": {"server eth0"}} {
		if got := ways(p)[at]; !slices.Equal(got, want) {
			t.Errorf("from %s to %v, want %v", at, got, want)
		}
	}
}

// TestOneWayPaths: the same functions make two paths where one of them is one-way.
func TestOneWayPaths(t *testing.T) {
	p := replicated(t, threeFunctions+"classifier: {rules: [{name: web, match: {protocol: tcp}, functions: [ids, fw], symmetric: false}, {name: rest, match: {protocol: udp}, functions: [ids, fw]}]}\n")
	got := parting(p)
	for at, want := range map[string]string{
		"client eth0": "ids fw, one way=ids eth0; ids fw=ids eth0; =server eth0",
		"server eth0": "ids fw, one way=client eth0; ids fw=fw eth1; =client eth0",
		"ids eth1":    "fw eth0", "fw eth1": "server eth0", "ids eth0": "client eth0",
		"fw eth0": "ids fw, one way=client eth0; ids fw=ids eth1; else ids fw, one way",
	} {
		if got[at] != want {
			t.Errorf("%s: %s, want %s", at, got[at], want)
		}
	}
	if text := p.Text(); !strings.Contains(text, "rule web, tcp: ids → fw, and straight back\n") || !strings.Contains(text, "rule rest, udp: ids → fw\n") {
		t.Errorf("%.600s", text)
	}
	if c := p.Classifier; c.Choice.Rules[0].Path != "ids fw" || !p.Returns(p.Nodes[1], nil) || p.Returns(p.Nodes[1], &c.Paths[0]) {
		t.Errorf("%+v", c)
	}
	p = replicated(t, "functions: [{name: ids, kind: forward, onFailure: bypass, symmetric: false}, {name: fw, kind: forward, onFailure: block}]\nclassifier: {otherwise: chain, rules: [{name: web, functions: [fw], symmetric: false}]}\n")
	if c := p.Classifier; c.Paths[1].Text() != "ids → fw, and back by fw" || c.Paths[0].Name != "fw, one way" {
		t.Errorf("%+v", c.Paths)
	}
	for _, r := range p.Resources {
		if s, is := r.Spec.(health.Spec); is {
			if !slices.Equal(s.Paths[0].Back, []int{0, 3}) || !slices.Equal(s.Paths[1].Back, []int{0, 2, 3}) || !s.Nodes[1].OneWay || s.Nodes[2].OneWay || s.Nodes[1].Westward != nil || s.Nodes[2].Westward == nil {
				t.Errorf("%+v", s.Path)
			}
		}
	}
}

// TestOneWayHeaders: a function that is not visited on the way back does not count there.
func TestOneWayHeaders(t *testing.T) {
	const tells = ", kind: command, command: {args: [reads]}, encapsulation: nsh"
	p := replicated(t, "functions: [{name: a"+tells+"}, {name: b, kind: forward, symmetric: false}, {name: c"+tells+"}]\n")
	a, c := p.Nodes[1].NSH, p.Nodes[3].NSH
	if a.Forward.Index != 255 || c.Forward.Index != 253 || c.Reverse.Index != 255 || a.Reverse.Index != 254 {
		t.Errorf("%+v and %+v", a, c)
	}
}

// TestPathHops: hop limits are restored on paths that go past the functions that do so for the whole chain.
func TestPathHops(t *testing.T) {
	var functions, names []string
	for i := range 100 {
		name := fmt.Sprint("f", i)
		functions = append(functions, "{name: "+name+", kind: forward}")
		if i%30 != 29 {
			names = append(names, name)
		}
	}
	p := replicated(t, "functions: ["+strings.Join(functions, ", ")+"]\nclassifier: {rules: [{name: past, functions: ["+strings.Join(names, ", ")+"]}]}\n")
	restores, since := 0, 0
	for _, n := range p.Functions() {
		if !p.Classifier.Paths[0].Has(n.Name) {
			continue
		}
		since++
		for _, r := range p.Resources {
			if s, is := r.Spec.(ruleset.Spec); is && s.Table == "nfchain-hops" && r.Namespace == n.Namespace {
				restores, since = restores+1, 0
			}
		}
		if since > 60 {
			t.Fatalf("hop limits are used up at %s", n.Name)
		}
	}
	if restores < 2 {
		t.Errorf("%d functions restore hop limits", restores)
	}
}

// TestOneWayHops: hop limits are restored on the way back where those that do so on the way there are not visited.
func TestOneWayHops(t *testing.T) {
	var b strings.Builder
	b.WriteString("functions:\n")
	for i := range 100 {
		symmetric := "true"
		if i%30 == 29 {
			symmetric = "false"
		}
		b.WriteString("- {name: f" + string(rune('a'+i/26)) + string(rune('a'+i%26)) + ", kind: forward, symmetric: " + symmetric + "}\n")
	}
	p := replicated(t, b.String())
	restores := map[string]bool{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(ruleset.Spec); is && s.Table == "nfchain-hops" {
			restores[r.Namespace] = true
		}
	}
	for _, backwards := range []bool{false, true} {
		since := 0
		nodes := slices.Clone(p.Functions())
		if backwards {
			slices.Reverse(nodes)
			nodes = slices.DeleteFunc(nodes, func(n plan.Node) bool { return n.OneWay })
		}
		for _, n := range nodes {
			if since++; restores[n.Namespace] {
				since = 0
			}
			if since > 60 {
				t.Fatalf("backwards %t: hop limits are used up at %s", backwards, n.Name)
			}
		}
	}
}

// TestOneWayRefuses what only the plan knows, or what would be met unasked.
func TestOneWayRefuses(t *testing.T) {
	chain := plantest.Chain(t, "edge", "wiring: ebpf\nsymmetric: false\nfunctions: [{name: fw, ref: wall}]\n")
	alone := plantest.Function(t, "wall", "kind: firewall\nfirewall: {rules: {list: [{state: [established], action: accept}]}}\n")
	_, err := plan.Make(chain, plantest.Catalogue(), plan.Facts{Functions: map[string]api.FunctionBody{"wall": alone.Spec}}, plan.Options{})
	if err == nil || !strings.Contains(err.Error(), "function fw: it must see both ways, because it knows connections") {
		t.Error(err)
	}
	for _, r := range replicated(t, threeFunctions).Resources {
		if s, is := r.Spec.(steer.Spec); is && s.To == "" {
			t.Errorf("%+v", s)
		}
	}
}
