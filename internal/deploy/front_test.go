package deploy_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
)

// TestPathsBesideBranches change while packets pass, a thousand a second, and each of them comes once: rules come to a chain whose
// functions send packets on by marks, are edited and go again, and so do branches beside rules.
func TestPathsBesideBranches(t *testing.T) {
	t.Parallel()
	needsBranches(t)
	for hook, wiring := range forwarders {
		t.Run(hook, func(t *testing.T) {
			t.Parallel()
			owner := nstest.Owner(t)
			downAfter(t, owner)
			const tells = "{name: tell, kind: forward, next: out, branches: [{mark: 9, to: two}]}"
			functions := func(all ...string) string { return wiring + spec(all...) }
			parting := functions(tells, forward("one"), "{name: two, kind: bridge}", forward("out"))
			parting = strings.Replace(parting, "name: tell, kind: forward, next: out", "name: tell, kind: forward, next: one", 1)
			all := []string{"tell", "one", "two", "out"}
			first := planned(t, owner, parting)
			up(t, first)
			tell(t, first)
			crosses(t, first)
			s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
			for _, c := range []struct{ what, file string }{
				{"straight, but where a rule leads by branches", parting + classifier("direct", pathRule("none", "destination_port: 1, protocol: udp", all...))},
				{"by branches", parting + classifier("direct", pathRule("all", "protocol: udp", all...))},
				{"by branches, or by one", parting + classifier("chain", pathRule("some", "protocol: udp", "out"))},
				{"by some in another order", parting + classifier("chain", pathRule("some", "protocol: udp", "out", "one"), pathRule("straight", "protocol: tcp"))},
				{"by other branches", strings.Replace(parting, "mark: 9, to: two", "mark: 9, to: out", 1) + classifier("chain", pathRule("straight", "protocol: tcp"))},
				{"without branches", functions(forward("tell"), forward("one"), "{name: two, kind: bridge}", forward("out")) + classifier("chain", pathRule("some", "protocol: udp", "one"))},
				{"with branches again", parting + classifier("chain", pathRule("some", "protocol: udp", "one"))},
				{"without rules", parting},
			} {
				p := planned(t, owner, c.file)
				s.more(t, 100)
				up(t, p)
				unchanged(t, p)
				s.more(t, 100)
				crosses(t, p)
			}
			s.ends(t)
		})
	}
}

// TestBranchesComeWithFunctions, and go with some, at a chain with a classifier while packets pass, a thousand a second: each of them
// comes once, whether it is on a path of some functions or on that of all.
func TestBranchesComeWithFunctions(t *testing.T) {
	t.Parallel()
	needsBranches(t)
	for hook, wiring := range forwarders {
		t.Run(hook, func(t *testing.T) {
			t.Parallel()
			owner := nstest.Owner(t)
			downAfter(t, owner)
			tells := func(next string, marked string) string {
				return fmt.Sprintf("{name: tell, kind: forward, next: %s, branches: [{mark: 9, to: %s}]}", next, marked)
			}
			some := func(by ...string) string {
				return classifier("chain", pathRule("some", `protocol: udp, destination: "::/0"`, by...))
			}
			one, two, three, out := forward("one"), forward("two"), "{name: three, kind: bridge}", forward("out")
			first := planned(t, owner, wiring+spec(forward("tell"), out)+some("out"))
			up(t, first)
			tell(t, first)
			crosses(t, first)
			s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
			for _, c := range []struct{ what, file string }{
				{"branches come with functions", spec(tells("one", "two"), one, two, out) + some("out", "one")},
				{"others come", spec(tells("one", "two"), one, two, three, out) + some("out", "three")},
				{"branches go with functions", spec(forward("tell"), two, out) + some("two")},
				{"branches come again, to replicas", spec(tells("one", "three"), one, "{name: two, kind: forward, replicas: 2}", three, out) + some("out", "one")},
				{"and go, but for replicas", spec(forward("tell"), "{name: two, kind: forward, replicas: 2}", out) + some("out", "two")},
				{"branches come where there were replicas", spec(tells("one", "three"), one, three, out) + some("three")},
				{"rules and branches go with functions", spec(forward("tell"), one, out)},
				{"rules come", spec(forward("tell"), one, out) + some("out", "one")},
				{"rules go, and branches come with functions", spec(tells("one", "two"), one, two, out)},
			} {
				p := planned(t, owner, wiring+c.file)
				s.more(t, 100)
				up(t, p)
				unchanged(t, p)
				s.more(t, 100)
				crosses(t, p)
				if t.Failed() {
					t.Log(c.what)
				}
			}
			s.ends(t)
		})
	}
}

// TestPathsAndBranchesLead flows where they say, both ways: firewalls on each way let only answers pass to what they saw.
func TestPathsAndBranchesLead(t *testing.T) {
	needsBranches(t)
	for hook, wiring := range forwarders {
		t.Run(hook, func(t *testing.T) {
			p := planned(t, nstest.Owner(t), wiring+spec(
				"{name: tell, kind: forward, next: out, branches: [{mark: 1, to: one}, {mark: 2, mask: 0xff, to: two}, {mark: 3, to: server}]}",
				strictly("one", "next: out, "), strictly("two", ""), "{name: three, kind: bridge}", strictly("out", ""))+
				classifier("chain", pathRule("straight", "dscp: 10"), pathRule("past", "dscp: 12", "two")))
			downAfter(t, p.Chain)
			up(t, p)
			unchanged(t, p)
			tell(t, p)
			crosses(t, p)
			for _, to := range addresses(p, p.Client().Name, p.Server().Name) {
				at := netip.AddrPortFrom(to, 7011).String()
				for class, way := range eachClass {
					goes(t, p, at, class, way)
				}
				for class, by := range map[int]string{10 << 2: "", 12 << 2: "two"} {
					took := visits(t, p, at, class)
					if want := map[bool]string{true: "two"}[by != ""]; took != want {
						t.Errorf("%s, class %#x goes by %q, want %q", at, class, took, want)
					}
				}
			}
		})
	}
}

// visits are the functions that much of a connection of a class comes to.
func visits(t *testing.T, p *plan.Plan, at string, class int) string {
	t.Helper()
	before := tookIn(t, p)
	near, far := dials(t, p, at, class)
	const some = 20
	for range some {
		if _, err := fmt.Fprint(near, "x"); err != nil {
			t.Fatal(err)
		}
		var got [1]byte
		if _, err := far.Read(got[:]); err != nil {
			t.Fatal(err)
		}
	}
	var visited []string
	after := tookIn(t, p)
	for _, n := range p.Functions() {
		if after[n.Name] >= before[n.Name]+some {
			visited = append(visited, n.Name)
		}
	}
	return strings.Join(visited, " ")
}
