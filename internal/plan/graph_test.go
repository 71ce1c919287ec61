package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/label"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/steer"
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
		head + tell + "- {name: in, kind: nat, nat: {source: {masquerade: true}}}\n- {name: b, kind: forward}\n":  "function in: a nat gives connections addresses, and some ways lead past it",
		head + tell + "- {name: in, kind: nat, runtime: inline, nat: {source: {}}}\n- {name: b, kind: forward}\n": "function in: a nat gives connections addresses, and some ways lead past it",
		head + "- {name: a, kind: passthrough, branches: [{mark: 1, to: server}]}\n- {name: b, kind: forward}\n":  "function a: branches: what a passthrough passes on has no mark",
	} {
		_, err := plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), plan.Facts{CPUs: upTo(4)}, plan.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
	auto := "runtime: auto\n" + head + tell + "- {name: one, kind: counter}\n- {name: two, kind: counter}\n- {name: b, kind: counter}\n- {name: last, kind: counter}\n"
	p, err := plan.Make(plantest.Chain(t, "edge", auto), plantest.Catalogue(), plan.Facts{CPUs: upTo(4)}, plan.Options{})
	if err != nil || p.Chose() != "b is inline, last is inline, one is inline, tell is netns, two is inline" {
		t.Errorf("%v: chose %s", err, p.Chose())
	}
}

// TestReplicasWhereWaysPart: ways lead to functions, of which one replica has a flow, and each of them leads on and labels as the
// function does.
func TestReplicasWhereWaysPart(t *testing.T) {
	p, err := plan.Make(plantest.Chain(t, "edge", dealtWays), plantest.Catalogue(), plan.Facts{CPUs: upTo(4)}, plan.Options{Direct: true})
	if err != nil {
		t.Fatal(err)
	}
	if g := p.Graph(); !slices.EqualFunc(g.Onward, [][]int{{1}, {4, 2}, {3}, {4}, {5}, nil}, slices.Equal[[]int]) || len(p.Places()) != 6 || len(p.Nodes) != 10 {
		t.Errorf("%v of %d nodes", g, len(p.Nodes))
	}
	if !p.Always("tell-2") || p.Always("check-3") || !p.Always("out-2") {
		t.Error("ways lead past a function that all come to, or none past one that some do")
	}
	behind, labels, known := map[string]string{}, map[string]string{}, map[string]uint32{}
	for _, r := range p.Resources {
		switch s := r.Spec.(type) {
		case link.Spec:
			behind[s.B.Device] = s.A.Node + " " + s.A.Device
		case label.Spec:
			labels[r.Namespace] = s.Fingerprint()
		}
	}
	if len(labels) != 2 || labels[p.Nodes[1].Namespace] != labels[p.Nodes[2].Namespace] {
		t.Errorf("labels %v", labels)
	}
	got := map[string]string{}
	for _, r := range p.Resources {
		s, is := r.Spec.(steer.Spec)
		if !is {
			continue
		}
		text := behind[s.To]
		if s.Branch != nil {
			text = ""
			for _, w := range s.Branch.Ways {
				if n := known[w.Node]; n != 0 && n != w.Number {
					t.Errorf("%s has numbers %d and %d", w.Node, n, w.Number)
				}
				known[w.Node] = w.Number
				text += fmt.Sprintf("%s at %q joint %v, ", w.Node, behind[w.Port], w.Joint)
			}
		}
		for _, a := range s.Shared() {
			text += a.Of
			for _, replica := range a.Replicas {
				text += fmt.Sprintf(" %d %s", replica.Number, behind[replica.Port])
			}
			text += "; "
		}
		if len(r.Needs) < 1+len(s.Shared()) {
			t.Errorf("%s needs %v", r.ID, r.Needs)
		}
		got[behind[s.Device]] = text
	}
	want := map[string]string{
		"client eth0":  "tell 1 tell-1 eth0 2 tell-2 eth0; ",
		"client ethd0": "server ethd1", "server ethd1": "client ethd0",
		"tell-1 eth0": "client eth0", "tell-2 eth0": "client eth0",
		"check-1 eth1": "log eth0", "check-2 eth1": "log eth0", "check-3 eth1": "log eth0",
		"log eth0":   "check 1 check-1 eth1 2 check-2 eth1 3 check-3 eth1; ",
		"log eth1":   `out at "" joint true, out 1 out-1 eth0 2 out-2 eth0; `,
		"out-1 eth1": "server eth0", "out-2 eth1": "server eth0",
		"server eth0": "out 1 out-1 eth1 2 out-2 eth1; ",
	}
	for _, n := range []string{"1", "2"} {
		want["tell-"+n+" eth1"] = `out at "" joint true, check at "" joint false, out 1 out-1 eth0 2 out-2 eth0; check 1 check-1 eth0 2 check-2 eth0 3 check-3 eth0; `
		want["out-"+n+" eth0"] = `tell at "" joint false, log at "log eth1" joint false, tell 1 tell-1 eth1 2 tell-2 eth1; `
	}
	for _, n := range []string{"1", "2", "3"} {
		want["check-"+n+" eth0"] = "tell 1 tell-1 eth1 2 tell-2 eth1; "
	}
	if !maps.Equal(got, want) {
		for port, text := range want {
			if got[port] != text {
				t.Errorf("at the port of %s packets go to\n%s, want\n%s", port, got[port], text)
			}
		}
		t.Errorf("%d ports, want %d", len(got), len(want))
	}
}

// TestLedPastReplicasWhereWaysPart: a port knows the replicas of each function that packets may come to from there, whichever fail, and has
// them chosen where others are led past.
func TestLedPastReplicasWhereWaysPart(t *testing.T) {
	spec := `wiring: ebpf
functions:
- {name: tell, kind: forward, branches: [{mark: 1, to: two}]}
- {name: one, kind: forward, replicas: 2, onFailure: bypass, next: join}
- {name: two, kind: forward, onFailure: bypass}
- {name: join, kind: forward, replicas: 2, onFailure: bypass}
- {name: last, kind: forward, onFailure: bypass}
- {name: end, kind: forward, replicas: 2}
`
	p, err := plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), plan.Facts{CPUs: upTo(4)}, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	behind, got := map[string]string{}, map[string]string{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is {
			behind[s.B.Device] = s.A.Node + " " + s.A.Device
		}
	}
	for _, r := range p.Resources {
		s, is := r.Spec.(steer.Spec)
		if !is || s.Branch == nil && s.Among == nil {
			continue
		}
		text := ""
		if s.Branch != nil {
			text = "ways"
		}
		for _, a := range s.Shared() {
			text += " " + a.Of
		}
		got[behind[s.Device]] = text
	}
	want := map[string]string{
		"tell eth1": "ways one join end", "one-1 eth1": "ways join end", "one-2 eth1": "ways join end", "two eth1": "ways join end",
		"join-1 eth1": "ways end", "join-2 eth1": "ways end", "last eth1": " end",
		"server eth0": " end", "end-1 eth0": "ways join one", "end-2 eth0": "ways join one", "last eth0": "ways join one",
		"join-1 eth0": "ways one", "join-2 eth0": "ways one",
	}
	if !maps.Equal(got, want) {
		t.Errorf("ports face %v, want %v", got, want)
	}
}

// TestTooManyReplicasWhereWaysPart: packets may be led from a port to so many functions with replicas, and not past one that must take them.
func TestTooManyReplicasWhereWaysPart(t *testing.T) {
	row := func(from, to int) (text string) {
		for i := from; i < to; i++ {
			text += fmt.Sprintf("- {name: f%d, kind: forward, replicas: 2, onFailure: bypass}\n", i)
		}
		return text
	}
	begin := "wiring: ebpf\nfunctions:\n- {name: tell, kind: forward, branches: [{mark: 1, to: f1}]}\n"
	for spec, want := range map[string]string{
		begin + row(0, steer.MostShared):   "",
		begin + row(0, steer.MostShared+1): "packets may go on to 33 functions with replicas, and there can be 32; put one without onFailure: bypass between them",
		begin + row(0, 20) + "- {name: led, kind: forward, onFailure: bypass}\n" + row(20, steer.MostShared+1): "packets may go on to 33 functions",
		begin + row(0, 20) + "- {name: between, kind: forward}\n" + row(20, steer.MostShared+1):                "",
	} {
		_, err := plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), plan.Facts{CPUs: upTo(4)}, plan.Options{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", spec, err, want)
		}
	}
}

// TestTooManyReplicasOnPaths: so many functions with replicas can paths lead to from a port; another function, which is not led
// past, may divide them.
func TestTooManyReplicasOnPaths(t *testing.T) {
	const many = steer.MostShared + 1
	for divided, want := range map[bool]string{
		false: "classifier: from client packets may go on to 33 functions with replicas, and there can be 32; put one without onFailure: bypass between it and some of them",
		true:  "",
	} {
		functions, rules := "- {name: between, kind: forward}\n- {name: behind, kind: forward}\n", ""
		for i := range many {
			path := fmt.Sprintf("f%d", i)
			functions += fmt.Sprintf("- {name: %s, kind: forward, replicas: 2}\n", path)
			if divided && i < 2 {
				path = "between, " + path + ", behind"
			}
			rules += fmt.Sprintf("  - {name: r%d, match: {protocol: udp, destination_port: %d}, functions: [%s]}\n", i, 7000+i, path)
		}
		spec := "wiring: ebpf\nfunctions:\n" + functions + "classifier:\n  rules:\n  - {name: b, match: {protocol: tcp}, functions: [between, behind]}\n" + rules
		_, err := plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), plan.Facts{CPUs: upTo(4)}, plan.Options{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("divided %t: error %v, want %q", divided, err, want)
		}
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
