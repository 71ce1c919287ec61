package plan_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// TestStops: functions without a namespace that are not right between others are at stops, alone or behind others of the same paths, and all others are
// where they were.
func TestStops(t *testing.T) {
	const a, b = "{name: a, kind: forward}", "{name: b, kind: forward}"
	counter := func(name string) string { return "{name: " + name + ", kind: counter, runtime: inline}" }
	const tell = "{name: tell, kind: forward, branches: [{mark: 1, to: c}]}"
	const nat, falls = "{name: nat, kind: nat, runtime: inline, nat: {source: {}}}", "{name: f, kind: forward, onFailure: bypass}"
	row := func(kind string, length int) (functions, names string) {
		for i := range length {
			functions += fmt.Sprintf(", {name: n%02d, kind: %s, runtime: inline}", i, kind)
			names += fmt.Sprintf(" n%02d", i)
		}
		return functions[2:], names[1:]
	}
	many, first := row("counter", 33)
	copies, taps := row("mirror", 9)
	for name, c := range map[string]struct{ functions, rest, want string }{
		"all paths go by":             {a + ", " + counter("c") + ", " + b, "classifier: {otherwise: drop, rules: [{name: x, functions: [a, c, b]}]}", "a c- b"},
		"no path by a neighbour":      {a + ", " + counter("c") + ", " + b, "classifier: {otherwise: drop, rules: [{name: x, functions: [a, c]}]}", "a [c] b"},
		"others go past":              {counter("c") + ", " + a, "classifier: {rules: [{name: x, functions: [c, a]}]}", "[c] a"},
		"others go by all but it":     {a + ", " + counter("c") + ", " + b, "classifier: {otherwise: drop, rules: [{name: x, match: {protocol: tcp}, functions: [a, b]}, {name: y, functions: [a, c, b]}]}", "a [c] b"},
		"in another order":            {a + ", " + counter("c") + ", " + b, "classifier: {otherwise: drop, rules: [{name: x, functions: [c, a, b]}]}", "a [c] b"},
		"the other way round":         {a + ", " + counter("c") + ", " + b, "classifier: {otherwise: drop, rules: [{name: x, functions: [b, c, a]}]}", "a [c] b"},
		"two at one":                  {counter("c") + ", " + counter("d") + ", " + a, "classifier: {rules: [{name: x, functions: [c, d, a]}]}", "[c d] a"},
		"not in a row on every path":  {counter("c") + ", " + counter("d") + ", " + a, "classifier: {rules: [{name: x, match: {protocol: tcp}, functions: [c, d]}, {name: y, functions: [c, a, d]}]}", "[c] [d] a"},
		"one of them on other paths":  {counter("c") + ", " + counter("d"), "classifier: {rules: [{name: x, match: {protocol: tcp}, functions: [c, d]}, {name: y, functions: [d]}]}", "[c] [d]"},
		"right, but beside a stop":    {a + ", " + counter("c") + ", " + counter("d") + ", " + b, "classifier: {otherwise: drop, rules: [{name: x, functions: [a, c, d]}]}", "a [c d] b"},
		"one way on one path":         {a + ", " + counter("c"), "classifier: {otherwise: drop, rules: [{name: x, match: {protocol: tcp}, functions: [a, c], symmetric: false}, {name: y, functions: [a, c]}]}", "a [c]"},
		"beside one that is one-way":  {nat + ", {name: a, kind: forward, symmetric: false}", "", "[nat] a"},
		"translates, on some paths":   {nat + ", " + a, "classifier: {rules: [{name: x, functions: [nat, a]}]}", "[nat] a"},
		"translates, on all paths":    {a + ", " + nat + ", " + b, "classifier: {otherwise: drop, rules: [{name: x, functions: [a, nat, b]}]}", "a [nat] b"},
		"two translate, on a path":    {nat + ", " + strings.Replace(nat, "name: nat", "name: more", 1), "classifier: {rules: [{name: x, functions: [nat, more]}]}", "[nat] [more]"},
		"two translate, on no path":   {nat + ", " + strings.Replace(nat, "name: nat", "name: more", 1) + ", {name: r, kind: forward, replicas: 2}", "", "[nat more] r r"},
		"translates, beside replicas": {"{name: r, kind: forward, replicas: 2}, " + nat, "", "r r [nat]"},
		"translates, with another":    {nat + ", " + counter("c") + ", {name: r, kind: forward, replicas: 2}", "", "[nat c] r r"},
		"led past with others":        {falls + ", " + counter("c"), "classifier: {otherwise: drop, rules: [{name: x, functions: [f, c]}]}", "f [c]"},
		"translates, led past":        {nat + ", " + falls, "", "[nat] f"},
		"beside replicas led past":    {counter("c") + ", {name: r, kind: forward, replicas: 2, onFailure: bypass}", "", "[c] r r"},
		"marks lead there":            {tell + ", " + a + ", " + counter("c") + ", " + b, "", "tell a [c] b"},
		"ways come together there":    {tell + ", {name: a, kind: forward, next: server}, " + counter("c"), "", "tell a [c]"},
		"others go on to it":          {tell + ", {name: a, kind: forward, next: d}, " + counter("c") + ", " + counter("d") + ", " + b, "", "tell a [c] [d] b"},
		"it goes on elsewhere":        {tell + ", {name: a, kind: forward, next: b}, {name: c, kind: counter, runtime: inline, next: server}, " + b, "", "tell a [c] b"},
		"apart from where ways part":  {a + ", " + counter("d") + ", " + b + ", " + tell + ", " + counter("c") + ", {name: e, kind: forward}", "", "a d- b tell [c] e"},
		"paths beside branches":       {a + ", " + counter("d") + ", " + b + ", " + tell + ", " + counter("c") + ", {name: e, kind: forward}", "classifier: {otherwise: chain, rules: [{name: x, match: {protocol: tcp}, functions: [a, b]}]}", "a [d] b tell [c] e"},
		"more than a program takes":   {many, "", "[" + strings.TrimSuffix(first, " n32") + "] [n32]"},
		"more taps than there can be": {copies, "", "[" + strings.TrimSuffix(taps, " n08") + "] [n08]"},
	} {
		p := replicated(t, "functions: ["+c.functions+"]\n"+c.rest+"\n")
		var got []string
		for i, n := range p.Functions() {
			name := n.Function()
			var behind []string
			for _, f := range p.InlineAfter(i + 1) {
				if stop := n.Kind == plan.StopKind; f.Stop != stop || stop && f.East != name {
					t.Errorf("%s: %+v is at %+v", name, f, n)
				}
				behind = append(behind, f.Name)
			}
			if n.Kind == plan.StopKind {
				if name = "[" + strings.Join(behind, " ") + "]"; n.Name != behind[0]+".stop" {
					t.Errorf("the stop of %v is called %s", behind, n.Name)
				}
			} else {
				for _, f := range behind {
					name += " " + f + "-"
				}
			}
			got = append(got, name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, strings.Join(got, " "), c.want)
		}
	}
}

// TestStopsThatTranslate are known to, also behind others at their stop: what comes out does not tell which path it is of, others see addresses by the chain's order, and
// packets to the addresses that they have are led to them.
func TestStopsThatTranslate(t *testing.T) {
	const functions = "functions: [{name: count, kind: counter, runtime: inline}, {name: nat, kind: nat, runtime: inline, DIRECTIONnat: {source: {}}}, {name: b, kind: forward}, {name: c, kind: forward}]\n"
	make := func(direction, rules string) (*plan.Plan, error) {
		spec := "wiring: ebpf\n" + strings.Replace(functions, "DIRECTION", direction, 1) + "classifier: {rules: [" + rules + "]}\n"
		return plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), plan.Facts{}, plan.Options{})
	}
	for name, c := range map[string]struct{ direction, rules, says string }{
		"paths that part behind it":           {"", "{name: x, match: {protocol: tcp}, functions: [count, nat, b]}, {name: y, match: {protocol: udp}, functions: [count, nat, c]}", "which of the paths"},
		"paths that part before it":           {"", "{name: x, match: {protocol: tcp}, functions: [count, nat, b]}, {name: y, match: {protocol: udp}, functions: [nat, b]}", ""},
		"in another order":                    {"", "{name: x, functions: [b, count, nat]}", "follows from the chain's order"},
		"paths that part behind it, back":     {"direction: reverse, ", "{name: x, match: {protocol: tcp}, functions: [count, nat, b]}, {name: y, match: {protocol: udp}, functions: [nat, b]}", "which of the paths"},
		"paths that part before it, the back": {"direction: reverse, ", "{name: x, match: {protocol: tcp}, functions: [count, nat, b]}, {name: y, match: {protocol: udp}, functions: [count, nat, c]}", ""},
	} {
		p, err := make(c.direction, c.rules)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for at, ways := range parting(p) {
			if strings.HasPrefix(at, "nat.stop ") != strings.Contains(ways, "learns") && !strings.HasPrefix(at, "count.stop ") {
				t.Errorf("%s: at %s packets go %s", name, at, ways)
			}
		}
		if i := slices.IndexFunc(p.Classifier.Choice.Rules, func(r steer.Rule) bool { return r.Name == "to nat" }); i < 0 || i >= p.Classifier.Own || len(p.Classifier.Choice.Rules[i].Destinations) == 0 {
			t.Errorf("%s: of %d own rules none leads to nat: %+v", name, p.Classifier.Own, p.Classifier.Choice.Rules)
		}
	}
}

// TestStopsBesideOthers: nothing is everywhere that is at a stop, and warnings name all functions there.
func TestStopsBesideOthers(t *testing.T) {
	const functions = "functions: [{name: wall, kind: firewall}, {name: meter, kind: counter}]\n"
	for _, runtime := range []string{"inline", "auto"} {
		p := made(t, "wiring: ebpf\nruntime: "+runtime+"\n"+functions+"everywhere: [{kind: firewall, firewall: {rules: {total: 100}}}]\nclassifier: {rules: [{name: x, match: {protocol: tcp}, functions: [wall, meter]}]}\n", plan.Facts{}, plan.Options{})
		if len(p.Nodes) != 3 || p.Nodes[1].Kind != plan.StopKind || p.Length() != 4 {
			t.Errorf("%s: %+v", runtime, p.Nodes)
		}
	}
	p := made(t, "wiring: ebpf\nruntime: "+api.RuntimeInline+"\n"+functions+"classifier: {rules: [{name: x, match: {protocol: tcp}, functions: []}]}\n", plan.Facts{}, plan.Options{})
	if got := strings.Join(p.Warnings, "\n"); !strings.Contains(got, "no path goes by wall") || !strings.Contains(got, "no path goes by meter") {
		t.Error(got)
	}
	p = made(t, "wiring: ebpf\nruntime: inline\nfunctions: [{name: wall, kind: counter}, {name: meter, kind: counter}, {name: there, kind: counter, symmetric: false}]\nclassifier: {rules: [{name: x, match: {protocol: tcp}, functions: [wall, meter, there]}]}\n", plan.Facts{}, plan.Options{})
	if got := p.Classifier.Path("wall meter there").Text(); got != "wall → meter → there, and back by wall, meter" {
		t.Error(got)
	}
}

// TestAnswersComeFirstAtStops: the pass for answers to a translator is made before the one that connections open at, whichever way they go.
func TestAnswersComeFirstAtStops(t *testing.T) {
	for direction, first := range map[string]string{"": "eth0", "direction: reverse, ": "eth1"} {
		p := made(t, "wiring: ebpf\nfunctions: [{name: nat, kind: nat, runtime: inline, "+direction+"nat: {source: {}}}, {name: a, kind: forward}]\nclassifier: {rules: [{name: x, functions: [nat, a]}]}\n", plan.Facts{}, plan.Options{})
		called := calledInterfaces(p)
		var passes []string
		for _, r := range p.Resources {
			if s, is := r.Spec.(pass.Spec); is {
				passes = append(passes, called[resource.Interface{Namespace: r.Namespace, Device: s.Device}])
			}
		}
		if len(passes) != 2 || passes[0] != "nat.stop "+first+" port" {
			t.Errorf("direction %q: %v", direction, passes)
		}
	}
}

// TestAnswersReachWhoTranslates: what is sent to an address that a function gives connections for their source comes to that function whatever
// the rules say, as what is sent to one of its own does.
func TestAnswersReachWhoTranslates(t *testing.T) {
	given := netip.MustParsePrefix("203.0.113.1/32")
	for runtime, is := range map[string]struct{ functions, path, name string }{
		"inline": {"{name: nat, kind: nat, runtime: inline, nat: {source: {addresses: [203.0.113.1]}}}", "nat", "nat"},
		"netns":  {"{name: nat, kind: nat, runtime: netns, nat: {source: {addresses: [203.0.113.1]}}}", "nat", "nat"},
		"group":  {"{name: f, kind: firewall, group: box}, {name: nat, kind: nat, group: box, nat: {source: {addresses: [203.0.113.1]}}}", "f, nat", "box"},
	} {
		spec := "wiring: ebpf\nfunctions: [" + is.functions + ", {name: b, kind: forward}]\n" +
			"classifier: {rules: [{name: x, match: {source: 198.18.0.0/16}, functions: [" + is.path + ", b]}]}\n"
		p, err := plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), plan.Facts{}, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		own := p.Classifier.Choice.Rules[:p.Classifier.Own]
		if !slices.ContainsFunc(own, func(r steer.Rule) bool { return r.Name == "to "+is.name && slices.Contains(r.Destinations, given) }) {
			t.Errorf("%s: none of its own rules leads to what the nat gives: %+v", runtime, own)
		}
	}
}
