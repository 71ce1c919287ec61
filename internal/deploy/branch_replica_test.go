package deploy_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// dealtOut are the flows of each function with replicas, by how many each replica has.
func dealtOut(t *testing.T, p *plan.Plan) map[string]*steer.Flows {
	t.Helper()
	h, err := netns.Open(wiringOf(p))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var ways []steer.Spec
	for _, r := range p.Resources {
		if s, is := r.Spec.(steer.Spec); is {
			ways = append(ways, s)
		}
	}
	all, err := steer.FlowsOf(resource.At(h, p.Chain), ways)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// unused tells whether a replica of functions with so many has no flow.
func unused(flows map[string]*steer.Flows, replicas map[string]int) bool {
	for of, many := range replicas {
		for n := 1; n <= many; n++ {
			if f := flows[of]; f == nil || f.Known[n] == 0 {
				return true
			}
		}
	}
	return false
}

// TestBranchesAmongReplicas: ways lead to functions with replicas, and go out from them, and each connection is with one of
// each, there and back: firewalls on all ways let only answers pass to what they saw. It stays there when replicas
// and ways come.
func TestBranchesAmongReplicas(t *testing.T) {
	t.Parallel()
	needsBranches(t)
	for hook, wiring := range forwarders {
		t.Run(hook, func(t *testing.T) {
			owner := nstest.Owner(t)
			chain := func(tell, one, out int, more ...string) *plan.Plan {
				return planned(t, owner, wiring+spec(append(append([]string{},
					fmt.Sprintf("{name: tell, kind: forward, replicas: %d, next: out, branches: [{mark: 1, to: one}, {mark: 2, mask: 0xff, to: two}, {mark: 3, to: server}]}", tell),
					strictly("one", fmt.Sprintf("replicas: %d, next: out, ", one)), strictly("two", ""), "{name: three, kind: bridge, replicas: 2}", strictly("out", fmt.Sprintf("replicas: %d, ", out))), more...)...))
			}
			downAfter(t, owner)
			p := chain(2, 3, 2)
			up(t, p)
			unchanged(t, p)
			tell(t, p)
			crosses(t, p)
			classes := map[int][]*talk{}
			for _, to := range addresses(p, p.Client().Name, p.Server().Name) {
				at := netip.AddrPortFrom(to, 7011).String()
				for class, way := range eachClass {
					goes(t, p, at, class, way)
					for range 8 {
						near, far := dials(t, p, at, class)
						c := &talk{near, far}
						c.exchange(t)
						classes[class] = append(classes[class], c)
					}
				}
			}
			at := netip.AddrPortFrom(addresses(p, p.Client().Name, p.Server().Name)[0], 7011).String()
			dealt := map[string]int{"tell": 2, "one": 3, "three": 2, "out": 2}
			for range 200 { // which replica has a flow is by chance
				if !unused(dealtOut(t, p), dealt) {
					break
				}
				for class := range eachClass {
					near, far := dials(t, p, at, class)
					c := &talk{near, far}
					c.exchange(t)
					classes[class] = append(classes[class], c)
				}
			}
			flows := dealtOut(t, p)
			for of, replicas := range dealt {
				for n := 1; n <= replicas; n++ {
					if f := flows[of]; f == nil || f.Known[n] == 0 || f.Moved > 0 || f.Unkept > 0 {
						t.Errorf("%s: replica %d of %d has no flow, or flows moved: %+v", of, n, replicas, f)
					}
				}
			}
			p = chain(2, 4, 3, "{name: last, kind: forward}")
			up(t, p)
			unchanged(t, p)
			for class, all := range classes {
				for _, c := range all {
					c.exchange(t)
					c.turned().exchange(t)
				}
				goes(t, p, netip.AddrPortFrom(addresses(p, p.Client().Name, p.Server().Name)[0], 7011).String(), class, strings.ReplaceAll(eachClass[class], "out", "out last"))
			}
		})
	}
}

// TestBranchesAndReplicasChange while packets pass, a thousand a second, and each of them comes once, where none stays on its path.
func TestBranchesAndReplicasChange(t *testing.T) {
	t.Parallel()
	needsBranches(t)
	for hook, wiring := range moving {
		t.Run(hook, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			const branch = "{name: tell, kind: forward, replicas: 2, branches: [{mark: 9, to: %s}]}"
			first := planned(t, owner, wiring+spec(replicas("tell", 2), replicas("one", 2), forward("out")))
			up(t, first)
			tell(t, first)
			crosses(t, first)
			s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
			for _, c := range []struct {
				way       string // of which much must have gone since
				functions []string
			}{
				{"tell out", []string{fmt.Sprintf(branch, "out"), replicas("one", 2), forward("out")}},                                                           // past replicas
				{"tell two", []string{fmt.Sprintf(branch, "two"), "{name: one, kind: forward, replicas: 2, next: out}", replicas("two", 3), replicas("out", 2)}}, // to new ones
				{"tell two", []string{fmt.Sprintf(branch, "two"), "{name: one, kind: forward, next: out}", replicas("two", 2), replicas("out", 3)}},              // more, and fewer
				{"tell two", []string{fmt.Sprintf(branch, "two"), replicas("one", 2), forward("two")}},
				{"", []string{replicas("tell", 2), replicas("two", 2)}},
				{"tell server", []string{fmt.Sprintf(branch, "server"), replicas("two", 3)}},
			} {
				p := planned(t, owner, wiring+spec(c.functions...))
				s.more(t, 100)
				up(t, p)
				unchanged(t, p)
				before := went(t, p)
				s.more(t, 300)
				for way, moved := range wentMuch(t, p, before, c.way, 450) {
					if way == c.way && moved < 450 || strings.HasPrefix(way, "tell ") && way != c.way && moved > 20 {
						t.Errorf("%v: %d packets went %s", c.functions, moved, way)
					}
				}
				for of, f := range dealtOut(t, p) {
					if len(f.Leaving) > 0 {
						t.Errorf("%v: flows of %s are %+v", c.functions, of, f)
					}
				}
				crosses(t, p)
			}
			s.more(t, 100)
			s.ends(t)
		})
	}
}
