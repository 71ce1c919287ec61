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
