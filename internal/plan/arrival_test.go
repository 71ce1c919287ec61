package plan_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
)

// TestArrivalsBehindPassthroughs: the kernel tells of what comes to the node behind them where it
// came in before them, and of nothing at them.
func TestArrivalsBehindPassthroughs(t *testing.T) {
	const functions = "functions: [{name: a, kind: forward}, {name: p, kind: passthrough}, {name: q, kind: passthrough}, {name: b, kind: forward}]\n"
	for wiring, want := range map[string]map[string]string{
		"veth": {"b eth0": "p eth0", "a eth1": "q eth1"},
		// A port is called after the interface that it is in front of.
		"ebpf": {"b eth0": "a eth1 port", "a eth1": "b eth0 port", "a eth0": "client eth0 port", "client eth0": "a eth0 port", "server eth0": "b eth1 port", "b eth1": "server eth0 port"},
	} {
		p := made(t, "wiring: "+wiring+"\n"+functions, plan.Facts{}, plan.Options{})
		called := calledInterfaces(p)
		got := p.Arrivals()
		for to, at := range got {
			if len(at) != 1 || called[at[0]] != want[called[to]] {
				t.Errorf("%s: to %q at %v, want %q", wiring, called[to], at, want[called[to]])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %v", wiring, got)
		}
	}
}

// TestArrivalsWhereWaysPart: where packets come by one of several ports to what hands them on, packet sockets tell of them there and at the node behind it; and the kernel does of
// others at the port before.
func TestArrivalsWhereWaysPart(t *testing.T) {
	p := made(t, "wiring: ebpf\nfunctions: [{name: a, kind: passthrough}, {name: tell, kind: forward, branches: [{mark: 1, to: c}]}, {name: b, kind: passthrough, next: out}, "+
		"{name: c, kind: passthrough}, {name: out, kind: passthrough}]\n", plan.Facts{}, plan.Options{})
	called := calledInterfaces(p)
	arrives := map[string]string{}
	for to, at := range p.Arrivals() {
		for _, port := range at {
			arrives[called[to]] += called[port]
		}
	}
	want := map[string]string{"tell eth0": "client eth0 port", "client eth0": "tell eth0 port", "out eth1": "server eth0 port"}
	delete(arrives, "tell eth1") // there are two
	if !maps.Equal(arrives, want) {
		t.Errorf("%v, want %v", arrives, want)
	}
	var handed []string
	for at, is := range p.Handed() {
		if is {
			handed = append(handed, called[at])
		}
	}
	slices.Sort(handed)
	if want := "b eth0, b eth1, c eth0, c eth1, out eth0, server eth0, tell eth1"; strings.Join(handed, ", ") != want {
		t.Errorf("%v, want %s", handed, want)
	}
}

// calledInterfaces of nodes, and ports by the interfaces that they are in front of.
func calledInterfaces(p *plan.Plan) map[resource.Interface]string {
	called := map[resource.Interface]string{}
	for _, n := range p.Nodes {
		for _, i := range []*plan.Interface{n.West, n.East} {
			if i != nil {
				called[resource.Interface{Namespace: n.Namespace, Device: i.Device}] = n.Name + " " + i.Device
			}
		}
	}
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is && p.Between() != "" {
			called[resource.Interface{Namespace: s.B.Namespace, Device: s.B.Device}] = s.A.Node + " " + s.A.Device + " port"
		}
	}
	return called
}
