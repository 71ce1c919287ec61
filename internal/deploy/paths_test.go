package deploy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// classifier of a chain, with rules.
func classifier(otherwise string, rules ...string) string {
	return "classifier:\n  otherwise: " + otherwise + "\n  rules: [" + strings.Join(rules, ", ") + "]\n"
}

// pathRule of a name.
func pathRule(name, match string, functions ...string) string {
	return fmt.Sprintf("{name: %s, match: {%s}, functions: [%s]}", name, match, strings.Join(functions, ", "))
}

// tookIn is how many packets functions took in by now.
func tookIn(t *testing.T, p *plan.Plan) map[string]uint64 {
	t.Helper()
	all := map[string]uint64{}
	for _, n := range p.Functions() {
		h, err := netns.Open(n.Namespace)
		if err != nil {
			t.Fatal(err)
		}
		l, err := h.LinkByName(n.West.Device)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(n.Name, ".stop")] = l.Attrs().Statistics.RxPackets
		h.Close()
	}
	return all
}

// TestPathsAreEdited while packets pass, a thousand a second, and each of them comes once: they go by the functions
// of their path, and by no others, unless they stay on the one that they began on.
func TestPathsAreEdited(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	for hook, wiring := range map[string]string{"tcx": "wiring: ebpf\nebpf: {stay: false}\n", "clsact": "wiring: ebpf\nebpf: {hook: clsact, stay: false}\n", "staying": "wiring: ebpf\n"} {
		t.Run(hook, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			a, b, c := forward("a"), forward("b"), forward("c")
			first := planned(t, owner, wiring+spec(a, b, c)+classifier("direct", pathRule("datagrams", "protocol: udp", "a")))
			up(t, first)
			unchanged(t, first)
			crosses(t, first)
			s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
			for _, step := range []struct {
				spec string
				on   string
			}{
				{spec(a, b, c) + classifier("direct", pathRule("datagrams", "protocol: udp", "a")), "a"},
				{spec(a, b, c) + classifier("direct", pathRule("others", "protocol: udp", "b"), pathRule("datagrams", "protocol: udp", "a")), "a"}, // the path is still there
				{spec(a, b, c) + classifier("direct", pathRule("others", "protocol: udp", "a", "c")), "a c"},                                       // it is not any more
				{spec(a, forward("new"), b, c) + classifier("direct", pathRule("others", "protocol: udp, ingress: client", "a", "new", "c")), "a new c"},
				{spec(b, c) + classifier("chain", pathRule("others", "protocol: tcp")), "b c"},
				{spec(b, c), "b c"},
				{spec(b, c) + classifier("drop", pathRule("all", "", "c")), "c"},
				{spec(c) + classifier("direct"), ""},
				{spec(a), "a"},
			} {
				p := planned(t, owner, wiring+step.spec)
				up(t, p)
				unchanged(t, p)
				before := tookIn(t, p)
				s.more(t, 200)
				for name, packets := range tookIn(t, p) {
					if hook == "staying" {
						break // on the path that they began on
					}
					on := strings.Contains(" "+step.on+" ", " "+name+" ")
					if came := packets - before[name]; on && came < 100 || !on && came > 50 { // the kernel says something of its own
						t.Errorf("by the path %q %d packets came to %s, of about 400", step.on, came, name)
					}
				}
			}
			s.more(t, 100)
			s.ends(t)
		})
	}
}

// TestPathsInAnyOrder: each path goes by its functions in its own order, there and back, and functions change places
// on it while packets pass, of which each comes once.
func TestPathsInAnyOrder(t *testing.T) {
	needsForwarder(t)
	for hook, wiring := range forwarders {
		t.Run(hook, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			functions := wiring + spec(forward("a"), forward("b"), forward("c"))
			first := planned(t, owner, functions+classifier("direct", pathRule("datagrams", "protocol: udp", "a", "b", "c")))
			up(t, first)
			crosses(t, first)
			s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
			for _, step := range []struct {
				classifier string
				order      []string
			}{
				{classifier("direct", pathRule("datagrams", "protocol: udp", "c", "b", "a")), []string{"c", "b", "a"}},
				{classifier("direct", pathRule("pings", "protocol: icmp", "a", "b", "c"), pathRule("datagrams", "protocol: udp", "c", "a", "b")), []string{"c", "a", "b"}},
				{classifier("chain", pathRule("datagrams", "protocol: udp", "b", "a")), []string{"b", "a"}},
				{classifier("chain"), []string{"a", "b", "c"}},
			} {
				p := planned(t, owner, functions+step.classifier)
				up(t, p)
				unchanged(t, p)
				crosses(t, p)
				s.more(t, 100)
				way := []string{p.Client().Name}
				for at := p.Client().East; ; {
					next := goesTo(t, p, at.Device, way[len(way)-1], strings.Join(step.order, " "))
					way = append(way, next)
					if next == p.Server().Name || len(way) > 5 {
						break
					}
					for _, n := range p.Nodes {
						if n.Name == next {
							at = n.East
						}
					}
				}
				if got := strings.Join(way[1:len(way)-1], " "); got != strings.Join(step.order, " ") {
					t.Errorf("datagrams go by %s, want %v", got, step.order)
				}
			}
			s.ends(t)
		})
	}
}

// goesTo is the node to which a port in front of a node's interface sends packets of a path, by the plan, which up made.
func goesTo(t *testing.T, p *plan.Plan, device, node, path string) (to string) {
	t.Helper()
	behind := map[string]link.End{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is {
			behind[s.B.Device] = s.A
		}
	}
	for _, r := range p.Resources {
		s, is := r.Spec.(steer.Spec)
		if !is || behind[s.Device].Node != node || behind[s.Device].Device != device {
			continue
		}
		if s.Paths != nil {
			return behind[s.Paths.To(path)].Node
		}
		return behind[s.To].Node
	}
	t.Fatalf("no port is in front of %s of %s", device, node)
	return ""
}

// TestPathsReachFunctions: each function is reached at its own addresses, from both ends, whatever rules say.
func TestPathsReachFunctions(t *testing.T) {
	needsForwarder(t)
	p := planned(t, nstest.Owner(t), "wiring: ebpf\n"+spec(forward("a"), forward("b"))+classifier("direct", pathRule("datagrams", "protocol: udp", "b"), pathRule("both", "protocol: tcp", "a", "b")))
	downAfter(t, p.Chain)
	up(t, p)
	crosses(t, p)
	for _, end := range []plan.Node{p.Client(), p.Server()} {
		for _, n := range p.Functions() {
			for _, to := range addresses(p, end.Name, n.Name) {
				if out, err := ping(end.Namespace, to); err != nil {
					t.Errorf("%s does not reach %s at %s: %v\n%s", end.Name, n.Name, to, err, out)
				}
			}
		}
	}
}

// TestPathsOfATranslator: answers find back by the functions that the flow went by, whatever its headers are at the far
// end, and flows past the translator are not taken for its own.
func TestPathsOfATranslator(t *testing.T) {
	needsForwarder(t)
	for _, runtime := range []string{"netns", "inline"} {
		t.Run(runtime, func(t *testing.T) { pathsOfATranslator(t, runtime) })
	}
}

func pathsOfATranslator(t *testing.T, runtime string) {
	nat := "{name: nat, kind: nat, runtime: " + runtime + `, nat: {source: {addresses: [203.0.113.9, "2001:db8::9"]}}}`
	p := planned(t, nstest.Owner(t), "wiring: ebpf\n"+spec(forward("a"), nat, forward("b"))+
		classifier("direct", pathRule("four", "protocol: icmp, ingress: client", "a", "nat"), pathRule("six", "protocol: icmpv6, ingress: client", "nat")))
	downAfter(t, p.Chain)
	up(t, p)
	unchanged(t, p)
	crosses(t, p)
	before := tookIn(t, p)
	for range 3 {
		crosses(t, p)
	}
	for name, packets := range tookIn(t, p) {
		want := map[string]uint64{"a": 3, "nat": 6, "b": 0}[name]
		if came := packets - before[name]; came < want || came > want+50 { // the kernel says something of its own
			t.Errorf("%d packets came to %s, of %d", came, name, want)
		}
	}
	back := map[string]uint64{}
	for _, n := range p.Functions() {
		h, err := netns.Open(n.Namespace)
		if err != nil {
			t.Fatal(err)
		}
		l, err := h.LinkByName(n.East.Device)
		if err != nil {
			t.Fatal(err)
		}
		back[strings.TrimSuffix(n.Name, ".stop")] = l.Attrs().Statistics.RxPackets
		h.Close()
	}
	if back["a"] < 4 || back["nat"] < 8 {
		t.Errorf("answers do not come by the functions: %v", back)
	}
}

// TestPathsOverReplicas, which come and go with the rules while packets pass, a thousand a second, and each of them comes once:
// by one of the replicas of each function of their path.
func TestPathsOverReplicas(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	for hook, wiring := range map[string]string{"tcx": "wiring: ebpf\nebpf: {idle: 100ms, census: 100ms}\n", "clsact": "wiring: ebpf\nebpf: {hook: clsact, idle: 100ms, stay: false}\n"} {
		t.Run(hook, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			datagrams := func(otherwise string, functions ...string) string {
				return classifier(otherwise, pathRule("datagrams", "protocol: udp", functions...))
			}
			first := planned(t, owner, wiring+spec(replicas("a", 2), replicas("b", 2))+datagrams("direct", "a"))
			up(t, first)
			unchanged(t, first)
			crosses(t, first)
			s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
			for _, step := range []struct{ spec, on string }{
				{spec(replicas("a", 3), replicas("b", 2)) + datagrams("direct", "a"), "a"},
				{spec(replicas("a", 2), replicas("b", 2)) + datagrams("direct", "a", "b"), "a b"},
				{spec(replicas("a", 2), replicas("b", 2)), "a b"}, // no classifier
				{spec(replicas("a", 2), replicas("b", 1)) + datagrams("chain", "a"), "a"},
				{spec(replicas("a", 2), replicas("b", 2)) + datagrams("chain", "b", "a"), "b a"},
				{spec(forward("c"), replicas("a", 1), replicas("b", 2)) + datagrams("direct", "c", "b"), "c b"},
				{spec(forward("c"), replicas("b", 2)) + datagrams("direct", "c"), "c"},
				{spec(forward("c"), replicas("a", 2)) + datagrams("chain", "a", "c"), "a c"},
			} {
				p := planned(t, owner, wiring+step.spec)
				staying := upLeaving(t, p)
				s.more(t, 100)
				again := up(t, p)
				more := func(change string) bool { return !strings.HasPrefix(change, "delete ") }
				if len(again) > 0 && (staying == 0 || slices.ContainsFunc(again, more)) {
					t.Errorf("a second pass changed %d where %d flows stayed: %v", len(again), staying, again)
				}
				crosses(t, p)
				before := tookIn(t, p)
				s.more(t, 200)
				came := map[string]uint64{}
				for name, packets := range tookIn(t, p) {
					came[strings.SplitN(name, "-", 2)[0]] += packets - before[name]
				}
				if hook == "tcx" {
					continue // on the path that they began on
				}
				for _, f := range []string{"a", "b", "c"} {
					on := slices.Contains(strings.Fields(step.on), f)
					if came := came[f]; on && came < 100 || !on && came > 50 { // the kernel says something of its own
						t.Errorf("by the path %q %d packets came to %s, of about 400", step.on, came, f)
					}
				}
			}
			s.more(t, 100)
			s.ends(t)
		})
	}
}

// upLeaving is up, and tells how many flows stay on the path that they began on: what they go by is left there, and taken away by
// a later pass that finds them idle, as they may be on a busy machine where nobody sends for so long.
func upLeaving(t testing.TB, p *plan.Plan) int {
	t.Helper()
	d := &deploy.Deployer{}
	if _, err := d.Up(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return d.Staying
}

// TestReplicasOnPathsSeeBothWays: each of several firewalls on a path lets only answers pass to what it saw, and a connection
// stays with its own when another one comes, and when the chain has no classifier any more, or has one again.
func TestReplicasOnPathsSeeBothWays(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	const web = "{name: web, match: {protocol: tcp, destination_port: 7011, ingress: client}, functions: [fw]}"
	with := func(replicas int, classifier string) *plan.Plan {
		return planned(t, owner, "wiring: ebpf\n"+spec(fmt.Sprintf(strict, replicas), forward("other"))+classifier)
	}
	p := with(2, classifier("drop", web))
	up(t, p)
	var all []*talk
	for _, to := range addresses(p, p.Client().Name, p.Server().Name) {
		all = append(all, talks(t, p, to, 8)...)
	}
	for _, edited := range []*plan.Plan{with(3, classifier("drop", web)), with(3, ""), with(4, ""), with(4, classifier("chain", web)), with(5, classifier("drop", web, pathRule("datagrams", "protocol: udp", "other", "fw")))} {
		up(t, edited)
		for _, c := range all {
			c.turned().exchange(t)
		}
		h, err := netns.Open(edited.Between())
		if err != nil {
			t.Fatal(err)
		}
		var ways []steer.Spec
		for _, r := range edited.Resources {
			if s, is := r.Spec.(steer.Spec); is {
				ways = append(ways, s)
			}
		}
		flows, err := steer.FlowsOf(resource.At(h, owner), ways)
		h.Close()
		if err != nil || flows["fw"] == nil || flows["fw"].New < uint64(len(all)) || flows["fw"].New > uint64(len(all))*7/4 || flows["fw"].Moved > 0 { // the kernel says something of its own
			t.Errorf("%d connections are not all known: %+v, error %v", len(all), flows["fw"], err)
		}
	}
}
