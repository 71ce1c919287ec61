package deploy_test

import (
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
)

func needs(t testing.TB) {
	t.Helper()
	nstest.Root(t)
	nstest.Require(t, feature.NFTables, feature.NFTBytes, feature.IPTables, feature.IPTBytes, feature.QdiscHTB, feature.QdiscTBF,
		feature.ToolIP, feature.ToolTC, feature.ToolNFT, feature.ToolPing)
}

// TestEditsChangeOnlyWhatDiffers takes one chain through edits. After each, traffic
// crosses and a second pass has nothing to do.
func TestEditsChangeOnlyWhatDiffers(t *testing.T) {
	needs(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	for _, edit := range []struct {
		name, spec string
		// touched are the nodes in whose namespaces anything may change; nil is all.
		touched []string
		// kinds that may change; nil is all.
		kinds []string
	}{
		{"first", spec(forward("a"), firewall, shaper), nil, nil},
		{"inserted in the middle", spec(forward("a"), forward("new"), firewall, shaper), []string{"a", "new", "fw"}, nil},
		{"rate", spec(forward("a"), forward("new"), firewall, strings.Replace(shaper, "1Gbit", "2Gbit", 1)), []string{"shape"}, []string{"qdisc"}},
		{"rule", spec(forward("a"), forward("new"), strings.Replace(firewall, "1023", "1024", 1), shaper), []string{"fw", "shape"}, []string{"ruleset", "qdisc"}},
		{"discipline", spec(forward("a"), forward("new"), firewall, strings.Replace(bucket, "bucket", "shape", 2)), []string{"fw", "shape"}, []string{"qdisc", "ruleset"}},
		{"classes", spec(forward("a"), forward("new"), firewall, strings.Replace(classes, "classes", "shape", 1)), []string{"shape"}, []string{"qdisc", "ruleset"}},
		{"backend", spec(forward("a"), forward("new"), strings.Replace(iptables, "old", "fw", 1), strings.Replace(classes, "classes", "shape", 1)), []string{"fw"}, []string{"ruleset"}},
		{"removed from the middle", spec(forward("a"), strings.Replace(iptables, "old", "fw", 1), strings.Replace(classes, "classes", "shape", 1)), []string{"a", "new", "fw"}, nil},
		{"reordered", spec(strings.Replace(classes, "classes", "shape", 1), strings.Replace(iptables, "old", "fw", 1), forward("a")), nil, nil},
		{"kind of a function", spec(strings.Replace(classes, "classes", "shape", 1), forward("fw"), forward("a")), []string{"fw"}, []string{"ruleset"}},
		{"mtu", "mtu: 9000\n" + spec(strings.Replace(classes, "classes", "shape", 1), forward("fw"), forward("a")), nil, []string{"link", "address", "neighbour", "route", "qdisc"}},
		{"nothing between", "mtu: 9000\n" + spec(), nil, nil},
		{"IPv4 only", "addresses: {ipv6: none}\n" + spec(forward("a")), nil, nil},
		{"IPv6 only", "addresses: {ipv4: none}\n" + spec(forward("a")), nil, nil},
		{"other pools", "addresses: {ipv4: 10.200.0.0/16, ipv6: 'fd00:77::/48'}\n" + spec(forward("a")), nil, nil},
		{"ends renamed to each other", "endpoints: [{name: server}, {name: client}]\naddresses: {ipv4: 10.200.0.0/16, ipv6: 'fd00:77::/48'}\n" + spec(forward("a")), nil, nil},
		{"an end becomes a function", "endpoints: [{name: x}, {name: y}]\n" + spec(forward("client"), forward("a"), forward("server")), nil, nil},
		{"and back", spec(forward("x"), forward("a"), forward("y")), nil, nil},
	} {
		p := planned(t, owner, edit.spec)
		changes := up(t, p)
		if len(changes) == 0 {
			t.Errorf("%s: nothing changed", edit.name)
		}
		for _, c := range changes {
			words := strings.FieldsFunc(c, func(r rune) bool { return r == ' ' || r == ':' })
			if edit.touched != nil && !slices.Contains(edit.touched, words[2]) || edit.kinds != nil && !slices.Contains(edit.kinds, words[1]) {
				t.Errorf("%s: unnecessary: %s", edit.name, c)
			}
		}
		crosses(t, p)
		unchanged(t, p)
		if t.Failed() {
			t.Fatalf("after edit %q", edit.name)
		}
	}
}

// TestHeals breaks a chain in one place at a time. One pass mends it, touching only
// what was broken and what went with it.
func TestHeals(t *testing.T) {
	needs(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	p := planned(t, owner, spec(forward("a"), firewall, iptables, shaper, classes))
	up(t, p)
	crosses(t, p)
	for _, broken := range []struct {
		how string
		// heals are the kinds that may change, and where.
		heals, in []string
	}{
		{"ip -n $a link delete eth0", []string{"link", "address", "neighbour", "route"}, []string{"client", "a"}},
		{"ip -n $a link delete eth1", []string{"link", "address", "neighbour", "route"}, []string{"a", "fw"}},
		{"ip -n $a link set eth1 down", []string{"link", "address", "neighbour", "route"}, []string{"a", "fw"}},
		{"ip -n $a link set eth0 down", []string{"link", "address", "neighbour", "route"}, []string{"client", "a"}},
		{"ip -n $a link set eth0 mtu 1400", []string{"link", "address", "neighbour", "route"}, []string{"client", "a"}},
		{"ip -n $a link set eth1 mtu 1400", []string{"link", "address", "neighbour", "route"}, []string{"a", "fw"}},
		{"ip -n $a link set eth0 address 02:00:00:00:00:99", []string{"link", "address", "neighbour", "route"}, []string{"client", "a"}},
		{"ip -n $a link set eth0 alias ''", []string{"link", "address", "neighbour", "route"}, []string{"client", "a"}},
		{"ip -n $a link set eth1 alias ''", []string{"link", "address", "neighbour", "route"}, []string{"a", "fw"}},
		{"ip -n $a link set eth0 down; ip -n $a link set eth0 name renamed up", []string{"link", "address", "neighbour", "route"}, []string{"client", "a"}},
		{"ip -n $a address flush dev eth0 scope global", []string{"address", "route", "neighbour"}, []string{"a"}},
		{"ip -n $a address add 192.0.2.1/24 dev eth0", []string{"address"}, []string{"a"}},
		{"ip -n $a route flush proto 78", []string{"route"}, []string{"a"}},
		{"ip -n $a -6 route flush proto 78", []string{"route"}, []string{"a"}},
		{"ip -n $a route add 192.0.2.0/24 dev eth0 proto 78", []string{"route"}, []string{"a"}},
		{"ip -n $a neighbour flush dev eth1 nud permanent", []string{"neighbour"}, []string{"a"}},
		{"ip netns exec $a sysctl -qw net.ipv4.ip_forward=0", []string{"namespace"}, []string{"a"}},
		{"ip netns exec $a sysctl -qw net.ipv6.conf.all.forwarding=0", []string{"namespace"}, []string{"a"}},
		{"ip netns delete $a", nil, []string{"client", "a", "fw"}},
		{"umount /run/netns/$a", nil, []string{"client", "a", "fw"}},
		{"ip netns exec $fw nft flush ruleset", []string{"ruleset"}, []string{"fw"}},
		{"ip netns exec $fw nft delete table inet nfchain-firewall", []string{"ruleset"}, []string{"fw"}},
		{"ip netns exec $old iptables -F", []string{"ruleset"}, []string{"old"}},
		{"ip netns exec $old iptables -P FORWARD DROP", []string{"ruleset"}, []string{"old"}},
		{"tc -n $shape qdisc delete dev eth0 root", []string{"qdisc"}, []string{"shape"}},
		{"tc -n $shape qdisc replace dev eth1 root pfifo", []string{"qdisc"}, []string{"shape"}},
		{"tc -n $classes class change dev eth0 parent 1:1 classid 1:10 htb rate 5mbit", []string{"qdisc"}, []string{"classes"}},
		{"ip netns exec $classes nft flush ruleset", []string{"ruleset"}, []string{"classes"}},
	} {
		line := broken.how
		for _, n := range p.Nodes {
			line = strings.ReplaceAll(line, "$"+n.Name, n.Namespace)
		}
		t.Log(broken.how)
		sh(t, line)
		changes := up(t, p)
		if len(changes) == 0 {
			t.Errorf("%s: not seen", broken.how)
		}
		for _, c := range changes {
			words := strings.FieldsFunc(c, func(r rune) bool { return r == ' ' || r == ':' })
			if broken.heals != nil && !slices.Contains(broken.heals, words[1]) || !slices.Contains(broken.in, words[2]) {
				t.Errorf("%s: unnecessary: %s", broken.how, c)
			}
		}
		crosses(t, p)
		unchanged(t, p)
		if t.Failed() {
			t.Fatalf("after %q", broken.how)
		}
	}
}
