package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/address"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/opens"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

func replicated(t *testing.T, spec string) *plan.Plan {
	t.Helper()
	p, err := plan.Make(plantest.Chain(t, "edge", "wiring: ebpf\n"+spec), plantest.Catalogue(), plan.Facts{CPUs: upTo(4)}, plan.Options{Direct: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ways from each node's interface, as "node device": where packets go, in the same words.
func ways(p *plan.Plan) map[string][]string {
	behind := map[string]string{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is {
			behind[s.B.Device] = s.A.Node + " " + s.A.Device
		}
	}
	all := map[string][]string{}
	for _, r := range p.Resources {
		s, is := r.Spec.(steer.Spec)
		switch {
		case !is:
		default:
			if s.To != "" {
				all[behind[s.Device]] = []string{behind[s.To]}
			}
			if s.Among == nil {
				continue
			}
			for _, to := range s.Among.Replicas {
				all[behind[s.Device]] = append(all[behind[s.Device]], fmt.Sprintf("%s of %s %d", behind[to.Port], s.Among.Of, to.Number))
			}
		}
	}
	return all
}

// TestReplicas of two neighbours: each replica of the one leads to all of the other, and back.
func TestReplicas(t *testing.T) {
	p := replicated(t, "functions: [{name: a, kind: forward, replicas: 2}, {name: b, kind: bridge, replicas: 3}]\n")
	a := []string{"a-1 eth1 of a 1", "a-2 eth1 of a 2"}
	b := []string{"b-1 eth0 of b 1", "b-2 eth0 of b 2", "b-3 eth0 of b 3"}
	east := []string{"b-1 eth1 of b 1", "b-2 eth1 of b 2", "b-3 eth1 of b 3"}
	want := map[string][]string{
		"client eth0": {"a-1 eth0 of a 1", "a-2 eth0 of a 2"}, "a-1 eth0": {"client eth0"}, "a-2 eth0": {"client eth0"},
		"a-1 eth1": b, "a-2 eth1": b, "b-1 eth0": a, "b-2 eth0": a, "b-3 eth0": a,
		"b-1 eth1": {"server eth0"}, "b-2 eth1": {"server eth0"}, "b-3 eth1": {"server eth0"}, "server eth0": east,
		"client ethd0": {"server ethd1"}, "server ethd1": {"client ethd0"},
	}
	got := ways(p)
	for from, to := range want {
		if !slices.Equal(got[from], to) {
			t.Errorf("%s leads to %v, want %v", from, got[from], to)
		}
	}
	if len(got) != len(want) {
		t.Errorf("ways %v", got)
	}
	var names []string
	for _, n := range p.Nodes {
		names = append(names, n.Name)
	}
	if text := strings.Join(names, " "); text != "client a-1 a-2 b-1 b-2 b-3 server" || p.Length() != 4 {
		t.Errorf("nodes %s, length %d", text, p.Length())
	}
	if text := p.Text(); !strings.Contains(text, "path: client → a (forward, 2 replicas) → b (bridge, 3 replicas) → server\n") {
		t.Error(text)
	}
}

// TestReplicasLedTo past functions that packets may be led past: all ports from which they may come share
// them out.
func TestReplicasLedTo(t *testing.T) {
	p := replicated(t, "functions: [{name: a, kind: forward, onFailure: bypass}, {name: b, kind: forward, onFailure: bypass}, {name: c, kind: forward, replicas: 2, onFailure: bypass}, {name: d, kind: forward, onFailure: block}]\n")
	west, east := []string{"c-1 eth0 of c 1", "c-2 eth0 of c 2"}, []string{"c-1 eth1 of c 1", "c-2 eth1 of c 2"}
	want := map[string][]string{
		"client eth0": append([]string{"a eth0"}, west...), "a eth0": {"client eth0"}, "a eth1": append([]string{"b eth0"}, west...), "b eth0": {"a eth1"},
		"b eth1": west, "c-1 eth0": {"b eth1"}, "c-2 eth0": {"b eth1"}, "c-1 eth1": {"d eth0"}, "c-2 eth1": {"d eth0"}, "d eth0": east, "d eth1": {"server eth0"}, "server eth0": {"d eth1"},
		"client ethd0": {"server ethd1"}, "server ethd1": {"client ethd0"},
	}
	got := ways(p)
	for from, to := range want {
		if !slices.Equal(got[from], to) {
			t.Errorf("%s leads to %v, want %v", from, got[from], to)
		}
	}
	for _, r := range p.Resources {
		if s, is := r.Spec.(health.Spec); is {
			var nodes []string
			for _, n := range s.Nodes {
				nodes = append(nodes, strings.TrimSpace(fmt.Sprintf("%s %s %s", n.Node, n.Of, n.OnFailure)))
				if n.OnFailure != "" && (n.Eastward == nil || n.Westward == nil || n.West == "" || n.East == "") {
					t.Errorf("%s cannot be watched: %+v", n.Node, n)
				}
			}
			if text := strings.Join(nodes, ", "); text != "client, a  bypass, b  bypass, c-1 c bypass, c-2 c bypass, d  block, server" {
				t.Error(text)
			}
			return
		}
	}
	t.Error("nobody watches")
}

// TestReplicasAreAlike in all that is in their namespaces, and are met by one name.
func TestReplicasAreAlike(t *testing.T) {
	p := replicated(t, "functions: [{name: a, kind: firewall, replicas: 3, firewall: {rules: {generate: 5}}}, {name: b, kind: command, replicas: 2, command: {args: [sleep, inf]}}]\n"+
		"everywhere: [{kind: shaper, except: [b], shaper: {rate: 1Gbit}}]\n")
	has := map[string][]string{}
	for _, r := range p.Resources {
		if _, is := r.Spec.(link.Spec); !is {
			has[r.Namespace] = append(has[r.Namespace], r.Kind+" "+r.Spec.Key()+" "+r.Spec.Fingerprint())
		}
	}
	at := func(node string) []string {
		list := has["nfchain.edge."+node]
		slices.Sort(list)
		return list
	}
	for _, pair := range [][2]string{{"a-1", "a-2"}, {"a-1", "a-3"}, {"b-1", "b-2"}} {
		if len(at(pair[0])) == 0 || !slices.Equal(at(pair[0]), at(pair[1])) {
			t.Errorf("%s has\n%s\nand %s\n%s", pair[0], strings.Join(at(pair[0]), "\n"), pair[1], strings.Join(at(pair[1]), "\n"))
		}
	}
	if strings.Contains(strings.Join(at("b-2"), " "), "qdisc") || !strings.Contains(strings.Join(at("a-2"), " "), "qdisc") {
		t.Errorf("everywhere but at b: %v", at("b-2"))
	}
	var programs []string
	for _, r := range p.Resources {
		if s, is := r.Spec.(process.Spec); is {
			programs = append(programs, s.Key()+" in "+s.Netns)
		}
	}
	if !slices.Equal(programs, []string{"b-1 in nfchain.edge.b-1", "b-2 in nfchain.edge.b-2"}) || len(known(p)["b-1"]) == 0 || !slices.Equal(known(p)["b-1"], known(p)["b-2"]) {
		t.Errorf("programs %v, which know %v", programs, known(p))
	}
	for _, from := range []string{"client", "a-2", "server"} {
		seen := map[string]int{}
		for _, h := range p.Hosts(from) {
			seen[h.Name]++
		}
		if seen["a"] != 2 || seen["b"] != 2 || len(seen) != 4 {
			t.Errorf("%s knows %v", from, seen)
		}
	}
}

// TestReplicaMoreLeavesOthers all that they have: only ports that face the function change.
func TestReplicaMoreLeavesOthers(t *testing.T) {
	const spec = "functions: [{name: a, kind: forward, replicas: %d}, {name: b, kind: forward}]\n"
	few, more := replicated(t, fmt.Sprintf(spec, 2)), replicated(t, fmt.Sprintf(spec, 3))
	after := map[string]string{}
	for _, r := range more.Resources {
		after[r.ID] = r.Spec.Fingerprint()
	}
	changed := 0
	for _, r := range few.Resources {
		switch s, is := r.Spec.(steer.Spec); {
		case is && s.Among != nil && after[r.ID] != "" && after[r.ID] != r.Spec.Fingerprint():
			changed++
		case after[r.ID] != r.Spec.Fingerprint():
			t.Errorf("%s was %q and is %q", r.ID, r.Spec.Fingerprint(), after[r.ID])
		}
	}
	if changed != 2 {
		t.Errorf("%d ports are told of another replica, want 2", changed)
	}
}

// TestReplicasKeepAddresses that the function had, and those that the first has.
func TestReplicasKeepAddresses(t *testing.T) {
	of := func(p *plan.Plan, node string) (list []string) {
		for _, r := range p.Resources {
			if s, is := r.Spec.(address.Spec); is && r.Namespace == "nfchain.edge."+node {
				list = append(list, s.Address.String())
			}
		}
		return list
	}
	one := of(replicated(t, "functions: [{name: a, kind: forward}]\n"), "a")
	two := replicated(t, "functions: [{name: a, kind: forward, replicas: 2}]\n")
	if len(one) == 0 || !slices.Equal(one, of(two, "a-1")) || !slices.Equal(one, of(two, "a-2")) {
		t.Errorf("one has %v, two have %v and %v", one, of(two, "a-1"), of(two, "a-2"))
	}
}

// TestReplicasInOrder of making: whoever makes one resource after the other has all that each
// needs, as a plan's script does.
func TestReplicasInOrder(t *testing.T) {
	const functions = "functions: [{name: a, kind: forward, replicas: 2}, {name: b, kind: command, replicas: 2, command: {args: [sleep]}}]\n"
	for _, spec := range []string{functions, functions + "classifier: {otherwise: chain, rules: [{name: r, match: {protocol: tcp}, functions: [b]}]}\n"} {
		inOrder(t, replicated(t, spec))
	}
}

func inOrder(t *testing.T, p *plan.Plan) {
	t.Helper()
	made := map[string]bool{}
	for _, r := range p.Resources {
		if made[r.ID] {
			t.Errorf("%s is in the plan twice", r.ID)
		}
		made[r.ID] = true
		for _, need := range r.Needs {
			if (r.Kind == steer.KindName || r.Kind == opens.KindName) && !made[need] {
				t.Errorf("%s comes before %s", r.ID, need)
			}
		}
	}
	for _, n := range p.Nodes {
		if !slices.Contains(p.Namespaces(), n.Namespace) || !made[resource.ID(namespace.KindName, "", n.Namespace)] {
			t.Errorf("namespace %s is not made", n.Namespace)
		}
	}
}

// TestNoReplicas of what cannot be several, and why.
func TestNoReplicas(t *testing.T) {
	for spec, why := range map[string]string{
		"functions: [{name: a, kind: nat, replicas: 2, nat: {source: {masquerade: true}}}]\n":    "a nat gives connections addresses",
		"placement: {softirqs: exclusive}\nfunctions: [{name: a, kind: forward, replicas: 2}]\n": "a CPU to itself",
	} {
		_, err := plan.Make(plantest.Chain(t, "edge", "wiring: ebpf\n"+spec), plantest.Catalogue(), plan.Facts{CPUs: upTo(16)}, plan.Options{})
		if err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "function a: replicas: ") {
			t.Errorf("%s: %v", spec, err)
		}
	}
}
