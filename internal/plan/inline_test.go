package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// translated by functions that are inline beside a firewall, at addresses of their own and at others.
const translated = `wiring: ebpf
runtime: inline
endpoints: [{name: client}, {name: server, addresses: [203.0.113.1]}]
functions:
- {name: fw, kind: firewall, firewall: {policy: drop, rules: {list: [{protocol: tcp, action: accept}]}}}
- {name: out, kind: nat, nat: {source: {masquerade: true}}}
- {name: a, kind: forward, runtime: netns}
- {name: lb, kind: loadbalancer, loadbalancer: {addresses: [203.0.113.80], protocol: tcp, port: 80-90, by: hash}}
- {name: back, kind: nat, direction: reverse, nat: {source: {}, destination: {}}}
`

const inline = `wiring: ebpf
functions:
- {name: count, kind: counter, runtime: inline}
- {name: mark, kind: dscp, direction: forward, runtime: inline, dscp: {code: ef}}
- {name: a, kind: forward}
- {name: lose, kind: drop, direction: reverse, runtime: inline, drop: {every: 100}}
- {name: fair, kind: ratelimit, runtime: inline, ratelimit: {rate: 100Mbit, per: flow}}
- {name: limit, kind: ratelimit, runtime: auto, ratelimit: {rate: 1Gbit, per: source}}
`

// TestInlineSteps are at the ports of the nodes around, in the order in which the packets of a
// way meet their functions.
func TestInlineSteps(t *testing.T) {
	p := made(t, inline, plan.Facts{}, plan.Options{Direct: true})
	sound(t, p)
	if len(p.Nodes) != 3 || len(p.Inline) != 5 || p.Length() != 8 {
		t.Fatalf("%d nodes, %d inline", len(p.Nodes), len(p.Inline))
	}
	behind, of := map[string]string{}, map[string]string{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is {
			behind[s.B.Device] = s.A.Node + " " + s.A.Device
		}
	}
	for _, f := range p.Inline {
		for _, at := range []*plan.Taken{f.Forward, f.Reverse} {
			if at != nil {
				of[fmt.Sprint(at.Pass, at.Slot)] = f.Name
			}
		}
	}
	got := map[string][]string{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(pass.Spec); is {
			for _, step := range s.Steps {
				got[behind[s.Device]] = append(got[behind[s.Device]], of[fmt.Sprint(r.ID, step.Slot)])
			}
			flows := map[string]uint32{"a eth1": 2 * 65536, "server eth0": 2 * 65536}
			if s.Flows != flows[behind[s.Device]] {
				t.Errorf("at %s are buckets for %d flows", behind[s.Device], s.Flows)
			}
		}
	}
	want := map[string][]string{"client eth0": {"count", "mark"}, "a eth0": {"count"}, "a eth1": {"fair", "limit"}, "server eth0": {"limit", "fair", "lose"}}
	for end, names := range want {
		if !slices.Equal(got[end], names) {
			t.Errorf("at %s are %v, want %v", end, got[end], names)
		}
	}
	if len(got) != len(want) || !slices.Contains(p.Requires, feature.BPFIngress) {
		t.Errorf("passes %v of a plan that requires %v", got, p.Requires)
	}
}

// TestInlineLeavesNodes as they are, and the slots of functions that stay.
func TestInlineLeavesNodes(t *testing.T) {
	before := made(t, "wiring: ebpf\nfunctions: [{name: a, kind: forward}, {name: one, kind: counter, runtime: inline}]\n", plan.Facts{}, plan.Options{})
	after := made(t, "wiring: ebpf\nfunctions: [{name: a, kind: forward}, {name: two, kind: counter, runtime: inline}, {name: one, kind: counter, runtime: inline}]\n", plan.Facts{}, plan.Options{})
	was := map[string]string{}
	for _, r := range before.Resources {
		was[r.ID] = r.Spec.Fingerprint()
	}
	for _, r := range after.Resources {
		if r.Kind != pass.KindName && was[r.ID] != r.Spec.Fingerprint() {
			t.Errorf("%s is another", r.ID)
		}
	}
	if len(before.Resources) != len(after.Resources) {
		t.Errorf("%d resources are %d", len(before.Resources), len(after.Resources))
	}
	if a, b := before.Inline[0].Forward, after.Inline[1].Forward; a.Pass != b.Pass || a.Slot != b.Slot {
		t.Errorf("%+v is %+v", *a, *b)
	}
}

// TestInlineSlotsAreTheSameBothWays, whoever else comes to the slot that a name gives: firewalls have their rules in common
// only then.
func TestInlineSlotsAreTheSameBothWays(t *testing.T) {
	var functions strings.Builder
	for i := range pass.Most - 4 {
		kind := []string{"firewall, firewall: {rules: {generate: 2}}", "counter", "firewall, direction: reverse, firewall: {rules: {generate: 2}}", "dscp, direction: forward, dscp: {code: ef}"}[i%4]
		fmt.Fprintf(&functions, "- {name: f%d, kind: %s}\n", i, kind)
	}
	p := made(t, "wiring: ebpf\nruntime: inline\nfunctions:\n"+functions.String(), plan.Facts{}, plan.Options{})
	slots, both := map[string][]uint32{}, 0
	for _, r := range p.Resources {
		s, _ := r.Spec.(pass.Spec)
		for i, step := range s.Steps {
			slots[s.Of[i]] = append(slots[s.Of[i]], step.Slot)
		}
		for _, f := range s.Firewalls {
			if !slices.Contains(slots[f.Name], f.Slot) {
				t.Errorf("the rules of %s are in slot %d, and its step in %v", f.Name, f.Slot, slots[f.Name])
			}
		}
	}
	for name, at := range slots {
		both += len(at) - 1
		if len(slices.Compact(at)) != 1 {
			t.Errorf("%s is in slots %v", name, at)
		}
	}
	if len(slots) != pass.Most-4 || both != len(slots)/2 {
		t.Errorf("%d functions have slots, of which %d are met both ways", len(slots), both)
	}
}

// TestInlineTaps: a mirror has one, for both ways, in a namespace of its own beside the ports.
func TestInlineTaps(t *testing.T) {
	p := made(t, "wiring: ebpf\nfunctions: [{name: m, kind: mirror, runtime: inline}, {name: n, kind: mirror, runtime: inline}]\n", plan.Facts{}, plan.Options{})
	sound(t, p)
	beside := map[string]string{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is && strings.HasSuffix(s.A.Node, ".tap") {
			beside[s.B.Device] = s.A.Node
		}
	}
	passes := 0
	for _, r := range p.Resources {
		s, is := r.Spec.(pass.Spec)
		if !is {
			continue
		}
		passes++
		for i, of := range s.Of {
			if tap := s.Taps[s.Steps[i].Args[0]]; beside[tap] != of+".tap" {
				t.Errorf("%s copies to %s, which leads to %q", of, tap, beside[tap])
			}
		}
	}
	if passes != 2 || len(beside) != 2 {
		t.Errorf("%d passes, taps %v", passes, beside)
	}
}

// TestInlineRefused names what cannot be, and what can.
func TestInlineRefused(t *testing.T) {
	counter := func(more string) string {
		return "functions: [{name: a, kind: counter, runtime: inline" + more + "}]\n"
	}
	for _, c := range []struct{ spec, want string }{
		{counter(""), "function a: runtime inline: wiring veth has nothing between two nodes where packets could take a step; use wiring: ebpf"},
		{"wiring: ebpf\nfunctions: [{name: a, kind: shaper, runtime: inline, shaper: {rate: 1Gbit}}]\n", "function a: runtime inline: a shaper needs a namespace; kinds that can be without are counter, drop, dscp, "},
		{"wiring: ebpf\nruntime: inline\nfunctions: [{name: a, kind: counter, group: box}]\n", "leave group out"},
		{"wiring: ebpf\nruntime: inline\nfunctions: [{name: a, kind: counter, resources: {memory: 1GB}}]\n", "leave resources out"},
	} {
		_, err := plan.Make(plantest.Chain(t, "edge", c.spec), plantest.Catalogue(), plan.Facts{}, plan.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.spec, err, c.want)
		}
	}
	if _, err := plan.MakeFunction(api.StandaloneFunction{Spec: api.FunctionBody{Kind: "counter", Runtime: api.RuntimeInline}}, plantest.Catalogue(), plan.Facts{}); err == nil || !strings.Contains(err.Error(), "leave runtime: inline out") {
		t.Errorf("one that stands alone: %v", err)
	}
}

// TestInlineBehindReplicas is told behind its hop, wherever that is among the nodes.
func TestInlineBehindReplicas(t *testing.T) {
	p := made(t, "wiring: ebpf\nfunctions: [{name: r, kind: forward, replicas: 3}, {name: f, kind: forward}, {name: c, kind: counter, runtime: inline}]\n", plan.Facts{}, plan.Options{})
	if text := p.Text(); !strings.Contains(text, "path: client → r (forward, 3 replicas) → f (forward) → c (counter, inline) → server\n") {
		t.Error(text)
	}
}

// TestInlineBesideReplicas: on the way on which packets come by the port of one of several replicas, one pass is at all of these ports.
func TestInlineBesideReplicas(t *testing.T) {
	p := made(t, "wiring: ebpf\nfunctions: [{name: a, kind: counter, runtime: inline}, {name: r, kind: forward, replicas: 3}, {name: b, kind: counter, runtime: inline}, {name: s, kind: forward, replicas: 2}, {name: c, kind: counter, runtime: inline, symmetric: false}]\n", plan.Facts{}, plan.Options{})
	if text := p.Text(); !strings.Contains(text, "path: client → a (counter, inline) → r (forward, 3 replicas) → b (counter, inline) → s (forward, 2 replicas) → c (counter, inline) → server\n") {
		t.Error(text)
	}
	at := map[string]pass.Spec{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(pass.Spec); is {
			at[r.ID] = s
		}
	}
	for i, want := range [][2]int{{1, 3}, {3, 2}, {2, 0}} { // ports on either way
		f := p.Inline[i]
		for way, taken := range []*plan.Taken{f.Forward, f.Reverse} {
			if got := len(taken.All()); got != want[way] {
				t.Errorf("%s: %d passes, want %d", f.Name, got, want[way])
			}
			var devices []string
			for _, id := range taken.All() {
				devices = append(devices, at[id].Device)
			}
			for _, id := range taken.All() {
				if s := at[id]; len(s.Beside) != want[way]-1 || s.Fingerprint() != at[taken.Pass].Fingerprint() || slices.ContainsFunc(s.Beside, func(d string) bool { return d == s.Device || !slices.Contains(devices, d) }) {
					t.Errorf("%s: %s is beside %v, of %v", f.Name, s.Device, s.Beside, devices)
				}
			}
			for _, id := range taken.All() {
				delete(at, id)
			}
		}
	}
	if len(at) > 0 {
		t.Errorf("passes %v besides", at)
	}
	if b := p.Inline[1]; b.West != "r" || b.East != "s" {
		t.Errorf("b is between %s and %s", b.West, b.East)
	}
}

// TestInlineAuto where wiring, kind, machine and file let it be, and else a namespace.
func TestInlineAuto(t *testing.T) {
	old := func(f string) bool { return f != feature.BPFIngress }
	const ebpf, a = "wiring: ebpf\n", "functions: [{name: a, kind: counter}]\n"
	for _, c := range []struct {
		spec   string
		has    func(string) bool
		inline int
	}{
		{ebpf + "runtime: auto\n" + a, nil, 1}, {ebpf + "runtime: auto\n" + a, old, 0}, {"runtime: auto\n" + a, nil, 0}, {ebpf + a, nil, 0},
		{ebpf + "runtime: auto\nfunctions: [{name: a, kind: counter, resources: {memory: 1GB}}, {name: b, kind: forward}, {name: c, kind: counter, runtime: netns}]\n", nil, 0},
		{ebpf + "functions: [{name: a, kind: counter, runtime: auto}, {name: b, kind: counter}]\n", nil, 1},
		{ebpf + "runtime: inline\nfunctions: [{name: a, kind: forward, runtime: netns}, {name: b, kind: counter}]\n", nil, 1},
	} {
		p, err := plan.Make(plantest.Chain(t, "edge", c.spec), plantest.Catalogue(), plan.Facts{Has: c.has}, plan.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.spec, err)
			continue
		}
		if len(p.Inline) != c.inline {
			t.Errorf("%s: %d are inline, want %d", c.spec, len(p.Inline), c.inline)
		}
		if auto := strings.Contains(c.spec, "auto"); auto != (p.Runtimes["a"] != "") || auto != strings.Contains(p.Text(), "runtime auto: a is ") {
			t.Errorf("%s: chose %v, and says\n%s", c.spec, p.Runtimes, p.Text())
		}
	}
}

// TestRuntimesStay: what was chosen for functions that leave it to the plan stays, whatever the machine is now; and of those that
// name theirs, and of new ones, nothing does.
func TestRuntimesStay(t *testing.T) {
	const spec = "wiring: ebpf\nruntime: auto\nfunctions: [{name: a, kind: counter}, {name: b, kind: counter, runtime: netns}, {name: c, kind: counter, runtime: inline}]\n"
	old := func(f string) bool { return f != feature.BPFIngress }
	for _, c := range []struct {
		was  map[string]string
		has  func(string) bool
		a    string
		want int
	}{
		{map[string]string{"a": "netns", "b": "inline", "c": "netns"}, nil, "netns", 1}, {map[string]string{"a": "inline"}, old, "inline", 2},
		{map[string]string{"gone": "netns"}, nil, "inline", 2}, {nil, old, "netns", 1},
	} {
		p := made(t, spec, plan.Facts{Has: c.has}, plan.Options{Runtimes: c.was})
		if len(p.Inline) != c.want || len(p.Runtimes) != 1 || p.Runtimes["a"] != c.a {
			t.Errorf("was %v: %d inline, chose %v", c.was, len(p.Inline), p.Runtimes)
		}
	}
}

// TestInlineAutoSuits: what would be refused inline, or do less there, has a namespace if that is left to the plan.
func TestInlineAutoSuits(t *testing.T) {
	var many strings.Builder
	var names []string
	for i := range pass.Most + 1 {
		fmt.Fprintf(&many, "- {name: a%d, kind: counter}\n", i)
		names = append(names, fmt.Sprintf("a%d", i))
	}
	const parts = "- {name: p, kind: command, command: {args: [sleep, inf]}}\n- {name: q, kind: command, command: {args: [sleep, inf]}, branches: [{mark: 1, to: server}]}\n- {name: z, kind: command, command: {args: [sleep, inf]}}\n"
	for functions, want := range map[string]string{
		"- {name: a, kind: counter}\n- {name: r, kind: forward, replicas: 2}\n- {name: c, kind: counter}\n- {name: d, kind: counter}\n":                   "a c d",
		"- {name: a, kind: nat, nat: {source: {}}}\n- {name: r, kind: forward, replicas: 2}\n- {name: c, kind: nat, nat: {source: {}}}\n":                 "a c",
		"- {name: a, kind: counter}\n- {name: b, kind: counter}\n- {name: r, kind: command, onFailure: bypass, command: {args: [sleep, inf]}}\n":          "a b",
		"- {name: n, kind: nat, nat: {source: {}}}\n- {name: c, kind: counter}\n- {name: r, kind: forward, replicas: 2}\n":                                "n c",
		"- {name: r, kind: forward, replicas: 2}\n- {name: c, kind: counter}\n- {name: n, kind: nat, nat: {source: {}}}\n":                                "c n",
		"- {name: n, kind: nat, nat: {source: {}}}\n- {name: c, kind: command, command: {args: [sleep, inf]}}\n- {name: r, kind: forward, replicas: 2}\n": "n",
		"- {name: m, kind: mirror}\n- {name: some, kind: mirror, mirror: {every: 10}}\n":                                                                  "some",
		"- {name: a, kind: counter, branches: [{mark: 1, to: b}]}\n- {name: x, kind: counter}\n- {name: b, kind: counter}\n":                              "x b", // nothing gives what goes on a mark
		many.String(): strings.Join(names, " "),
	} {
		for _, more := range []string{"", parts} {
			p := made(t, "wiring: ebpf\nruntime: auto\nfunctions:\n"+functions+more, plan.Facts{}, plan.Options{})
			var got []string
			for _, f := range p.Inline {
				got = append(got, f.Name)
			}
			if strings.Join(got, " ") != want {
				t.Errorf("of\n%s%s%v are inline, want %s", functions, more, got, want)
			}
		}
	}
}

// TestStandalonePasses come with the chain that brings the interfaces.
func TestStandalonePasses(t *testing.T) {
	alone := plantest.Function(t, "tally", "kind: counter\n")
	facts := plan.Facts{Functions: map[string]api.FunctionBody{"tally": alone.Spec}}
	p := made(t, "functions: [{name: a, ref: tally}]\n", facts, plan.Options{})
	passes := 0
	for _, r := range p.Resources {
		if r.Kind == pass.KindName {
			passes++
		}
	}
	if passes != 2 {
		t.Errorf("%d passes", passes)
	}
}
