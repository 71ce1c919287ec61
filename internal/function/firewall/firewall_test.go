package firewall_test

import (
	"net/netip"
	"slices"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/function/firewall"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

func options() *firewall.Options { return (firewall.Kind{}).Options().(*firewall.Options) }

func TestRefuses(t *testing.T) {
	for path, change := range map[string]func(*firewall.Options){
		"":                      func(*firewall.Options) {},
		"backend":               func(o *firewall.Options) { o.Backend = "pf" },
		"policy":                func(o *firewall.Options) { o.Policy = "reject" },
		"hooks[0]":              func(o *firewall.Options) { o.Hooks = []string{"output"} },
		"hooks[1]":              func(o *firewall.Options) { o.Hooks = []string{"input", "input"} },
		"rules.total":           func(o *firewall.Options) { o.Rules.Generate, o.Rules.Total = 1, 1 },
		"rules.generate":        func(o *firewall.Options) { o.Rules.Generate = 100_001 },
		"rules.list[0].action":  func(o *firewall.Options) { o.Rules.List = []firewall.Rule{{Action: "log"}} },
		"rules.list[0].comment": func(o *firewall.Options) { o.Rules.List = []firewall.Rule{{Action: "drop", Comment: "a\"b"}} },
		"rules.list[1].source": func(o *firewall.Options) {
			o.Rules.List = []firewall.Rule{{Action: "drop"}, {Action: "drop", Match: function.Match{Source: "x"}}}
		},
	} {
		o := options()
		change(o)
		wrong := o.Validate()
		if path == "" && len(wrong) > 0 || path != "" && (len(wrong) != 1 || wrong[0].Path != path) {
			t.Errorf("%q: %v", path, wrong)
		}
	}
}

func TestRequires(t *testing.T) {
	for _, c := range []struct {
		backend  string
		stateful bool
		want     []string
	}{
		{ruleset.NFTables, false, []string{"nftables"}}, {ruleset.NFTables, true, []string{"nftables", "nft.connbytes"}},
		{ruleset.IPTables, false, []string{"iptables"}}, {ruleset.IPTables, true, []string{"iptables", "iptables.connbytes"}},
	} {
		o := options()
		o.Backend, o.Rules.Generate, o.Rules.Stateful = c.backend, 1, c.stateful
		if got := (firewall.Kind{}).Requires(o); !slices.Equal(got, c.want) {
			t.Errorf("%s stateful=%t requires %v, want %v", c.backend, c.stateful, got, c.want)
		}
	}
}

// TestGeneratedRules match nothing, are all different, and come before those given.
func TestGeneratedRules(t *testing.T) {
	o := options()
	o.Rules.Generate, o.Rules.List = 70_000, []firewall.Rule{{Action: "accept"}}
	rules := firewall.Ruleset(function.Site{}, o).Rules
	if len(rules) != 70_001 || rules[70_000].Verdict != "accept" {
		t.Fatal(len(rules))
	}
	reserved, seen := netip.MustParsePrefix("240.0.0.0/4"), map[netip.Prefix]bool{}
	for _, r := range rules[:70_000] {
		if r.Verdict != "drop" || !r.Counted || !r.Source.IsSingleIP() || !reserved.Contains(r.Source.Addr()) || seen[r.Source] {
			t.Fatalf("%+v", r)
		}
		seen[r.Source] = true
	}
	o.Rules.Stateful = true
	for _, r := range firewall.Ruleset(function.Site{}, o).Rules[:70_000] {
		if r.Source.IsValid() || r.ConnectionBytes != 1<<60 {
			t.Fatalf("%+v", r)
		}
	}
}

// TestDirection lets the other way pass before any rule.
func TestDirection(t *testing.T) {
	o := options()
	o.Policy, o.Rules.List = "drop", []firewall.Rule{{Action: "accept", Match: function.Match{Protocol: "tcp"}}}
	for direction, in := range map[api.Direction][2]string{api.Forward: {"east", "west"}, api.Reverse: {"west", "east"}} {
		rules := firewall.Ruleset(function.Site{West: "west", East: "east", Direction: direction}, o).Rules
		if len(rules) != 2 || rules[0].InputDevice != in[0] || rules[0].Verdict != "accept" || rules[1].InputDevice != in[1] {
			t.Errorf("%s: %+v", direction, rules)
		}
	}
}

// TestHooks are as given, in the order of packets, or follow from the place.
func TestHooks(t *testing.T) {
	for _, c := range []struct {
		given []string
		end   bool
		want  []string
	}{
		{nil, false, []string{"forward"}}, {nil, true, []string{"input"}}, {[]string{"forward"}, true, []string{"forward"}},
		{[]string{"forward", "input"}, false, []string{"input", "forward"}},
	} {
		o := options()
		o.Hooks = c.given
		s := firewall.Ruleset(function.Site{End: c.end}, o)
		if got := append([]string{s.Hook}, s.AlsoHooks...); !slices.Equal(got, c.want) {
			t.Errorf("%v at an end %t: %v, want %v", c.given, c.end, got, c.want)
		}
	}
}

// TestAtAnEnd lets pass what is not of the chain's path, and acts on no direction that
// begins there.
func TestAtAnEnd(t *testing.T) {
	o := options()
	o.Policy = "drop"
	server := function.Site{Namespace: "ns", West: "eth0", End: true, Beside: "everywhere0", Aside: []string{"ethd1"}, Direction: api.Forward}
	s := firewall.Ruleset(server, o)
	if len(s.Rules) != 1 || s.Rules[0].InputDevice != "ethd1" || s.Rules[0].Verdict != "accept" || s.Table != "nfchain-firewall-everywhere0" {
		t.Errorf("%+v", s)
	}
	for direction, want := range map[api.Direction]int{api.Forward: 1, api.Reverse: 0, api.Both: 1} {
		server.Direction = direction
		if made, err := (firewall.Kind{}).Contribute(server, o); err != nil || len(made) != want {
			t.Errorf("%s: %v, error %v", direction, made, err)
		}
	}
}
