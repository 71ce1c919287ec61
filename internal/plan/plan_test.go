package plan_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/address"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/route"
)

func TestPlansAreSound(t *testing.T) {
	shared := plantest.Function(t, "filter", "kind: firewall\n")
	facts := plan.Facts{Functions: map[string]api.FunctionBody{"filter": shared.Spec}}
	specs := []string{smallest, classes, directions, "functions: []\n", "functions:\n- {name: fw, ref: filter}\n",
		"endpoints: [{name: l, namespace: left}, {name: r, namespace: right}]\n", "endpoints: [{name: l, namespace: left}, {name: r}]\n",
		"wiring: bridge\n" + smallest[len("wiring: veth\n"):], "wiring: bridge\nbridge: {per: chain}\n" + plantest.Forwards(40), oneArm + plantest.Forwards(40), oneArm + plantest.Forwards(1000)}
	for _, n := range []int{1, 7, 8, 29, 30, 31, 62, 63, 64, 65, 100, 1000} {
		specs = append(specs, plantest.Forwards(n), "addresses: {ipv6: none}\n"+plantest.Forwards(n), "addresses: {ipv4: none}\n"+plantest.Forwards(n))
	}
	for _, s := range specs {
		sound(t, made(t, s, facts, plan.Options{}))
		sound(t, made(t, s, facts, plan.Options{Direct: true}))
	}
}

// TestRoutesGrowLinearly: two halves a family in every inner node, one at each end.
func TestRoutesGrowLinearly(t *testing.T) {
	for _, n := range []int{0, 1, 10, 100, 1000} {
		routes := map[string]int{}
		p := made(t, plantest.Forwards(n)+"\n", plan.Facts{}, plan.Options{})
		for _, r := range p.Resources {
			if r.Kind == route.KindName {
				routes[r.Namespace]++
			}
		}
		for i, node := range p.Nodes {
			want := 4
			if i == 0 || i == len(p.Nodes)-1 {
				want = 2
			}
			if routes[node.Namespace] != want {
				t.Errorf("with %d functions %s has %d routes, want %d", n, node.Name, routes[node.Namespace], want)
			}
		}
	}
}

// TestEditsKeepAddresses inserts and removes functions at random; the others keep
// what they have.
func TestEditsKeepAddresses(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"a"}
	facts := plan.Facts{}
	var before map[string][]netip.Addr
	for i := range 120 {
		if random.IntN(3) > 0 || len(names) < 2 {
			at := random.IntN(len(names) + 1)
			names = append(names[:at], append([]string{fmt.Sprintf("n%d", i)}, names[at:]...)...)
		} else {
			at := random.IntN(len(names))
			names = append(names[:at], names[at+1:]...)
		}
		var b strings.Builder
		b.WriteString("functions:\n")
		for _, n := range names {
			fmt.Fprintf(&b, "- {name: %s, kind: forward}\n", n)
		}
		p := made(t, b.String(), facts, plan.Options{})
		sound(t, p)
		now := addressesOf(p)
		grown := len(facts.Blocks) > 0 && !reflect.DeepEqual(facts.Blocks["edge"], p.Blocks)
		for node, had := range before {
			if has, still := now[node]; still && !grown && !reflect.DeepEqual(has, had) {
				t.Fatalf("edit %d: %s had %v and has %v", i, node, had, has)
			}
		}
		if grown && len(p.Nodes) < 29 {
			t.Fatalf("edit %d: a block of %v for %d nodes became %v", i, facts.Blocks["edge"], len(p.Nodes), p.Blocks)
		}
		before = now
		facts = plan.Facts{Blocks: map[string][]netip.Prefix{"edge": p.Blocks}, Addresses: now}
		if again := made(t, b.String(), facts, plan.Options{}); !reflect.DeepEqual(again.Resources, p.Resources) {
			t.Fatalf("edit %d: the same chain is planned differently once it is up", i)
		}
	}
}

// TestNewcomersTakeNothingOfWhoLeaves: while somebody leaves none gets an address of his, a function without a namespace neither, as long as there are
// others; later, everybody keeps what he has then.
func TestNewcomersTakeNothingOfWhoLeaves(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	facts, before := plan.Facts{Blocks: map[string][]netip.Prefix{}}, map[string][]netip.Addr{}
	short := func(name string) string { return name[strings.LastIndex(name, ".")+1:] }
	for i := range 200 {
		var b strings.Builder
		b.WriteString("wiring: ebpf\nfunctions:\n")
		for n := range 12 {
			switch random.IntN(4) {
			case 0:
				fmt.Fprintf(&b, "- {name: n%d, kind: nat, runtime: inline, nat: {source: {}}}\n", random.IntN(3)+3*n)
			case 1:
				fmt.Fprintf(&b, "- {name: n%d, kind: forward}\n", random.IntN(3)+3*n)
			}
		}
		b.WriteString("- {name: last, kind: forward}\n")
		facts.Addresses, facts.Translated = map[string][]netip.Addr{}, map[uint32][]netip.Addr{}
		for name, all := range before {
			if strings.Contains(name, ".") {
				facts.Addresses[name] = all
			} else {
				facts.Translated[pass.WhoseNAT(name)] = all
			}
		}
		p := made(t, b.String(), facts, plan.Options{})
		now := addressesOf(p)
		for _, f := range p.Inline {
			now[f.Name] = f.Addresses
		}
		for who, has := range now {
			for whom, had := range before {
				shares := slices.ContainsFunc(has, func(a netip.Addr) bool { return slices.Contains(had, a) })
				if is := short(who) == short(whom); shares && !is || is && !shares {
					t.Fatalf("edit %d: %s has %v, and %s had %v", i, who, has, whom, had)
				}
			}
		}
		before, facts.Blocks = now, map[string][]netip.Prefix{"edge": p.Blocks}
		facts.Addresses, facts.Translated = addressesOf(p), map[uint32][]netip.Addr{}
		for _, f := range p.Inline {
			facts.Translated[pass.WhoseNAT(f.Name)] = f.Addresses
		}
		if again := made(t, b.String(), facts, plan.Options{}); !reflect.DeepEqual(again.Resources, p.Resources) {
			t.Fatalf("edit %d: the same chain is planned differently once it is up", i)
		}
	}
}

func addressesOf(p *plan.Plan) map[string][]netip.Addr {
	all := map[string][]netip.Addr{}
	for _, n := range p.Nodes {
		for _, i := range []*plan.Interface{n.West, n.East} {
			if i != nil {
				all[n.Namespace] = append(all[n.Namespace], i.Addresses...)
			}
		}
	}
	return all
}

// TestBlocksKeepClear of what the host reaches and of other chains.
func TestBlocksKeepClear(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	facts := plan.Facts{Blocks: map[string][]netip.Prefix{}, Routes: []netip.Prefix{
		prefix("0.0.0.0/0"), prefix("198.18.0.0/17"), prefix("198.19.0.0/16"), prefix("2001:2:0:0::/50"), prefix("10.0.0.0/8")}}
	for i := range 200 {
		chain := fmt.Sprintf("c%d", i)
		p, err := plan.Make(plantest.Chain(t, chain, plantest.Forwards(random.IntN(20))), plantest.Catalogue(), facts, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range p.Blocks {
			for _, r := range facts.Routes[1:] {
				if r.Overlaps(b) {
					t.Errorf("%s: %s meets the host's route %s", chain, b, r)
				}
			}
			for other, blocks := range facts.Blocks {
				for _, o := range blocks {
					if o.Overlaps(b) {
						t.Errorf("%s: %s meets %s of %s", chain, b, o, other)
					}
				}
			}
		}
		facts.Blocks[chain] = p.Blocks
	}
}

// TestBlockIsKept by a chain that is up, though another has taken some of it since; it is
// left where the two would meet in a namespace, and for a route of the host.
func TestBlockIsKept(t *testing.T) {
	own, other := prefix("198.18.64.0/26"), prefix("198.18.64.0/24")
	body := plantest.Function(t, "one", "kind: forward\n").Spec
	for spec, kept := range map[string]bool{
		"functions: [{name: f, kind: forward}]":                          true,
		"functions: [{name: f, ref: one}]":                               false,
		"functions: []\nendpoints: [{name: a, namespace: x}, {name: b}]": false,
	} {
		facts := plan.Facts{
			Blocks:    map[string][]netip.Prefix{"edge": {own}, "late": {other}},
			Functions: map[string]api.FunctionBody{"one": body},
		}
		if p := made(t, spec, facts, plan.Options{}); (p.Blocks[0] == own) != kept || p.Blocks[0].Overlaps(other) != kept {
			t.Errorf("%s: it had %s and has %v; %s was taken meanwhile", spec, own, p.Blocks, other)
		}
		alone := made(t, spec, plan.Facts{Blocks: map[string][]netip.Prefix{"edge": {own}}, Functions: facts.Functions}, plan.Options{})
		if alone.Stays(alone.Blocks, plan.Claim{}) != kept || alone.Stays([]netip.Prefix{other}, plan.Claim{}) {
			t.Errorf("%s: whether other chains matter to it is told wrong", spec)
		}
		facts.Routes = []netip.Prefix{prefix("198.18.64.0/30")}
		if p := made(t, spec, facts, plan.Options{}); p.Blocks[0].Overlaps(own) {
			t.Errorf("%s: the host reaches %v", spec, p.Blocks)
		}
	}
}

// TestRefusals are plans that cannot be; each says why.
func TestRefusals(t *testing.T) {
	shared := map[string]api.FunctionBody{}
	many := "functions:\n"
	for i := range 61 {
		name := fmt.Sprintf("s%d", i)
		shared[name] = plantest.Function(t, name, "kind: forward\n").Spec
		many += fmt.Sprintf("- {name: f%d, ref: %s}\n", i, name)
	}
	for name, c := range map[string]struct {
		spec, says string
		facts      plan.Facts
	}{
		"unknown reference":      {"functions: [{name: a, ref: nobody}]\n", "nobody", plan.Facts{}},
		"pool too small":         {"addresses: {ipv4: 10.0.0.0/26}\n" + plantest.Forwards(40), "too small", plan.Facts{}},
		"small IPv6 pool":        {"addresses: {ipv6: 'fd00::/112'}\n" + plantest.Forwards(20000), "too small", plan.Facts{}},
		"pool taken":             {"addresses: {ipv4: 10.0.0.0/24}\n", "no block", plan.Facts{Routes: []netip.Prefix{prefix("10.0.0.0/16")}}},
		"no place for hop limit": {many, "in a row stand alone", plan.Facts{Functions: shared}},
		"nobody can lead past":   {"functions: [{name: a, kind: forward, onFailure: bypass}]\n", "use wiring: ebpf", plan.Facts{}},
		"nothing to fail":        {"wiring: ebpf\nfunctions: [{name: c, kind: counter, runtime: inline, onFailure: bypass}]\n", "leave onFailure out", plan.Facts{}},
		"never well again":       {"wiring: ebpf\nfunctions: [{name: a, kind: command, onFailure: bypass, command: {args: [sleep, infinity], restart: never}}]\n", "use restart: always", plan.Facts{}},
		"led to two functions":   {"wiring: ebpf\nfunctions: [{name: a, kind: forward, replicas: 2, onFailure: bypass}, {name: b, kind: forward, onFailure: bypass}, {name: c, kind: forward, replicas: 2}]\n", "leave replicas out of one of them", plan.Facts{}},
		"addresses led past":     {"wiring: ebpf\nfunctions: [{name: a, kind: nat, onFailure: bypass, nat: {source: {masquerade: true}}}]\n", "use block", plan.Facts{}},
	} {
		_, err := plan.Make(plantest.Chain(t, "edge", c.spec), plantest.Catalogue(), c.facts, plan.Options{})
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "edge") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCrowdedPools: who finds no block learns what is in the way, and of a pool that has one; of two tenants neither is in the other's way.
func TestCrowdedPools(t *testing.T) {
	crowd := plan.Facts{Blocks: map[string][]netip.Prefix{"late": {prefix("198.18.7.0/26"), prefix("2001:2::/64")}, "stranger": {prefix("198.18.9.0/26")}},
		Tenants: map[string]string{"stranger": "other"}}
	for i := range 8 { // one in each /19 of the lower half
		crowd.Blocks[fmt.Sprintf("c%d", i)] = []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, byte(32 * i), 64}), 26)}
	}
	crowd.Routes = []netip.Prefix{prefix("0.0.0.0/0"), prefix("10.0.0.0/8"), prefix("198.19.0.0/16"), prefix("198.19.0.0/16")}
	six := plan.Facts{Blocks: map[string][]netip.Prefix{"late": {prefix("fd00:7::/64")}}}
	all := plan.Facts{Routes: []netip.Prefix{prefix("10.0.0.0/8"), prefix("172.0.0.0/8"), prefix("192.0.0.0/8"), prefix("198.0.0.0/7")}}
	for _, c := range []struct {
		spec  string
		facts plan.Facts
		want  string
	}{
		{"tenant: own\n" + oneArm + plantest.Forwards(1000), crowd, "chain edge: spec.addresses: no block of /19, which 1002 nodes take, in 198.18.0.0/15 is clear of other chains' blocks (c0, c1, c2, c3, c4 and 4 more), and of routes of the host or of the chain's ends (to 198.19.0.0/16); write a pool that has one, such as addresses: {ipv4: \"172.16.0.0/12\"}"},
		{"addresses: {ipv6: 'fd00:7::/64'}\n", six, "chain edge: spec.addresses: no block of /64, which 2 nodes take, in fd00:7::/64 is clear of other chains' blocks (late); write a pool that has one, such as addresses: {ipv6: \"fd00::/8\"}"},
		{plantest.Forwards(1), all, "chain edge: spec.addresses: no block of /26, which 3 nodes take, in 198.18.0.0/15 is clear of routes of the host or of the chain's ends (to 198.0.0.0/7); write a pool that has one in addresses.ipv4, or none"},
	} {
		if _, err := plan.Make(plantest.Chain(t, "edge", c.spec), plantest.Catalogue(), c.facts, plan.Options{}); err == nil || err.Error() != c.want {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
	other := "addresses: {ipv4: \"172.16.0.0/12\"}\n" + oneArm + plantest.Forwards(1000)
	if p := made(t, other, crowd, plan.Options{}); !prefix("172.16.0.0/12").Overlaps(p.Blocks[0]) {
		t.Errorf("as is written it has %v", p.Blocks)
	}
}

func TestSmallPools(t *testing.T) {
	p := made(t, "addresses: {ipv4: 10.0.0.0/26, ipv6: 'fd00::/112'}\n"+plantest.Forwards(5), plan.Facts{}, plan.Options{Direct: true})
	sound(t, p)
	if p.Blocks[0] != prefix("10.0.0.0/26") || !prefix("fd00::/112").Overlaps(p.Blocks[1]) || p.Blocks[1].Bits() < 112 {
		t.Error(p.Blocks)
	}
}

func TestStandaloneFunctions(t *testing.T) {
	for spec, kinds := range map[string][]string{
		"kind: firewall\n":                                    {"namespace", "ruleset"},
		"kind: shaper\nshaper: {rate: 1Gbit}\n":               {"namespace"}, // the rest comes with the interfaces
		"kind: command\ncommand: {args: [sleep, infinity]}\n": {"namespace", "names", "process"},
		"kind: shaper\nshaper: {rate: 1Gbit, classes: [{name: a, rate: 1Mbit, match: {protocol: tcp}}]}\n": {"namespace", "ruleset"},
	} {
		p, err := plan.MakeFunction(plantest.Function(t, "fn", spec), plantest.Catalogue(), plan.Facts{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range p.Resources {
			got = append(got, r.Kind)
		}
		if !reflect.DeepEqual(got, kinds) {
			t.Errorf("%s: %v, want %v", spec, got, kinds)
		}
	}
}

// TestPlanIsPure: nothing that plan imports can reach the kernel but by the kinds,
// whose Specs alone it uses.
func TestPlanIsPure(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, "nfchain.dev/nfchain/internal/plan").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(out)) {
		impure := name == "os" || name == "time" || name == "syscall" || strings.HasPrefix(name, "os/") ||
			strings.Contains(name, "netlink") || strings.HasSuffix(name, "internal/netns") || strings.HasSuffix(name, "x/sys/unix")
		if impure {
			t.Errorf("plan imports %s", name)
		}
	}
}

// BenchmarkPlan1000 is a chain of a thousand functions; the aim is 50 ms.
func BenchmarkPlan1000(b *testing.B) {
	chain := plantest.Chain(b, "edge", plantest.Forwards(1000))
	for b.Loop() {
		if _, err := plan.Make(chain, plantest.Catalogue(), plan.Facts{}, plan.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPlainAddresses: over devices that take an IPv4 address's peer for their own, none has one,
// those that an end has besides included.
func TestPlainAddresses(t *testing.T) {
	p := made(t, "wiring: ipvlan\nendpoints: [{name: client}, {name: server, addresses: [203.0.113.10, \"2001:db8::10\"]}]\nfunctions: []\n", plan.Facts{}, plan.Options{})
	plain, further := 0, false
	for _, r := range p.Resources {
		s, is := r.Spec.(address.Spec)
		if !is || s.Address.Is6() {
			continue
		}
		plain++
		further = further || s.Address == netip.MustParseAddr("203.0.113.10")
		if s.Peer.IsValid() {
			t.Errorf("%s has the peer %s", r.ID, s.Peer)
		}
	}
	if plain != 3 || !further {
		t.Errorf("%d addresses, the further one among them: %t", plain, further)
	}
}
