package resource_test

import (
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/address"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/neighbour"
	"nfchain.dev/nfchain/internal/resource/qdisc"
	"nfchain.dev/nfchain/internal/resource/route"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

func TestMain(m *testing.M) { os.Exit(nstest.Main(m)) }

// pair is two namespaces of an owner's, joined.
type pair struct {
	owner, a, b string
	spec        link.Spec
}

func joined(t *testing.T) pair {
	t.Helper()
	nstest.Root(t)
	owner := nstest.Owner(t)
	p := pair{owner: owner, a: namespace.Name(owner, "a"), b: namespace.Name(owner, "b")}
	for _, ns := range []string{p.a, p.b} {
		change(t, namespace.Kind{}, resource.Place{Owner: owner}, resource.Create, namespace.Spec{Name: ns})
		t.Cleanup(func() {
			change(t, namespace.Kind{}, resource.Place{Owner: owner}, resource.Delete, namespace.Spec{Name: ns})
		})
	}
	p.spec = link.Spec{Owner: owner, MTU: 1500, A: link.End{Node: "a", Namespace: p.a, Device: "eth1", MAC: "02:00:00:00:00:0a"},
		B: link.End{Node: "b", Namespace: p.b, Device: "eth0", MAC: "02:00:00:00:00:0b"}}
	change(t, link.Kind{}, p.at(t, p.a), resource.Create, p.spec)
	return p
}

// at is a fresh look at one of the namespaces.
func (p pair) at(t *testing.T, ns string) resource.Place {
	return resource.At(nstest.Open(t, ns), p.owner)
}

func change(t *testing.T, k resource.Kind, p resource.Place, op resource.Op, s resource.Spec) {
	t.Helper()
	c := resource.Change{Op: op, Key: s.Key(), Spec: s}
	if op == resource.Delete {
		c.Spec = nil
	}
	if err := k.Apply(p, []resource.Change{c}); err != nil {
		t.Fatalf("%s %s: %v", op, s.Key(), err)
	}
}

// reads fails unless the kind finds exactly these.
func reads(t *testing.T, k resource.Kind, p resource.Place, want ...resource.Spec) {
	t.Helper()
	found, err := k.Read(p)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	for _, o := range found {
		have[o.Key] = o.Fingerprint
	}
	if len(found) != len(want) {
		t.Errorf("found %d, want %d: %v", len(found), len(want), have)
	}
	for _, s := range want {
		if have[s.Key()] != s.Fingerprint() {
			t.Errorf("%s reads back as %q, want %q", s.Key(), have[s.Key()], s.Fingerprint())
		}
	}
}

func addr(s string) netip.Addr     { return netip.MustParseAddr(s) }
func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// TestKinds takes every kind through what each must do: make, read back, make
// again, change, make by commands, remove, remove again, and leave others alone.
func TestKinds(t *testing.T) {
	nstest.Require(t, feature.NFTables, feature.QdiscHTB, feature.QdiscTBF, feature.ToolIP, feature.ToolTC, feature.ToolNFT)
	burst := qdisc.Burst(1e9, 128<<10)
	shaped := func(rate uint64) qdisc.Spec {
		return qdisc.Spec{Device: "eth1", Discipline: qdisc.HTB, Default: 1,
			Classes: []qdisc.Class{{Minor: 1, RateBps: rate, CeilBps: rate, BurstBytes: burst, CeilBurstBytes: burst}}}
	}
	rules := func(verdict string) ruleset.Spec {
		return ruleset.Spec{Backend: ruleset.NFTables, Table: "nfchain-firewall", Hook: "forward", Policy: "accept", Rules: []ruleset.Rule{{Verdict: verdict}}}
	}
	for _, c := range []struct {
		name            string
		kind            resource.Kind
		spec, other     resource.Spec
		before, foreign string
	}{
		{"address 4", address.Kind{}, address.Spec{Device: "eth1", Address: addr("192.0.2.1"), Peer: addr("192.0.2.2")},
			address.Spec{Device: "eth1", Address: addr("192.0.2.1"), Peer: addr("192.0.2.3")}, "", "ip address add 192.0.2.9/24 dev other"},
		{"address 6", address.Kind{}, address.Spec{Device: "eth1", Address: addr("2001:db8::1"), Peer: addr("2001:db8::2")},
			address.Spec{Device: "eth1", Address: addr("2001:db8::1"), Peer: addr("2001:db8::3")}, "", "ip address add 2001:db8:9::9/64 dev other"},
		{"address without peer", address.Kind{}, address.Spec{Device: "eth1", Address: addr("2001:db8::1")},
			address.Spec{Device: "eth1", Address: addr("2001:db8::1"), Peer: addr("2001:db8::3")}, "", "ip address add 2001:db8:9::9/64 dev other"},
		{"neighbour 4", neighbour.Kind{}, neighbour.Spec{Device: "eth1", Address: addr("192.0.2.2"), MAC: "02:00:00:00:00:01"},
			neighbour.Spec{Device: "eth1", Address: addr("192.0.2.2"), MAC: "02:00:00:00:00:02"}, "", "ip neigh add 192.0.2.9 lladdr 02:00:00:00:00:09 nud permanent dev other"},
		{"neighbour 6", neighbour.Kind{}, neighbour.Spec{Device: "eth1", Address: addr("2001:db8::2"), MAC: "02:00:00:00:00:01"},
			neighbour.Spec{Device: "eth1", Address: addr("2001:db8::2"), MAC: "02:00:00:00:00:02"}, "", "ip neigh add 2001:db8::9 lladdr 02:00:00:00:00:09 nud permanent dev other"},
		{"route 4", route.Kind{}, route.Spec{Destination: prefix("198.51.100.0/24"), Via: addr("192.0.2.2"), Device: "eth1"},
			route.Spec{Destination: prefix("198.51.100.0/24"), Via: addr("192.0.2.3"), Device: "eth1"},
			"ip address add 192.0.2.1 peer 192.0.2.2 dev eth1", "ip route add 203.0.113.0/24 dev other proto 78"},
		{"route 6", route.Kind{}, route.Spec{Destination: prefix("2001:db8:1::/48"), Via: addr("2001:db8::2"), Device: "eth1"},
			route.Spec{Destination: prefix("2001:db8:1::/48"), Via: addr("2001:db8::3"), Device: "eth1"},
			"ip address add 2001:db8::1 peer 2001:db8::2 dev eth1 nodad", "ip route add 2001:db8:2::/48 dev other proto 78"},
		{"route with source 4", route.Kind{}, route.Spec{Destination: prefix("198.51.100.0/24"), Via: addr("192.0.2.2"), Device: "eth1", Source: addr("192.0.2.7")},
			route.Spec{Destination: prefix("198.51.100.0/24"), Via: addr("192.0.2.2"), Device: "eth1"},
			"ip address add 192.0.2.1 dev eth1; ip address add 192.0.2.7 dev eth1", "ip route add 203.0.113.0/24 dev other proto 78"},
		{"route with source 6", route.Kind{}, route.Spec{Destination: prefix("2001:db8:1::/48"), Via: addr("2001:db8::2"), Device: "eth1", Source: addr("2001:db8:f::7")},
			route.Spec{Destination: prefix("2001:db8:1::/48"), Via: addr("2001:db8::2"), Device: "eth1", Source: addr("2001:db8::1")},
			"ip address add 2001:db8::1 dev eth1 nodad; ip address add 2001:db8:f::7 dev eth1 nodad", "ip route add 2001:db8:2::/48 dev other proto 78"},
		{"qdisc", qdisc.Kind{}, shaped(1e9), shaped(2e9), "", "tc qdisc add dev other root tbf rate 1mbit burst 10k limit 10k"},
		{"ruleset", ruleset.Kind{}, rules("accept"), rules("drop"), "", "nft add table inet other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := joined(t)
			in := func(line string) string {
				out, err := exec.Command("ip", "netns", "exec", p.a, "sh", "-c", line).CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v %s", line, err, out)
				}
				return string(out)
			}
			in("ip link add other type veth peer name otherp; ip link set other up; ip link set otherp up; " + c.before)
			if c.foreign != "" {
				in(c.foreign)
			}
			const others = "ip -o addr show dev other scope global; ip route show dev other proto 78; ip -6 route show dev other proto 78; ip neigh show dev other nud permanent; tc qdisc show dev other; nft list table inet other 2>&1 || true"
			before := in(others)
			reads(t, c.kind, p.at(t, p.a))
			for range 2 { // twice is once
				change(t, c.kind, p.at(t, p.a), resource.Create, c.spec)
				reads(t, c.kind, p.at(t, p.a), c.spec)
			}
			change(t, c.kind, p.at(t, p.a), resource.Update, c.other)
			reads(t, c.kind, p.at(t, p.a), c.other)
			for range 2 { // gone is gone
				change(t, c.kind, p.at(t, p.a), resource.Delete, c.other)
				reads(t, c.kind, p.at(t, p.a))
			}
			for _, cmd := range c.spec.Commands(p.a) {
				run := exec.Command(cmd.Args[0], cmd.Args[1:]...)
				run.Stdin = strings.NewReader(cmd.Stdin)
				if out, err := run.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v %s", cmd.Args, err, out)
				}
			}
			reads(t, c.kind, p.at(t, p.a), c.spec)
			stranger := resource.At(nstest.Open(t, p.a), "somebody")
			reads(t, c.kind, stranger)
			if after := in(others); after != before {
				t.Errorf("others' became\n%s\nfrom\n%s", after, before)
			}
		})
	}
}

// TestLinkOfContainers: a pair between two containers of other runtimes is found by its first end also where both call theirs
// alike.
func TestLinkOfContainers(t *testing.T) {
	owner := nstest.Owner(t)
	p := pair{owner: owner, a: namespace.Brought(owner, "a"), b: namespace.Brought(owner, "b")}
	for _, name := range []string{p.a, p.b} {
		if err := netns.NameOf(name, netns.Path(nstest.Namespace(t))); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := netns.Remove(name); err != nil {
				t.Error(err)
			}
		})
	}
	p.spec = link.Spec{Owner: owner, MTU: 1500, A: link.End{Node: "a", Namespace: p.a, Device: "eth0", MAC: "02:00:00:00:00:0a"},
		B: link.End{Node: "b", Namespace: p.b, Device: "eth0", MAC: "02:00:00:00:00:0b"}}
	change(t, link.Kind{}, p.at(t, p.a), resource.Create, p.spec)
	reads(t, link.Kind{}, p.at(t, p.b))
	change(t, link.Kind{}, p.at(t, p.b), resource.Delete, p.spec) // which is none of that end's
	reads(t, link.Kind{}, p.at(t, p.a), p.spec)
}

// TestNoContainerIsMade: nothing stands in under the name of a container that has gone.
func TestNoContainerIsMade(t *testing.T) {
	nstest.Root(t)
	name := namespace.Brought(nstest.Owner(t), "a")
	spec := namespace.Spec{Name: name}
	err := (namespace.Kind{}).Apply(resource.Place{}, []resource.Change{{Op: resource.Create, Key: name, Spec: spec}})
	if err == nil || !strings.Contains(err.Error(), "put it in again") || netns.Exists(name) {
		t.Errorf("%v, there: %t", err, netns.Exists(name))
	}
	_ = netns.Remove(name)
}

func TestLink(t *testing.T) {
	p := joined(t)
	reads(t, link.Kind{}, p.at(t, p.a), p.spec)
	reads(t, link.Kind{}, p.at(t, p.b)) // a pair is found by its first end
	change(t, link.Kind{}, p.at(t, p.a), resource.Create, p.spec)
	reads(t, link.Kind{}, p.at(t, p.a), p.spec)
	jumbo := p.spec
	jumbo.MTU = 9000
	change(t, link.Kind{}, p.at(t, p.a), resource.Update, jumbo)
	reads(t, link.Kind{}, p.at(t, p.a), jumbo)
	for range 2 {
		change(t, link.Kind{}, p.at(t, p.a), resource.Delete, jumbo)
		reads(t, link.Kind{}, p.at(t, p.a))
	}
	for _, cmd := range p.spec.Commands(p.a) {
		if out, err := exec.Command(cmd.Args[0], cmd.Args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v %s", cmd.Args, err, out)
		}
	}
	reads(t, link.Kind{}, p.at(t, p.a), p.spec)
}

// TestLinkMeetsOthers has an interface of the wanted name in the way.
func TestLinkMeetsOthers(t *testing.T) {
	for _, c := range []struct {
		what, line string
		refused    bool
	}{
		{"half made", "ip link add eth0 type veth peer name x", false},
		{"the owner's, from before", "ip link add eth0 type veth peer name x; ip link set eth0 alias 'nfchain OWNER z:eth0=b:eth0'", false},
		{"another chain's", "ip link add eth0 type veth peer name x; ip link set eth0 alias 'nfchain another z:eth0=b:eth0'", true},
		{"a stranger's", "ip link add eth0 type bridge", true},
	} {
		t.Run(c.what, func(t *testing.T) {
			p := joined(t)
			change(t, link.Kind{}, p.at(t, p.a), resource.Delete, p.spec)
			line := strings.ReplaceAll(c.line, "OWNER", p.owner)
			if out, err := exec.Command("ip", "netns", "exec", p.b, "sh", "-c", line).CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
			err := (link.Kind{}).Apply(p.at(t, p.a), []resource.Change{{Op: resource.Create, Key: p.spec.Key(), Spec: p.spec}})
			if c.refused != (err != nil) {
				t.Errorf("refused: %v, want %t", err, c.refused)
			}
			if !c.refused {
				reads(t, link.Kind{}, p.at(t, p.a), p.spec)
			}
		})
	}
}

func TestRemoveAllTakesOnlyTheOwners(t *testing.T) {
	p := joined(t)
	if out, err := exec.Command("ip", "-n", p.b, "link", "add", "other", "type", "veth", "peer", "name", "otherp").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for range 2 {
		if err := link.RemoveAll(nstest.Open(t, p.b), p.owner); err != nil {
			t.Fatal(err)
		}
	}
	reads(t, link.Kind{}, p.at(t, p.a))
	if _, err := nstest.Open(t, p.b).LinkByName("other"); err != nil {
		t.Error(err)
	}
}

func TestNamespace(t *testing.T) {
	nstest.Root(t)
	owner := nstest.Owner(t)
	s := namespace.Spec{Name: namespace.Name(owner, "a"), Sysctls: []namespace.Sysctl{
		{Path: "net/ipv4/ip_forward", Value: "1"}, {Path: "net/ipv6/conf/all/forwarding", Value: "1"}, {Path: "net/ipv4/conf/all/rp_filter", Value: "0"}}}
	host, err := os.ReadFile("/proc/sys/net/ipv6/conf/all/forwarding")
	if err != nil {
		t.Fatal(err)
	}
	at := resource.Place{Owner: owner}
	if namespace.Verify(s, true) != "" {
		t.Error("there already")
	}
	for range 2 {
		change(t, namespace.Kind{}, at, resource.Create, s)
		if got := namespace.Verify(s, true); got != s.Fingerprint() {
			t.Errorf("reads back as %q, want %q", got, s.Fingerprint())
		}
	}
	lo, err := nstest.Open(t, s.Name).LinkByName("lo")
	if err != nil || lo.Attrs().Flags&1 == 0 {
		t.Error("loopback is down", err)
	}
	s.Sysctls[0].Value = "0"
	change(t, namespace.Kind{}, at, resource.Update, s)
	if got := namespace.Verify(s, true); got != s.Fingerprint() {
		t.Errorf("reads back as %q, want %q", got, s.Fingerprint())
	}
	if found, err := (namespace.Kind{}).Read(at); err != nil || len(found) != 1 || found[0].Key != s.Name {
		t.Error(found, err)
	}
	if now, err := os.ReadFile("/proc/sys/net/ipv6/conf/all/forwarding"); err != nil || string(now) != string(host) {
		t.Errorf("the host's forwarding became %s from %s", now, host)
	}
	for range 2 {
		change(t, namespace.Kind{}, at, resource.Delete, s)
	}
	if netns.Exists(s.Name) {
		t.Error("still there")
	}
	wrong := namespace.Spec{Name: namespace.Name(owner, "b"), Sysctls: []namespace.Sysctl{{Path: "net/ipv4/no_such", Value: "1"}}}
	if err := (namespace.Kind{}).Apply(at, []resource.Change{{Op: resource.Create, Key: wrong.Name, Spec: wrong}}); err == nil || !strings.Contains(err.Error(), "net.ipv4.no_such") {
		t.Error(err)
	}
	if _, err := os.Stat(netns.Path(wrong.Name)); err == nil {
		t.Error("a half-made namespace was left")
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string][2]string{"nfchain.edge.fw": {"edge", "fw"}, "nfchain.e-1.a-b": {"e-1", "a-b"}} {
		owner, node, ok := namespace.Split(name)
		if !ok || owner != want[0] || node != want[1] || namespace.Name(owner, node) != name {
			t.Error(name, owner, node, ok)
		}
	}
	for _, name := range []string{"edge", "nfchain.edge", "nfchain-edge.fw", ""} {
		if _, _, ok := namespace.Split(name); ok {
			t.Error(name, "was taken for a chain's")
		}
	}
	if namespace.Owns("edge", "nfchain.edge2.fw") || !namespace.Owns("edge", "nfchain.edge.fw") || !namespace.Owns("edge", "nfchain.edge") {
		t.Error("owners are confused")
	}
	if resource.Owned("nfchain edge2 a:eth0=b:eth0", "edge") || !resource.Owned("nfchain edge a:eth0=b:eth0", "edge") {
		t.Error("marks are confused")
	}
}
