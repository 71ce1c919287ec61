package plan_test

import (
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/process"
)

// instanced is a chain in which functions have instances.
func instanced(t *testing.T, spec string, instances map[string]int, facts plan.Facts) (*plan.Plan, error) {
	t.Helper()
	if facts.CPUs == nil {
		facts.CPUs = upTo(4)
	}
	return plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), facts, plan.Options{Instances: instances})
}

// TestReplaced: who has a function become what its packets need made anew has that put in beside it or hears of it, and nobody else does.
func TestReplaced(t *testing.T) {
	const over = "wiring: ebpf\n"
	for name, c := range map[string]struct{ was, is, beside, inPlace string }{
		"the same":         {"{name: f, kind: firewall}", "{name: f, kind: firewall}", "", ""},
		"another name":     {"{name: f, kind: firewall}", "{name: g, kind: forward}", "", ""},
		"other rules":      {"{name: f, kind: firewall}", "{name: f, kind: firewall, firewall: {policy: drop}}", "", ""},
		"a kind":           {"{name: f, kind: firewall}", "{name: f, kind: forward}", "was a firewall and becomes a forward", ""},
		"in place":         {"{name: f, kind: firewall}", "{name: f, kind: forward, replace: in-place}", "", "was a firewall and becomes a forward"},
		"a container":      {"{name: f, kind: forward}", "{name: f, kind: forward, runtime: docker}", "was in runtime netns and comes to be in docker", ""},
		"no container":     {"{name: f, kind: forward, runtime: docker}", "{name: f, kind: forward}", "was in runtime docker and comes to be in netns", ""},
		"another engine":   {"{name: f, kind: forward, runtime: docker}", "{name: f, kind: forward, runtime: containerd}", "was in runtime docker and comes to be in containerd", ""},
		"another image":    {"{name: f, kind: command, runtime: docker, container: {image: a}}", "{name: f, kind: command, runtime: docker, container: {image: b}}", "has another container", ""},
		"limits":           {"{name: f, kind: command, runtime: docker, container: {image: a}}", "{name: f, kind: command, runtime: docker, container: {image: a}, resources: {cpu_time: 0.5}}", "", ""},
		"headers":          {"{name: f, kind: command, command: {args: [x]}}", "{name: f, kind: command, encapsulation: nsh, command: {args: [x]}}", "comes to get headers (encapsulation: nsh)", ""},
		"no headers":       {"{name: f, kind: command, encapsulation: nsh, command: {args: [x]}}", "{name: f, kind: command, command: {args: [x]}}", "gets headers (encapsulation: nsh) no more", ""},
		"a program":        {"{name: f, kind: command, command: {args: [x]}}", "{name: f, kind: command, command: {args: [y]}}", "", ""},
		"a program beside": {"{name: f, kind: command, command: {args: [x]}}", "{name: f, kind: command, replace: beside, command: {args: [y]}}", "has another program", ""},
		"in the wire":      {"{name: f, kind: command, command: {args: [x], transparent: true}}", "{name: f, kind: command, command: {args: [y], transparent: true}}", "has another program", ""},
		"replicas":         {"{name: f, kind: firewall, replicas: 2}", "{name: f, kind: forward, replicas: 3}", "was a firewall and becomes a forward", ""},
		"more of one":      {"{name: f, kind: firewall}", "{name: f, kind: forward, replicas: 3}", "", ""},
		"inline":           {"{name: f, kind: counter, runtime: netns}", "{name: f, kind: counter, runtime: inline}", "", ""},
		"inline as others": {"{name: f, kind: counter, runtime: inline}", "{name: f, kind: dscp, runtime: inline, dscp: {code: ef}}", "", ""},
		"a translator":     {"{name: f, kind: firewall}", "{name: f, kind: nat, nat: {source: {masquerade: true}}}", "", "was a firewall and becomes a nat"},
		"one no more":      {"{name: f, kind: nat, nat: {source: {masquerade: true}}}", "{name: f, kind: firewall}", "", "was a nat and becomes a firewall"},
		"on its own CPU":   {"{name: f, kind: firewall}\n- {name: g, kind: command, command: {args: [x]}}\nplacement: {functions: exclusive}", "{name: f, kind: forward}\n- {name: g, kind: command, command: {args: [x]}}\nplacement: {functions: exclusive}", "", "was a firewall and becomes a forward"},
	} {
		was, err := instanced(t, over+"functions:\n- "+c.was+"\n", nil, plan.Facts{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		is, err := instanced(t, over+"functions:\n- "+c.is+"\n", nil, plan.Facts{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		beside, inPlace := is.Replaced(was)
		if beside["f"] != c.beside || inPlace["f"] != c.inPlace || len(beside)+len(inPlace) > 1 {
			t.Errorf("%s: beside it %q, where it is %q", name, beside, inPlace)
		}
	}
}

// everyReference has a function where a file may name it.
const everyReference = `wiring: ebpf
endpoints: [{name: client, command: {args: [ask], after: [f]}}, {name: server}]
functions:
- {name: a, kind: command, command: {args: [x], after: [f]}, branches: [{mark: 1, to: f}], next: g}
- {name: g, kind: forward, next: f}
- {name: f, kind: command, command: {args: [x]}}
everywhere:
- {kind: firewall, except: [f], firewall: {rules: {list: [{protocol: tcp, action: drop}]}}}
`

// TestInstances are planned as functions of other names: all else is the same.
func TestInstances(t *testing.T) {
	for _, spec := range []string{
		everyReference,
		"wiring: ebpf\nfunctions: [{name: e, kind: forward}, {name: f, kind: forward, replicas: 2}]\nclassifier: {rules: [{name: x, match: {protocol: udp}, functions: [f, e]}, {name: y, functions: [f]}]}\n",
		"wiring: ebpf\nfunctions: [{name: f, kind: forward, onFailure: bypass}, {name: h, kind: counter, runtime: inline}, {name: n, kind: command, encapsulation: nsh, command: {args: [x]}}]\n",
	} {
		is, err := instanced(t, spec, map[string]int{"f": 2, "gone": 3}, plan.Facts{})
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(is.Instances, map[string]int{"f": 2}) {
			t.Errorf("%v", is.Instances)
		}
		other, err := instanced(t, strings.NewReplacer("name: f,", "name: f2,", "[f]", "[f2]", "[f,", "[f2,", "to: f}", "to: f2}", "next: f}", "next: f2}").Replace(spec), nil, plan.Facts{})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, p := range []*plan.Plan{is, other} {
			seen[shape(t, p)] = true
		}
		if len(seen) != 1 {
			t.Errorf("it is planned otherwise than a function of another name:\n%s", strings.Join(slices.Collect(maps.Keys(seen)), "\n\n"))
		}
		for _, n := range is.Nodes {
			if called := n.InFile() == "f"; called != n.Means("f") || called != (n.Called == "f") {
				t.Errorf("%+v", n)
			}
		}
		for _, r := range is.Resources {
			if s, runs := r.Spec.(process.Spec); runs && (s.Node == "f.2") != (s.Of == "f") {
				t.Errorf("%s is of %q", s.Node, s.Of)
			}
		}
	}
}

// shape of a plan: what there is of each kind where, whatever it is called.
func shape(t *testing.T, p *plan.Plan) string {
	t.Helper()
	text, err := json.Marshal(p.Graph())
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{string(text)}
	for i, n := range p.Nodes {
		kinds := map[string]int{}
		for _, r := range p.Resources {
			if r.Namespace == n.Namespace {
				kinds[r.Kind]++
			}
		}
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			lines = append(lines, strings.Repeat(" ", i)+n.Kind+" "+kind+strings.Repeat("|", kinds[kind]))
		}
	}
	return strings.Join(lines, "\n")
}

// TestInstancesKeepAddresses: what comes in a function's place has the addresses of what was there, while that is there and after, and others have no such.
func TestInstancesKeepAddresses(t *testing.T) {
	const spec = "wiring: ebpf\nfunctions: [{name: f, kind: forward}, {name: g, kind: forward, replicas: 2}]\n"
	was, err := instanced(t, spec, nil, plan.Facts{})
	if err != nil {
		t.Fatal(err)
	}
	facts := plan.Facts{Addresses: addressesOf(was), Blocks: map[string][]netip.Prefix{"edge": was.Blocks}}
	for range 3 {
		is, err := instanced(t, spec, map[string]int{"f": 2, "g": 3}, facts)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range is.Nodes {
			if !slices.Equal(facing(n.West), facing(was.Nodes[i].West)) {
				t.Errorf("%s has %v, and %s had %v", n.Name, facing(n.West), was.Nodes[i].Name, facing(was.Nodes[i].West))
			}
		}
		facts.Addresses = addressesOf(is) // what was there has gone
	}
}

// facing are the addresses of an interface; none of what an end has not.
func facing(i *plan.Interface) []netip.Addr {
	if i == nil {
		return nil
	}
	return i.Addresses
}

// TestInstancesAreRefusedByTheirNames in the file.
func TestInstancesAreRefusedByTheirNames(t *testing.T) {
	_, err := instanced(t, "wiring: ebpf\nfunctions: [{name: f, kind: nat, nat: {source: {masquerade: true}}, onFailure: bypass}]\n", map[string]int{"f": 12}, plan.Facts{})
	if err == nil || strings.Contains(err.Error(), "f.12") || !strings.Contains(err.Error(), "function f: onFailure: ") {
		t.Error(err)
	}
}

// TestReplaceIsRefused where nothing is put in beside what is there.
func TestReplaceIsRefused(t *testing.T) {
	for spec, want := range map[string]string{
		"functions: [{name: f, kind: forward, replace: beside}]\n":                                                "function f: replace: wiring veth leads packets to one namespace of a function; use wiring: ebpf, or leave it out",
		"wiring: ebpf\nfunctions: [{name: f, kind: nat, replace: beside, nat: {source: {masquerade: true}}}]\n":   "function f: replace: a nat is reached at addresses of its own, which two cannot have; leave it out",
		"wiring: ebpf\nfunctions: [{name: f, kind: forward, replace: beside, group: g}]\n":                        "function f: replace: functions of a group are changed in the namespace that they share; leave one of the two out",
		"wiring: ebpf\nfunctions: [{name: f, kind: forward, replace: beside}]\nplacement: {functions: exclusive}": "function f: replace: placement gives each function a CPU to itself",
		"wiring: ebpf\nfunctions: [{name: f, kind: forward, replace: beside, runtime: cni}]\n":                    "function f: replace: another runtime brings its container, under the function's own name; leave it out",
	} {
		if _, err := instanced(t, spec, nil, plan.Facts{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}
