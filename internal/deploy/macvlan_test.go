package deploy_test

import (
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// over is the plan of a chain on this machine, wired by macvlan.
func over(tb testing.TB, owner, options, spec string) *plan.Plan {
	tb.Helper()
	chain := plantest.Chain(tb, owner, "wiring: macvlan\n"+options+spec)
	facts, err := deploy.Facts(chain)
	if err != nil {
		tb.Fatal(err)
	}
	facts.Has = nstest.Has
	p, err := plan.Make(chain, plantest.Catalogue(), facts, plan.Options{Direct: true})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func needsMacvlan(tb testing.TB) {
	tb.Helper()
	nstest.Root(tb)
	nstest.Require(tb, feature.Macvlan, feature.Redirect, feature.Veth, feature.ToolPing, feature.ToolIP)
}

// card gives the host an interface that stands for a network card, for as long as the
// test runs.
func card(t *testing.T) string {
	t.Helper()
	name := nstest.Device(t)
	sh(t, "ip link add "+name+" mtu 9000 type veth peer name "+name+"p mtu 9000; ip link set "+name+"p up; ip link set "+name+" up")
	t.Cleanup(func() { sh(t, "ip link del "+name) })
	nstest.Carries(t, nstest.Open(t, netns.Host), name)
	return name
}

// parented are options by what they make; the last is over the interface.
func parented(card string) map[string]string {
	return map[string]string{
		"bridge":   "",
		"private":  "macvlan: {mode: private}\n",
		"vepa":     "macvlan: {mode: vepa}\n",
		"passthru": "macvlan: {mode: passthru}\n",
		"long":     "macvlan: {mode: bridge}\nmtu: 9000\n",
		"card":     "macvlan: {parent: " + card + "}\n",
	}
}

// TestMacvlan brings up a chain in each mode and edits it: packets cross at once, and in
// TCP, of which the checksums must be right.
func TestMacvlan(t *testing.T) {
	needsMacvlan(t)
	for name, options := range parented(card(t)) {
		t.Run(name, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			for _, functions := range [][]string{{forward("a"), forward("b")}, {forward("a"), forward("new"), forward("b")}, {forward("b")}, {}} {
				p := over(t, owner, options, spec(functions...))
				if changes := up(t, p); len(changes) == 0 {
					t.Error("nothing changed")
				}
				unchanged(t, p)
				crosses(t, p)
				connects(t, p)
			}
		})
	}
}

// TestMacvlanScript makes the same with the commands of a plan's script.
func TestMacvlanScript(t *testing.T) {
	needsMacvlan(t)
	host := card(t)
	for name, options := range parented(host) {
		t.Run(name, func(t *testing.T) {
			owner, left, right := nstest.Owner(t), nstest.Namespace(t), nstest.Namespace(t)
			downAfter(t, owner)
			for _, ends := range []string{"", "endpoints: [{name: l, namespace: " + left + "}, {name: r, namespace: " + right + "}]\n"} {
				p := over(t, owner, options, ends+spec(forward("a")))
				runScript(t, p)
				unchanged(t, p)
				crosses(t, p)
				down(t, owner)
			}
			for _, ns := range []string{left, right} {
				if links := strings.TrimSpace(sh(t, "ip -n "+ns+" -o link")); strings.Contains(links, "\n") {
					t.Errorf("left in %s:\n%s", ns, links)
				}
			}
		})
	}
}

// TestMacvlanRewired has one chain change from one way to the next and back.
func TestMacvlanRewired(t *testing.T) {
	needsMacvlan(t)
	owner, ways := nstest.Owner(t), parented(card(t))
	downAfter(t, owner)
	for _, name := range []string{"", "bridge", "", "card", "", "card", "vepa", "private", "vepa", "bridge", "passthru", "card", "passthru", ""} {
		p := planned(t, owner, spec(forward("a")))
		if name != "" {
			p = over(t, owner, ways[name], spec(forward("a")))
		}
		up(t, p)
		unchanged(t, p)
		crosses(t, p)
	}
}

// TestMacvlanDrift changes what a chain is made of by hand; the next up mends it.
func TestMacvlanDrift(t *testing.T) {
	needsMacvlan(t)
	ways := parented(card(t))
	for _, c := range []struct{ way, change string }{
		{"bridge", "ip -n $a link del eth0"},
		{"bridge", "ip -n $a link set eth1 down"},
		{"bridge", "ip -n $a link set eth1 mtu 1400"},
		{"bridge", "ip -n $a link set eth1 address 02:00:00:00:00:77"},
		{"bridge", "ip -n $a link set eth0 type macvlan mode private"},
		{"bridge", "ip -n $a link del eth0; ip -n $a link add eth0 type veth peer name other; ip -n $a link set eth0 alias 'nfchain $o macvlan:a:eth0'"},
		{"card", "ip -n $a link set eth0 type macvlan mode vepa"},
		{"card", "ip netns del $a"},
		{"bridge", "ip netns del $a"},
		{"passthru", "ip netns del $a"},
		{"bridge", "ip netns del $w"},
		{"private", "for l in $(ip -n $w -o link | grep -o 'near[0-9a-f]*' | sort -u); do ip -n $w link del $l; done"},
		{"passthru", "for l in $(ip -n $w -o link | grep -o 'far[0-9a-f]*' | sort -u); do ip -n $w link set $l down; done"},
		{"vepa", "for l in $(ip -n $w -o link | grep -o 'far[0-9a-f]*' | sort -u); do tc -n $w qdisc del dev $l clsact; done"},
		{"passthru", "ip -n $a link set eth0 address 02:00:00:00:00:77"},
	} {
		t.Run(c.way+" "+c.change, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			p := over(t, owner, ways[c.way], spec(forward("a")))
			up(t, p)
			a, w := namespace.Name(owner, "a"), namespace.Name(owner, plan.WiringNode)
			sh(t, strings.NewReplacer("$a", a, "$w", w, "$o", owner).Replace(c.change))
			if len(up(t, p)) == 0 {
				t.Error("nothing was found to mend")
			}
			unchanged(t, p)
			crosses(t, p)
		})
	}
}

// TestCardAsItWas: an interface of the host is untouched by chains over it, which do not
// hear each other, and is as it was as soon as they are down.
func TestCardAsItWas(t *testing.T) {
	needsMacvlan(t)
	host := card(t)
	look := func() string {
		return sh(t, "ip -d -o link show "+host+"; ip -o addr show "+host+"; cd /sys/class/net/"+host+"; cat flags mtu address")
	}
	for strings.Contains(look(), "tentative") { // its own address is being tried
		time.Sleep(time.Millisecond)
	}
	before := look()
	one, two := nstest.Owner(t), nstest.Owner(t)
	for _, owner := range []string{one, two} {
		downAfter(t, owner)
	}
	for range 5 {
		for _, owner := range []string{one, two} {
			p := over(t, owner, parented(host)["card"], spec(forward("a")))
			up(t, p)
			unchanged(t, p)
			crosses(t, p)
		}
		for _, owner := range []string{one, two} {
			down(t, owner)
		}
		if after := look(); after != before {
			t.Fatalf("the interface differs:\n%s", difference(before, after))
		}
	}
}

// TestCardBehindReflectingSwitch: devices of mode vepa reach each other by a switch behind
// the interface that sends back what it gets, and not by one that does not.
func TestCardBehindReflectingSwitch(t *testing.T) {
	needsMacvlan(t)
	nstest.Require(t, feature.Bridge)
	host, behind, owner := card(t), nstest.Namespace(t), nstest.Owner(t)
	sh(t, strings.NewReplacer("$b", behind, "$p", host+"p").Replace(`ip link set $p netns $b; ip -n $b link add switch type bridge mcast_snooping 0
		ip -n $b link set switch up; ip -n $b link set $p master switch up`))
	nstest.Carries(t, nstest.Open(t, netns.Host), host)
	downAfter(t, owner)
	p := over(t, owner, "macvlan: {mode: vepa, parent: "+host+"}\n", spec(forward("a")))
	up(t, p)
	unchanged(t, p)
	to := addresses(p, p.Client().Name, p.Server().Name)[0]
	if reaches(t, "udp", p.Client().Namespace, p.Server().Namespace, to, 7007, short) {
		t.Error("a switch that does not reflect passed a packet back")
	}
	sh(t, "ip -n "+behind+" link set "+host+"p type bridge_slave hairpin on")
	crosses(t, p)
}

// TestParentRefused: what cannot be a parent is told before anything is made.
func TestParentRefused(t *testing.T) {
	needsMacvlan(t)
	host := card(t)
	for _, c := range []struct{ change, undo, parent, says string }{
		{"true", "true", "none0", "no such interface"},
		{"true", "true", "lo", "loopback"},
		{"ip link set $h mtu 1400", "ip link set $h mtu 9000", host, "mtu is 1400"},
		{"ip link set $h down", "ip link set $h up", host, "it is down"},
		{"ip link set $hp down", "ip link set $hp up", host, "no carrier"},
		{"ip link add $hb type bridge; ip link set $h master $hb", "ip link del $hb", host, "part of a bridge"},
		{"ip link add link $h name $hm type macvlan", "ip link del $hm", host + "m", "macvlan itself"},
		{"ip link add link $h name $hm type macvlan mode passthru", "ip link del $hm", host, "given to"},
		{"ip tuntap add $ht mode tun; ip link set $ht up", "ip link del $ht", host + "t", "no Ethernet"},
	} {
		t.Run(c.says, func(t *testing.T) {
			name := strings.NewReplacer("$h", host)
			sh(t, name.Replace(c.change))
			defer sh(t, name.Replace(c.undo))
			p := over(t, nstest.Owner(t), "macvlan: {parent: "+c.parent+"}\n", spec(forward("a")))
			if err := deploy.Possible(p); err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.parent) {
				t.Errorf("it says %v", err)
			}
		})
	}
	p := over(t, nstest.Owner(t), "macvlan: {parent: "+host+"}\n", "endpoints: [{name: l, interface: "+host+"}, {name: r}]\n"+spec(forward("a")))
	if err := deploy.Possible(p); err == nil || !strings.Contains(err.Error(), "endpoint") {
		t.Errorf("of an endpoint's interface it says %v", err)
	}
	p = over(t, nstest.Owner(t), "macvlan: {parent: "+host+"}\n", spec(forward("a")))
	nstest.Carries(t, nstest.Open(t, netns.Host), host)
	if err := deploy.Possible(p); err != nil {
		t.Error(err)
	}
}
