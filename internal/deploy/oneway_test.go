package deploy_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
)

// cameTo is how many packets functions took in by now from the west, and from the east.
func cameTo(t *testing.T, p *plan.Plan) map[string][2]uint64 {
	t.Helper()
	all := map[string][2]uint64{}
	for _, n := range p.Functions() {
		h, err := netns.Open(n.Namespace)
		if err != nil {
			t.Fatal(err)
		}
		var came [2]uint64
		for i, device := range []string{n.West.Device, n.East.Device} {
			l, err := h.LinkByName(device)
			if err != nil {
				t.Fatal(err)
			}
			came[i] = l.Attrs().Statistics.RxPackets
		}
		all[n.Name] = came
		h.Close()
	}
	return all
}

// bothWays sends numbered packets, a thousand a second, from each end to the other.
func bothWays(t *testing.T, p *plan.Plan) (there, back *streaming) {
	t.Helper()
	to := addresses(p, p.Server().Name, p.Client().Name)
	return streams(t, p, addresses(p, p.Client().Name, p.Server().Name)), streamsFrom(t, p.Server(), p.Client(), to, to)
}

const bump, quickly = "{name: bump, kind: bridge}", "{name: quick, kind: passthrough}"

// TestOneWay: what goes there visits every function, and what goes back visits none, whatever they are.
func TestOneWay(t *testing.T) {
	needsForwarder(t)
	nstest.Require(t, feature.Bridge, feature.BPFIngress)
	for hook, wiring := range forwarders {
		t.Run(hook, func(t *testing.T) {
			p := planned(t, nstest.Owner(t), wiring+"symmetric: false\n"+spec(forward("a"), bump, inline("count"), quickly, "{name: wall, kind: firewall, firewall: {rules: {generate: 10}}}"))
			downAfter(t, p.Chain)
			up(t, p)
			unchanged(t, p)
			crosses(t, p)
			const n = 200
			there, back := bothWays(t, p)
			there.more(t, 2*n) // of which a machine that another test floods may drop some
			back.more(t, 2*n)
			there.ends(t)
			back.ends(t)
			for name, came := range cameTo(t, p) {
				if came[0] < 2*n || came[1] > 0 {
					t.Errorf("to %s came %d packets from the west and %d from the east", name, came[0], came[1])
				}
			}
			if f := p.Inline[0]; f.Reverse != nil || taken(t, p, f.Forward).Packets < 2*n {
				t.Errorf("%s counted %+v there, and back it has %+v", f.Name, taken(t, p, f.Forward), f.Reverse)
			}
		})
	}
}

// TestOneWayIsTurned on and off, for all functions and for one, while packets go both ways, and each of them comes
// once: those that go back visit who says so, and nobody else.
func TestOneWayIsTurned(t *testing.T) {
	needsForwarder(t)
	for hook, wiring := range map[string]string{"tcx": "wiring: ebpf\nebpf: {stay: false}\n", "clsact": "wiring: ebpf\nebpf: {hook: clsact, stay: false}\n"} {
		t.Run(hook, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			const one, both = "symmetric: false\n", "symmetric: true\n"
			only := func(name, symmetric string) string {
				return "{name: " + name + ", kind: forward, symmetric: " + symmetric + "}"
			}
			p := planned(t, owner, wiring+spec(forward("a"), forward("b"), forward("c")))
			up(t, p)
			crosses(t, p)
			there, back := bothWays(t, p)
			for _, step := range []struct {
				spec string
				back []string
			}{
				{one + spec(forward("a"), forward("b"), forward("c")), nil},
				{both + spec(forward("a"), forward("b"), forward("c")), []string{"a", "b", "c"}},
				{one + spec(forward("a"), only("b", "true"), forward("c")), []string{"b"}},
				{spec(forward("a"), only("b", "false"), forward("c")), []string{"a", "c"}},
				{spec(only("a", "false"), inline("x"), only("b", "false"), forward("c"), inline("y")), []string{"c"}},
				{one + spec(forward("c"), forward("new"), only("a", "true")), []string{"a"}},
				{spec(forward("c"), forward("a")), []string{"c", "a"}},
			} {
				p = planned(t, owner, wiring+step.spec)
				up(t, p)
				unchanged(t, p)
				before := cameTo(t, p)
				for again := time.Now().Add(time.Minute); ; { // what a busy machine has on its way comes in time
					there.more(t, 100)
					back.more(t, 100)
					late, wrong := false, ""
					for name, came := range cameTo(t, p) {
						visited := slices.Contains(step.back, name)
						west, east := came[0]-before[name][0], came[1]-before[name][1]
						late = late || west < 50 || visited && east < 50
						if west < 50 || visited && east < 50 || !visited && east > 0 {
							wrong += fmt.Sprintf("\nto %s came %d packets from the west and %d from the east", name, west, east)
						}
					}
					if late && time.Now().Before(again) {
						continue
					}
					if wrong != "" {
						t.Errorf("%s:%s", step.spec, wrong)
					}
					break
				}
				for _, f := range p.Inline {
					if taken(t, p, f.Forward).Packets < 100 || taken(t, p, f.Reverse).Packets < 100 {
						t.Errorf("%s counted %+v there and %+v back", f.Name, taken(t, p, f.Forward), taken(t, p, f.Reverse))
					}
				}
			}
			there.ends(t)
			back.ends(t)
		})
	}
}

// TestFlowsStayOneWay: flows that are known go on as they began when a chain becomes one-way, in both directions,
// and new ones do not go back by its functions.
func TestFlowsStayOneWay(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	first := planned(t, owner, quick+spec(forward("a"), forward("b")))
	up(t, first)
	crosses(t, first)
	there, back := bothWays(t, first)
	there.more(t, 100)
	back.more(t, 100)
	p := planned(t, owner, quick+"symmetric: false\n"+spec(forward("a"), forward("b")))
	up(t, p)
	unchanged(t, p)
	if at := stay(t, p); at == nil || at.Flows < 2 {
		t.Errorf("of two flows back there stay %+v", at)
	}
	before := cameTo(t, p)
	back.more(t, 100)
	for name, came := range cameTo(t, p) {
		if came[1]-before[name][1] < 100 {
			t.Errorf("flows from before do not go back by %s any more: %d came", name, came[1]-before[name][1])
		}
	}
	there.ends(t)
	back.ends(t)
	for i := range there.late {
		if there.late[i] > 10 || back.late[i] > 10 { // a core's own may come after another's
			t.Errorf("%d packets there and %d back came after later ones", there.late[i], back.late[i])
		}
	}
	drains(t, p)
	before = cameTo(t, p)
	there, back = bothWays(t, p)
	there.more(t, 100)
	back.more(t, 100)
	for name, came := range cameTo(t, p) {
		if came[0]-before[name][0] < 100 || came[1] != before[name][1] {
			t.Errorf("to %s came %d packets of new flows from the west and %d from the east", name, came[0]-before[name][0], came[1]-before[name][1])
		}
	}
	there.ends(t)
	back.ends(t)
}

// TestOneWayPath of a classifier: what is on it goes straight back, and what is on another path by all its functions.
func TestOneWayPath(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	rule := func(name, match, symmetric string) string {
		return "{name: " + name + ", match: {" + match + "}, functions: [a, b], symmetric: " + symmetric + "}"
	}
	const functions = "wiring: ebpf\nfunctions: [{name: a, kind: forward}, {name: b, kind: forward}]\n"
	p := planned(t, owner, functions+classifier("direct", rule("out", "protocol: udp, ingress: client", "false"), rule("in", "protocol: udp, ingress: server", "true")))
	up(t, p)
	unchanged(t, p)
	crosses(t, p)
	come := func(there, back bool) {
		t.Helper()
		before := cameTo(t, p)
		s, other := bothWays(t, p)
		s.more(t, 200)
		other.more(t, 200)
		s.ends(t)
		other.ends(t)
		for name, came := range cameTo(t, p) {
			if west, east := came[0]-before[name][0], came[1]-before[name][1]; there != (west >= 200) || back != (east >= 200) {
				t.Errorf("to %s came %d packets from the west and %d from the east", name, west, east)
			}
		}
	}
	come(true, true)
	if len(p.Classifier.Paths) != 3 {
		t.Errorf("paths %+v", p.Classifier.Paths)
	}
	p = planned(t, owner, functions+classifier("direct", rule("all", "protocol: udp", "false")))
	up(t, p)
	unchanged(t, p)
	crosses(t, p)
	come(true, false)
	for name, came := range cameTo(t, p) {
		if came[1] > 250*2*2 {
			t.Errorf("%d packets came back by %s", came[1], name)
		}
	}
}
