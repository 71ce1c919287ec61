package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/nsh"
	"nfchain.dev/nfchain/internal/resource/steer"
)

const (
	relayed = "{name: relay, kind: command, encapsulation: nsh, command: {args: [relay]}}"
	relays  = "wiring: ebpf\nfunctions:\n- " + relayed + "\n"
)

func nshPlan(t *testing.T, spec string) *plan.Plan {
	t.Helper()
	p, err := plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), plan.Facts{}, plan.Options{Direct: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestEncapsulationIsRefused where nobody would put a header on, or read it.
func TestEncapsulationIsRefused(t *testing.T) {
	for spec, want := range map[string]string{
		"functions:\n- " + relayed + "\n":                                                                  "wiring veth puts no header before packets; use wiring: ebpf",
		"wiring: ebpf\nfunctions:\n- {name: a, kind: forward, encapsulation: nsh}\n":                       "a forward is the kernel's own, which does not read nsh; kinds whose programs can are command",
		"wiring: ebpf\nfunctions:\n- {name: a, kind: bridge, encapsulation: nsh}\n":                        "a bridge is the kernel's own",
		"mtu: 65520\n" + relays:                                                                            "use mtu: 65505",
		"mtu: 65510\n" + strings.Replace(relays, "encapsulation: nsh", "encapsulation: nsh, mdType: 1", 1): "use mtu: 65489",
		strings.Replace(relays, "functions:", "functions:\n- {name: parts, kind: forward, branches: [{mark: 1, to: relay}]}", 1) + "classifier: {rules: [{name: r, match: {protocol: tcp}, functions: [relay]}]}\n": "function relay: encapsulation: the chain has a classifier, and branches or a next of which none leads anywhere but to the function behind; leave these out",
		relays + "everywhere: [{kind: firewall}]\n": "write except: [relay]",
	} {
		_, err := plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), plan.Facts{}, plan.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", spec, err, want)
		}
	}
}

// TestServiceIndexesEnd before they would be 0, in either direction.
func TestServiceIndexesEnd(t *testing.T) {
	for _, c := range []struct {
		before, behind int
		refused        bool
	}{{253, 0, false}, {0, 253, false}, {254, 0, true}, {0, 254, true}} {
		var text strings.Builder
		text.WriteString("wiring: ebpf\nfunctions:\n")
		for i := range c.before {
			fmt.Fprintf(&text, "- {name: w%d, kind: forward}\n", i)
		}
		text.WriteString("- " + relayed + "\n")
		for i := range c.behind {
			fmt.Fprintf(&text, "- {name: e%d, kind: forward}\n", i)
		}
		_, err := plan.Make(plantest.Chain(t, "edge", text.String()), plantest.Catalogue(), plan.Facts{}, plan.Options{})
		if is := err != nil && strings.Contains(err.Error(), "at most 254 functions"); is != c.refused || err != nil && !is {
			t.Errorf("%d before and %d behind: %v", c.before, c.behind, err)
		}
	}
}

// TestServicePath is the chain's: counted down in both directions by all functions, the same for replicas,
// and nobody's but those that ask for it.
func TestServicePath(t *testing.T) {
	p := nshPlan(t, "wiring: ebpf\nebpf: {service_path: 5}\nfunctions:\n- {name: a, kind: counter, runtime: inline}\n- {name: b, kind: forward, group: box}\n- {name: c, kind: forward, group: box}\n"+
		"- {name: relay, kind: command, encapsulation: nsh, replicas: 2, command: {args: [relay]}}\n- {name: d, kind: forward}\n")
	told := 0
	for _, n := range p.Nodes {
		if n.NSH == nil {
			continue
		}
		told++
		if want := (plan.NSH{Forward: nsh.Hop{Path: 5, Index: 252}, Reverse: nsh.Hop{Path: 5 + 1<<23, Index: 254}}); n.NSH.Forward != want.Forward || n.NSH.Reverse != want.Reverse || len(n.NSH.Paths) > 0 || !n.Transparent {
			t.Errorf("%s: %+v, want %+v", n.Name, *n.NSH, want)
		}
	}
	if told != 2 {
		t.Errorf("%d nodes are told", told)
	}
	a, b := nshPlan(t, relays).Nodes[1].NSH.Forward.Path, nshPlan(t, relays).Nodes[1].NSH.Forward.Path
	if a != b || a == 0 || a > nsh.MostPath {
		t.Errorf("without a number: %d and %d", a, b)
	}
}

// TestHeadersHaveRoom: interfaces of a function that gets frames whole are longer by the header and tags, and nobody
// else's; ports are such that send by their devices, and say nothing of their own.
func TestHeadersHaveRoom(t *testing.T) {
	p := nshPlan(t, "wiring: ebpf\nmtu: 9000\nfunctions:\n- {name: a, kind: forward}\n- "+relayed+"\n")
	for _, r := range p.Resources {
		switch s := r.Spec.(type) {
		case link.Spec:
			whole := s.A.Node == "relay"
			if want := map[bool]int{true: 9030, false: 9000}[whole]; s.MTU != want || s.Quiet != whole || strings.HasPrefix(s.B.Device, steer.Sending) != whole {
				t.Errorf("%+v", s)
			}
		case container.Names:
			if len(s.Hosts) > 0 {
				t.Errorf("names that an edit of the chain changes: %v", s.Hosts)
			}
		}
	}
}

// headedPaths is a chain whose paths go by functions that get headers in any order.
const headedPaths = "wiring: ebpf\nebpf: {service_path: 100}\nfunctions: [{name: a, kind: forward}, " + relayed + ", {name: b, kind: forward, symmetric: false}]\n" +
	"classifier: {rules: [{name: web, match: {protocol: tcp}, functions: [a, relay, b]}, {name: far, match: {protocol: udp}, functions: [b, relay]}, {name: past, match: {protocol: sctp}, functions: [a]}]}\n"

// TestServicePathsOfAClassifier: each has a number of its own, which it keeps, and indexes by its own order, of the functions that
// it goes by there and back. Ports say to what puts headers on, and are told by what takes them off, which path it is.
func TestServicePathsOfAClassifier(t *testing.T) {
	p := nshPlan(t, headedPaths)
	n := p.Nodes[slices.IndexFunc(p.Nodes, func(n plan.Node) bool { return n.Name == "relay" })].NSH
	numbers := map[string]uint32{}
	for _, path := range p.Classifier.Paths {
		numbers[path.Name] = uint32(path.Number)
		if want := map[bool]uint32{true: 100 + uint32(path.Number)}[slices.Contains(path.Functions, "relay")]; path.ServicePath != want {
			t.Errorf("path %q is called %d, want %d", path.Name, path.ServicePath, want)
		}
	}
	hop := func(path string, back uint32, index uint8) nsh.Hop {
		return nsh.Hop{Path: 100 + numbers[path] | back, Index: index}
	}
	want := []plan.NSHPath{
		{Path: "a relay b", Number: int(numbers["a relay b"]), Forward: hop("a relay b", 0, 254), Reverse: hop("a relay b", 1<<23, 255)}, // nothing goes back by b
		{Path: "b relay", Number: int(numbers["b relay"]), Forward: hop("b relay", 0, 254), Reverse: hop("b relay", 1<<23, 255)},
	}
	if !slices.Equal(n.Paths, want) || n.Forward != want[0].Forward || n.Reverse != want[0].Reverse {
		t.Errorf("%+v, want %+v", n, want)
	}
	told, headed := 0, 0
	for _, r := range p.Resources {
		switch s := r.Spec.(type) {
		case nsh.Push:
			if told++; len(s.On) != 2 {
				t.Errorf("%+v", s)
			}
		case nsh.Pop:
			if told++; len(s.On) != 2 {
				t.Errorf("%+v", s)
			}
		case steer.Spec:
			if s.Paths == nil && strings.HasPrefix(s.To, steer.Sending) {
				t.Errorf("%s leads to a function with headers and names no path", s.Device)
			}
			if s.Paths != nil && s.Paths.Headed {
				headed++
			}
		}
	}
	if told != 4 || headed != 2 {
		t.Errorf("%d programs know paths, %d ports ask them", told, headed)
	}
	more := nshPlan(t, strings.Replace(headedPaths, "rules: [", "rules: [{name: first, priority: 9, match: {dscp: ef}, functions: [relay]}, ", 1))
	for _, path := range more.Classifier.Paths {
		if was := numbers[path.Name]; was != 0 && path.ServicePath != 0 && path.ServicePath != 100+was {
			t.Errorf("%q was called %d, and is %d beside another", path.Name, 100+was, path.ServicePath)
		}
	}
}

// TestPathIndexesEnd: what counts is the order on a path.
func TestPathIndexesEnd(t *testing.T) {
	var functions, names []string
	for i := range 254 {
		functions = append(functions, fmt.Sprintf("{name: w%d, kind: forward}", i))
		names = append(names, fmt.Sprintf("w%d", i))
	}
	chain := func(path string) string {
		return "wiring: ebpf\nfunctions: [" + strings.Join(functions, ", ") + ", " + relayed + "]\nclassifier: {rules: [{name: r, match: {}, functions: [" + path + "]}]}\n"
	}
	if _, err := plan.Make(plantest.Chain(t, "edge", chain("relay, w0")), plantest.Catalogue(), plan.Facts{}, plan.Options{}); err != nil {
		t.Error(err)
	}
	_, err := plan.Make(plantest.Chain(t, "edge", chain(strings.Join(names, ", ")+", relay")), plantest.Catalogue(), plan.Facts{}, plan.Options{})
	if err == nil || !strings.Contains(err.Error(), "function relay: encapsulation: it is function 255") {
		t.Error(err)
	}
}

// wayHop is where a function is on its service path, and what that is called by its functions.
type wayHop struct {
	way              string
	forward, reverse uint8
}

// TestServiceWays: where ways part each is a service path of its own as far as it is apart from those before it, with indexes of its own;
// where it is back on the planned way, packets are at their place on that, whichever way they came.
func TestServiceWays(t *testing.T) {
	node := func(name, more string) string {
		return "{name: " + name + ", kind: command, encapsulation: nsh, command: {args: [relay]}" + more + "}"
	}
	for name, c := range map[string]struct {
		functions []string
		want      map[string]wayHop
	}{
		"past one": {
			[]string{node("a", ", branches: [{mark: 1, to: c}]"), node("b", ""), node("c", "")},
			map[string]wayHop{"a": {"a b c", 255, 253}, "b": {"a b c", 254, 254}, "c": {"a b c", 253, 255}},
		},
		"all that is planned is a part": {
			[]string{node("a", ", branches: [{mark: 1, to: b}], next: d"), node("b", ""), node("c", ""), node("d", "")},
			map[string]wayHop{"a": {"a d", 255, 254}, "b": {"b c", 255, 254}, "c": {"b c", 254, 255}, "d": {"a d", 254, 255}},
		},
		"to the end": {
			[]string{node("a", ", branches: [{mark: 1, to: b}], next: server"), node("b", "")},
			map[string]wayHop{"a": {"a", 255, 255}, "b": {"b", 255, 255}},
		},
		"parting again": {
			[]string{node("a", ", branches: [{mark: 1, to: b}], next: e"), node("b", ", branches: [{mark: 1, to: c}], next: d"), node("c", ""), node("d", ""), node("e", "")},
			map[string]wayHop{"a": {"a e", 255, 254}, "b": {"b d", 255, 254}, "c": {"c", 255, 255}, "d": {"b d", 254, 255}, "e": {"a e", 254, 255}},
		},
		"others between": {
			[]string{"{name: count, kind: counter, runtime: inline}", node("a", ", branches: [{mark: 1, to: b}], next: last"), "{name: x, kind: forward, group: b}", "{name: y, kind: forward, group: b}",
				"{name: in, kind: counter, runtime: inline}", "{name: z, kind: forward}", node("c", ", replicas: 2"), "{name: last, kind: forward}"},
			map[string]wayHop{"a": {"count a last", 254, 254}, "c": {"x y in z c", 251, 255}},
		},
		"a line": {
			[]string{node("a", ", branches: [{mark: 1, to: b}]"), node("b", "")},
			map[string]wayHop{"a": {"a b", 255, 254}, "b": {"a b", 254, 255}},
		},
	} {
		p := nshPlan(t, "wiring: ebpf\nebpf: {service_path: 100}\nfunctions: ["+strings.Join(c.functions, ", ")+"]\n")
		called, told := map[string]uint32{}, 0
		for _, n := range p.Nodes {
			if n.NSH == nil {
				continue
			}
			told++
			path, way := n.NSH.Forward.Path, strings.ReplaceAll(n.NSH.Way, " → ", " ")
			want := c.want[n.Function()]
			if got := (wayHop{way, n.NSH.Forward.Index, n.NSH.Reverse.Index}); got != want || n.NSH.Reverse.Path != path|nsh.Back || len(n.NSH.Paths) > 0 {
				t.Errorf("%s: %s: %+v, want %+v", name, n.Name, n.NSH, want)
			}
			if was, is := called[way]; is && was != path {
				t.Errorf("%s: %q is called %d and %d", name, way, was, path)
			}
			called[way] = path
		}
		if told < len(c.want) {
			t.Errorf("%s: %d functions are told", name, told)
		}
		numbers := map[uint32]bool{}
		for way, path := range called {
			if numbers[path] || (path == 100) != slices.Contains(strings.Fields(way), "a") {
				t.Errorf("%s: %q is called %d", name, way, path)
			}
			numbers[path] = true
		}
	}
}

// TestServiceWaysKeepTheirNumbers while others come and go, and what is on them.
func TestServiceWaysKeepTheirNumbers(t *testing.T) {
	numberOf := func(branches, more string) uint32 {
		p := nshPlan(t, "wiring: ebpf\nebpf: {service_path: 8388607}\nfunctions: [{name: parts, kind: forward, next: last, branches: ["+branches+"]}, "+more+relayed+", {name: last, kind: forward}]\n")
		return p.Nodes[slices.IndexFunc(p.Nodes, func(n plan.Node) bool { return n.Name == "relay" })].NSH.Forward.Path
	}
	alone := numberOf("{mark: 1, to: relay}", "")
	if alone < 256 || alone >= 256+4096 { // identifiers begin anew behind the last
		t.Errorf("called %d", alone)
	}
	if beside := numberOf("{mark: 1, to: relay}, {mark: 2, to: other}", "{name: other, kind: forward, next: last}, "); beside != alone {
		t.Errorf("called %d, and %d beside another", alone, beside)
	}
}

// TestServiceWaysEnd before an index would be 0, each by itself.
func TestServiceWaysEnd(t *testing.T) {
	var text strings.Builder
	text.WriteString("wiring: ebpf\nfunctions:\n- {name: parts, kind: forward, next: w100, branches: [{mark: 1, to: w0}]}\n")
	for i := range 354 {
		more := ""
		if i == 99 {
			more = ", next: relay"
		}
		fmt.Fprintf(&text, "- {name: w%d, kind: forward%s}\n", i, more)
	}
	text.WriteString("- " + relayed + "\n")
	_, err := plan.Make(plantest.Chain(t, "edge", text.String()), plantest.Catalogue(), plan.Facts{}, plan.Options{})
	if err == nil || !strings.Contains(err.Error(), "function relay: encapsulation: it is function 256 of a direction") {
		t.Error(err)
	}
	fewer := strings.Replace(text.String(), "next: w100", "next: w102", 1) // nothing leads to two of them any more
	fewer = strings.NewReplacer("- {name: w100, kind: forward}\n", "", "- {name: w101, kind: forward}\n", "").Replace(fewer)
	if _, err := plan.Make(plantest.Chain(t, "edge", fewer), plantest.Catalogue(), plan.Facts{}, plan.Options{}); err != nil {
		t.Error(err)
	}
}

// TestServiceWaysBesidePaths of a classifier: what goes as branches lead is one path for the ports, which they tell to what puts headers on, and
// is called by each way; others are called as without branches.
func TestServiceWaysBesidePaths(t *testing.T) {
	p := nshPlan(t, headedCrossing)
	marked := p.Classifier.Paths[slices.IndexFunc(p.Classifier.Paths, func(p plan.Path) bool { return p.Branched })]
	other := p.Classifier.Path("joins side")
	if marked.ServicePath != 100+uint32(marked.Number) || other.ServicePath != 100+uint32(other.Number) {
		t.Errorf("called %d and %d", marked.ServicePath, other.ServicePath)
	}
	aside := uint32(0)
	for _, n := range p.Nodes {
		if n.NSH == nil {
			continue
		}
		way, by, where := marked.ServicePath, marked.Number, map[string][4]uint8{"parts": {255, 253}, "side": {255, 254, 254, 255}, "joins": {253, 255, 255, 254}}[n.Name]
		if n.Name == "side" {
			aside = n.NSH.Forward.Path
			way = aside
		}
		want := []plan.NSHPath{{Path: marked.Name, Number: by, Forward: nsh.Hop{Path: way, Index: where[0]}, Reverse: nsh.Hop{Path: way | nsh.Back, Index: where[1]}}}
		if n.Name != "parts" {
			want = append(want, plan.NSHPath{Path: other.Name, Number: other.Number, Forward: nsh.Hop{Path: other.ServicePath, Index: where[2]}, Reverse: nsh.Hop{Path: other.ServicePath | nsh.Back, Index: where[3]}})
		}
		slices.SortFunc(want, func(a, b plan.NSHPath) int { return strings.Compare(a.Path, b.Path) })
		got := slices.SortedFunc(slices.Values(n.NSH.Paths), func(a, b plan.NSHPath) int { return strings.Compare(a.Path, b.Path) })
		if !slices.Equal(got, want) || n.NSH.Forward.Path != way {
			t.Errorf("%s: %+v, want %+v", n.Name, n.NSH, want)
		}
	}
	if aside < 100+256 {
		t.Errorf("what is aside is called %d", aside)
	}
	told, asked := 0, 0
	for _, r := range p.Resources {
		s, is := r.Spec.(steer.Spec)
		if !is {
			continue
		}
		if strings.HasPrefix(s.Device, steer.Sending) {
			if asked++; s.Paths == nil || !s.Paths.Headed {
				t.Errorf("%s does not ask which path a frame is on", s.Device)
			}
		}
		leads := strings.HasPrefix(s.To, steer.Sending)
		if s.Branch != nil {
			leads = leads || slices.ContainsFunc(s.Branch.Ways, func(w steer.BranchWay) bool { return strings.HasPrefix(w.Port, steer.Sending) })
		}
		if leads {
			told++
		}
		if leads && (s.Branch == nil || s.Branch.Path != uint32(marked.Number)) || !leads && s.Branch != nil && s.Branch.Path != 0 {
			t.Errorf("%s leads to a function that gets headers: %t, and tells %+v", s.Device, leads, s.Branch)
		}
	}
	if told < 6 || asked != 6 {
		t.Errorf("%d ports tell the path, and %d ask", told, asked)
	}
}
