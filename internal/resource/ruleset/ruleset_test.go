package ruleset_test

import (
	"net/netip"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// place is a namespace of an owner's own.
func place(t testing.TB) resource.Place {
	t.Helper()
	nstest.Root(t)
	owner := nstest.Owner(t)
	ns := namespace.Name(owner, "fw")
	if err := netns.Create(ns, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := netns.Remove(ns); err != nil {
			t.Error(err)
		}
	})
	return resource.At(nstest.Open(t, ns), owner)
}

func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// each match and action there is, by itself and together with others.
var each = map[string]ruleset.Rule{
	"everything":       {Verdict: "accept"},
	"counted":          {Counted: true, Verdict: "drop"},
	"no verdict":       {Counted: true},
	"input device":     {Match: ruleset.Match{InputDevice: "eth0"}, Verdict: "accept"},
	"family 4":         {Match: ruleset.Match{Family: 4}, Verdict: "drop"},
	"family 6":         {Match: ruleset.Match{Family: 6}, Verdict: "drop"},
	"source 4":         {Match: ruleset.Match{Source: prefix("192.0.2.1/32")}, Verdict: "drop"},
	"source 4 net":     {Match: ruleset.Match{Source: prefix("10.0.0.0/8")}, Verdict: "drop"},
	"source 4 odd net": {Match: ruleset.Match{Source: prefix("10.128.64.0/19")}, Verdict: "drop"},
	"source 6":         {Match: ruleset.Match{Source: prefix("2001:db8::1/128")}, Verdict: "drop"},
	"source 6 net":     {Match: ruleset.Match{Source: prefix("2001:db8::/32")}, Verdict: "drop"},
	"source 6 odd net": {Match: ruleset.Match{Source: prefix("2001:db8:8000::/37")}, Verdict: "drop"},
	"destination 4":    {Match: ruleset.Match{Destination: prefix("192.0.2.0/24")}, Verdict: "drop"},
	"destination 6":    {Match: ruleset.Match{Destination: prefix("2001:db8::/64")}, Verdict: "drop"},
	"both addresses":   {Match: ruleset.Match{Source: prefix("10.0.0.0/8"), Destination: prefix("10.1.0.0/16")}, Verdict: "accept"},
	"tcp":              {Match: ruleset.Match{Protocol: "tcp"}, Verdict: "drop"},
	"udp":              {Match: ruleset.Match{Protocol: "udp"}, Verdict: "drop"},
	"sctp":             {Match: ruleset.Match{Protocol: "sctp"}, Verdict: "drop"},
	"icmp":             {Match: ruleset.Match{Protocol: "icmp", Family: 4}, Verdict: "drop"},
	"icmpv6":           {Match: ruleset.Match{Protocol: "icmpv6", Family: 6}, Verdict: "drop"},
	"source port":      {Match: ruleset.Match{Protocol: "tcp", SourcePorts: ruleset.Ports{First: 80, Last: 80}}, Verdict: "drop"},
	"destination port": {Match: ruleset.Match{Protocol: "udp", DestinationPorts: ruleset.Ports{First: 53, Last: 53}}, Verdict: "drop"},
	"port ranges": {Match: ruleset.Match{Protocol: "sctp", SourcePorts: ruleset.Ports{First: 1, Last: 1023},
		DestinationPorts: ruleset.Ports{First: 1024, Last: 65535}}, Verdict: "drop"},
	"one state": {Match: ruleset.Match{States: []string{"invalid"}}, Verdict: "drop"},
	"states":    {Match: ruleset.Match{States: []string{"new", "established", "related"}}, Verdict: "accept"},
	"bytes":     {Match: ruleset.Match{ConnectionBytes: 1 << 60}, Counted: true, Verdict: "drop"},
	"few bytes": {Match: ruleset.Match{ConnectionBytes: 1}, Verdict: "drop"},
	"commented": {Match: ruleset.Match{Protocol: "tcp"}, Verdict: "accept", Comment: "web, 1:2_3-4/5."},
	"everything at once": {Match: ruleset.Match{InputDevice: "eth1", Source: prefix("2001:db8::/32"), Destination: prefix("2001:db8:1::/48"),
		Protocol: "tcp", SourcePorts: ruleset.Ports{First: 1024, Last: 65535}, DestinationPorts: ruleset.Ports{First: 443, Last: 443},
		States: []string{"new"}, ConnectionBytes: 12345}, Counted: true, Verdict: "drop", Comment: "all of it"},
}

// only nf_tables sets these.
var actions = map[string]ruleset.Rule{
	"class":             {Class: 1<<16 | 0x10, Counted: true, Verdict: "accept"},
	"class of a port":   {Match: ruleset.Match{Protocol: "tcp", DestinationPorts: ruleset.Ports{First: 80, Last: 80}}, Class: 1<<16 | 0x3f8, Verdict: "accept"},
	"hop limit 4":       {Match: ruleset.Match{Family: 4}, HopLimit: 64, Comment: "restored"},
	"hop limit 6":       {Match: ruleset.Match{Family: 6}, HopLimit: 64},
	"hop limit counted": {Match: ruleset.Match{Family: 4, InputDevice: "eth0"}, HopLimit: 255, Counted: true},
}

func to(kind, address string, port uint16) *ruleset.Translation {
	t := &ruleset.Translation{Kind: kind, Port: port}
	if address != "" {
		t.Address = netip.MustParseAddr(address)
	}
	return t
}

// translations by the hook where each can be.
var translations = map[string]map[string]ruleset.Rule{
	"prerouting": {
		"destination 4": {Match: ruleset.Match{InputDevice: "eth0", Destination: prefix("192.0.2.1/32")}, Counted: true, Translate: to(ruleset.Destination, "192.0.2.2", 0)},
		"destination 6": {Match: ruleset.Match{Destination: prefix("2001:db8::1/128")}, Translate: to(ruleset.Destination, "2001:db8::2", 0)},
		"port 4": {Match: ruleset.Match{Protocol: "tcp", Destination: prefix("192.0.2.1/32"), DestinationPorts: ruleset.Ports{First: 80, Last: 80}},
			Translate: to(ruleset.Destination, "192.0.2.2", 8080)},
		"port 6":          {Match: ruleset.Match{Protocol: "udp", Destination: prefix("2001:db8::1/128")}, Translate: to(ruleset.Destination, "2001:db8::2", 8080)},
		"in turn":         {Match: ruleset.Match{Family: 4, OneIn: 3}, Counted: true, Translate: to(ruleset.Destination, "192.0.2.2", 0), Comment: "first"},
		"by the source 4": {Match: ruleset.Match{Family: 4, Share: ruleset.Share{Part: 1, Of: 3}}, Counted: true, Translate: to(ruleset.Destination, "192.0.2.2", 0)},
		"by the source 6": {Match: ruleset.Match{Family: 6, Share: ruleset.Share{Part: 2, Of: 3}}, Translate: to(ruleset.Destination, "2001:db8::2", 0)},
	},
	"postrouting": {
		"source 4":   {Match: ruleset.Match{OutputDevice: "eth1", Family: 4}, Counted: true, Translate: to(ruleset.Source, "192.0.2.2", 0)},
		"source 6":   {Match: ruleset.Match{OutputDevice: "eth1", Family: 6}, Translate: to(ruleset.Source, "2001:db8::2", 0), Comment: "out"},
		"masquerade": {Match: ruleset.Match{OutputDevice: "eth1"}, Counted: true, Translate: to(ruleset.Masquerade, "", 0)},
	},
}

func TestTranslationsAgree(t *testing.T) {
	nstest.Require(t, feature.NFTables, feature.NFTNAT, feature.ToolNFT)
	p := place(t)
	for hook, rules := range translations {
		for name, rule := range rules {
			s := ruleset.Spec{Backend: ruleset.NFTables, Table: "nfchain-test", Hook: hook, Priority: -100, Policy: "accept", Translates: true, Rules: []ruleset.Rule{rule}}
			t.Run(name, func(t *testing.T) { agree(t, p, s, "nft", "list", "ruleset") })
		}
	}
}

// TestTextAndBinaryAgree makes every rule by nft(8) and by netlink, and has nft(8)
// read both.
func TestTextAndBinaryAgree(t *testing.T) {
	nstest.Require(t, feature.NFTables, feature.NFTBytes, feature.Conntrack, feature.ToolNFT)
	p := place(t)
	for _, rules := range []map[string]ruleset.Rule{each, actions} {
		for name, rule := range rules {
			s := ruleset.Spec{Backend: ruleset.NFTables, Table: "nfchain-test", Hook: "forward", Priority: -5, Policy: "drop", Rules: []ruleset.Rule{rule}}
			t.Run(name, func(t *testing.T) { agree(t, p, s, "nft", "list", "ruleset") })
		}
	}
}

func TestIPTablesTextIsWhatIsApplied(t *testing.T) {
	nstest.Require(t, feature.IPTables, feature.IPTBytes, feature.Conntrack)
	p := place(t)
	for name, rule := range each {
		s := ruleset.Spec{Backend: ruleset.IPTables, Table: ruleset.TablePrefix, Hook: "forward", Policy: "drop", Rules: []ruleset.Rule{rule}}
		t.Run(name, func(t *testing.T) { agree(t, p, s, "sh", "-c", "iptables-save; ip6tables-save") })
	}
}

// TestSeveralHooks has the same rules on the way in and on the way through.
func TestSeveralHooks(t *testing.T) {
	nstest.Require(t, feature.NFTables, feature.IPTables, feature.ToolNFT)
	p := place(t)
	for _, policy := range []string{"accept", "drop"} {
		s := ruleset.Spec{Backend: ruleset.NFTables, Table: "nfchain-test", Hook: "input", AlsoHooks: []string{"forward"}, Policy: policy,
			Rules: []ruleset.Rule{{Match: ruleset.Match{Protocol: "tcp"}, Counted: true, Verdict: "accept"}, {Match: ruleset.Match{Protocol: "udp"}, Verdict: "drop"}}}
		t.Run("nftables "+policy, func(t *testing.T) { agree(t, p, s, "nft", "list", "ruleset") })
		s.Backend, s.Table = ruleset.IPTables, ruleset.TablePrefix
		t.Run("iptables "+policy, func(t *testing.T) {
			agree(t, p, s, "sh", "-c", "iptables-save; ip6tables-save")
			apply(t, p, resource.Create, s)
			one := s
			one.Hook, one.AlsoHooks = "forward", nil
			apply(t, p, resource.Update, one) // and the hook that is left accepts again
			readsBack(t, p, one)
			if out := shown(t, p, []string{"iptables-save"}); !strings.Contains(out, ":INPUT ACCEPT") {
				t.Error(out)
			}
			apply(t, p, resource.Delete, one)
		})
	}
}

// agree makes a rule set by the package and by the commands that stand for it, and
// compares what the tool shows and what the package reads.
func agree(t *testing.T, p resource.Place, s ruleset.Spec, show ...string) {
	t.Helper()
	apply(t, p, resource.Create, s)
	readsBack(t, p, s)
	binary := shown(t, p, show)
	apply(t, p, resource.Delete, s)
	if found, err := (ruleset.Kind{}).Read(p); err != nil || len(found) != 0 {
		t.Fatalf("after deleting: %v, %v", found, err)
	}
	for _, c := range s.Commands(p.Ref) {
		cmd := exec.Command(c.Args[0], c.Args[1:]...)
		cmd.Stdin = strings.NewReader(c.Stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s\n%s", c.Args, err, out, c.Stdin)
		}
	}
	readsBack(t, p, s)
	if text := shown(t, p, show); text != binary {
		t.Errorf("by commands:\n%s\nby the package:\n%s", text, binary)
	}
	apply(t, p, resource.Delete, s)
	apply(t, p, resource.Delete, s) // what is gone is gone
}

var unsteady = regexp.MustCompile(`(?m)^#.*\n|packets \d+ bytes \d+|\[\d+:\d+\]`)

func shown(t *testing.T, p resource.Place, show []string) string {
	t.Helper()
	out, err := exec.Command("ip", append([]string{"netns", "exec", p.Ref}, show...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v %s", show, err, out)
	}
	return unsteady.ReplaceAllString(string(out), "")
}

func apply(t testing.TB, p resource.Place, op resource.Op, s ruleset.Spec) {
	t.Helper()
	c := resource.Change{Op: op, Key: s.Key(), Spec: s}
	if op == resource.Delete {
		c.Spec = nil
	}
	if err := (ruleset.Kind{}).Apply(p, []resource.Change{c}); err != nil {
		t.Fatal(err)
	}
}

func readsBack(t testing.TB, p resource.Place, s ruleset.Spec) {
	t.Helper()
	found, err := (ruleset.Kind{}).Read(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Key != s.Key() || found[0].Fingerprint != s.Fingerprint() {
		t.Fatalf("read %+v, want %s %s", found, s.Key(), s.Fingerprint())
	}
}

// TestManyRules has rule sets as large as the published ones, and larger.
func TestManyRules(t *testing.T) {
	nstest.Require(t, feature.NFTables, feature.NFTBytes, feature.IPTables, feature.IPTBytes)
	for _, backend := range []string{ruleset.NFTables, ruleset.IPTables} {
		for _, stateful := range []bool{false, true} {
			name := backend + map[bool]string{false: " stateless", true: " stateful"}[stateful]
			t.Run(name, func(t *testing.T) {
				p := place(t)
				s := ruleset.Spec{Backend: backend, Table: "nfchain-firewall", Hook: "forward", Policy: "accept", Rules: generated(5000, stateful)}
				if backend == ruleset.IPTables {
					s.Table = ruleset.TablePrefix
				}
				start := time.Now()
				apply(t, p, resource.Create, s)
				t.Log("made in", time.Since(start))
				start = time.Now()
				readsBack(t, p, s)
				t.Log("read in", time.Since(start))
				start = time.Now()
				counters, err := ruleset.Count(p, s)
				t.Log("counted in", time.Since(start))
				if err != nil || len(counters.Rules) != 5000 || counters.Dropped != nil {
					t.Fatal(len(counters.Rules), counters.Dropped, err)
				}
				start = time.Now()
				s.Rules = s.Rules[:10]
				apply(t, p, resource.Update, s)
				t.Log("replaced in", time.Since(start))
				readsBack(t, p, s)
			})
		}
	}
}

func generated(n int, stateful bool) []ruleset.Rule {
	var rules []ruleset.Rule
	a := netip.MustParseAddr("240.0.0.0")
	for range n {
		a = a.Next()
		r := ruleset.Rule{Match: ruleset.Match{Source: netip.PrefixFrom(a, 32)}, Counted: true, Verdict: "drop"}
		if stateful {
			r.Match = ruleset.Match{ConnectionBytes: 1 << 60}
		}
		rules = append(rules, r)
	}
	return rules
}

// TestTamperedIsSeen changes rule sets behind the package's back.
func TestTamperedIsSeen(t *testing.T) {
	nstest.Require(t, feature.NFTables, feature.IPTables, feature.ToolNFT)
	rules := []ruleset.Rule{{Match: ruleset.Match{Source: prefix("10.0.0.1/32")}, Verdict: "drop"}}
	nft := ruleset.Spec{Backend: ruleset.NFTables, Table: "nfchain-firewall", Hook: "forward", Policy: "drop", Rules: rules}
	old := ruleset.Spec{Backend: ruleset.IPTables, Table: ruleset.TablePrefix, Hook: "forward", Policy: "drop", Rules: rules}
	for command, s := range map[string]ruleset.Spec{
		"nft flush ruleset":                                          nft,
		"nft flush table inet nfchain-firewall":                      nft,
		"nft add rule inet nfchain-firewall forward accept":          nft,
		"nft chain inet nfchain-firewall forward '{policy accept;}'": nft,
		"iptables -F":                   old,
		"iptables -P FORWARD ACCEPT":    old,
		"ip6tables -P FORWARD ACCEPT":   old,
		"iptables -F FORWARD":           old,
		"ip6tables -F FORWARD":          old,
		"iptables -I FORWARD -j ACCEPT": old,
	} {
		t.Run(command, func(t *testing.T) {
			p := place(t)
			apply(t, p, resource.Create, s)
			if out, err := exec.Command("ip", "netns", "exec", p.Ref, "sh", "-c", command).CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
			found, err := (ruleset.Kind{}).Read(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range found {
				if o.Fingerprint == s.Fingerprint() {
					t.Error("not seen")
				}
			}
			apply(t, p, resource.Update, s)
			readsBack(t, p, s)
		})
	}
}

// TestTamperedHook changes one of two hooks.
func TestTamperedHook(t *testing.T) {
	nstest.Require(t, feature.NFTables, feature.IPTables, feature.ToolNFT)
	rules := []ruleset.Rule{{Match: ruleset.Match{Source: prefix("10.0.0.1/32")}, Verdict: "drop"}}
	nft := ruleset.Spec{Backend: ruleset.NFTables, Table: "nfchain-firewall", Hook: "input", AlsoHooks: []string{"forward"}, Policy: "drop", Rules: rules}
	old := nft
	old.Backend, old.Table = ruleset.IPTables, ruleset.TablePrefix
	for command, s := range map[string]ruleset.Spec{
		"nft flush chain inet nfchain-firewall input":              nft,
		"nft flush chain inet nfchain-firewall rules":              nft,
		"nft chain inet nfchain-firewall input '{policy accept;}'": nft,
		"iptables -P INPUT ACCEPT":                                 old,
		"iptables -F INPUT":                                        old,
		"ip6tables -F INPUT":                                       old,
	} {
		t.Run(command, func(t *testing.T) {
			p := place(t)
			apply(t, p, resource.Create, s)
			if out, err := exec.Command("ip", "netns", "exec", p.Ref, "sh", "-c", command).CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
			found, err := (ruleset.Kind{}).Read(p)
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(found, func(o resource.Observed) bool { return o.Key == s.Key() && o.Fingerprint == s.Fingerprint() }) {
				t.Errorf("not seen: %v", found)
			}
			apply(t, p, resource.Update, s)
			readsBack(t, p, s)
		})
	}
}

// TestForeignTablesStay makes and deletes beside tables of others.
func TestForeignTablesStay(t *testing.T) {
	nstest.Require(t, feature.NFTables, feature.ToolNFT)
	p := place(t)
	if out, err := exec.Command("ip", "netns", "exec", p.Ref, "nft", "add table inet other; add chain inet other forward { type filter hook forward priority 0; }; add table ip nat").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	before := shown(t, p, []string{"nft", "list", "ruleset"})
	s := ruleset.Spec{Backend: ruleset.NFTables, Table: "nfchain-firewall", Hook: "forward", Policy: "accept", Rules: []ruleset.Rule{{Verdict: "drop"}}}
	apply(t, p, resource.Create, s)
	apply(t, p, resource.Create, s)
	readsBack(t, p, s)
	apply(t, p, resource.Delete, s)
	if after := shown(t, p, []string{"nft", "list", "ruleset"}); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// TestPolicyDropsAreCounted sends packets that no rule decides over.
func TestPolicyDropsAreCounted(t *testing.T) {
	nstest.Require(t, feature.NFTables, feature.IPTables, feature.ToolPing)
	for name, hooks := range map[string][]string{"nftables": nil, "iptables": nil, "nftables both": {"forward"}, "iptables both": {"forward"}} {
		t.Run(name, func(t *testing.T) {
			p := place(t)
			backend, table := ruleset.NFTables, "nfchain-firewall"
			if strings.HasPrefix(name, "iptables") {
				backend, table = ruleset.IPTables, ruleset.TablePrefix
			}
			s := ruleset.Spec{Backend: backend, Table: table, Hook: "input", AlsoHooks: hooks, Policy: "drop",
				Rules: []ruleset.Rule{{Match: ruleset.Match{Protocol: "tcp"}, Counted: true, Verdict: "accept"}}}
			apply(t, p, resource.Create, s)
			readsBack(t, p, s)
			if c, err := ruleset.Count(p, s); err != nil || len(c.Rules) != 1 || c.Dropped == nil || c.Dropped.Packets != 0 {
				t.Fatalf("%+v, error %v", c, err)
			}
			command := "ip link set lo up; ping -q -c 2 -i 0.2 -W 1 -s 72 127.0.0.1; ping -q -c 1 -W 1 -s 72 ::1"
			out, err := exec.Command("ip", "netns", "exec", p.Ref, "sh", "-c", command).CombinedOutput()
			if err == nil {
				t.Fatalf("nothing was dropped: %s", out)
			}
			// 72 bytes and ICMP's 8, behind an IPv4 header of 20 or an IPv6 one of 40.
			c, err := ruleset.Count(p, s)
			if want := (ruleset.Dropped{Packets: 3, Bytes: 2*100 + 120}); err != nil || c.Dropped == nil || *c.Dropped != want || c.Rules[0].Packets != 0 {
				t.Errorf("%+v, dropped %+v, error %v: %s", c, c.Dropped, err, out)
			}
		})
	}
}
