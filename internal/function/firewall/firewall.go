// Package firewall is the packet filter: rules a user gives, or a number of
// generated ones that match nothing, as Livi et al. §IV-C1 measure with.
package firewall

import (
	"fmt"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// Options of a firewall.
type Options struct {
	// Backend is nftables (default) or iptables.
	Backend string `json:"backend,omitempty" jsonschema:"enum=nftables,enum=iptables"`
	// Policy for packets that no rule decides: accept (default) or drop.
	Policy string `json:"policy,omitempty" jsonschema:"enum=accept,enum=drop"`
	Rules  Rules  `json:"rules,omitempty"`
}

// Rules are generated ones first, then those given, so that the generated ones
// cost every packet.
type Rules struct {
	// Generate is the number of rules to make that match nothing.
	Generate int `json:"generate,omitempty"`
	// Stateful rules test the connection's byte count (connbytes); stateless
	// ones an address that nobody uses. Both match nothing.
	Stateful bool   `json:"stateful,omitempty"`
	List     []Rule `json:"list,omitempty"`
}

// Rule is one rule of the user's, applied to forwarded packets.
type Rule struct {
	function.Match
	// Action is accept or drop.
	Action  string `json:"action" jsonschema:"required,enum=accept,enum=drop"`
	Comment string `json:"comment,omitempty"`
}

// most generated rules: enough for every published figure tenfold.
const most = 100_000

// Validate implements the catalogue's check of options.
func (o *Options) Validate() []api.FieldProblem {
	var wrong []api.FieldProblem
	add := func(path, format string, args ...any) {
		wrong = append(wrong, api.FieldProblem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	if o.Backend != ruleset.NFTables && o.Backend != ruleset.IPTables {
		add("backend", "%q is not a firewall; use nftables or iptables", o.Backend)
	}
	if o.Policy != "accept" && o.Policy != "drop" {
		add("policy", "%q is not a policy; use accept or drop", o.Policy)
	}
	if o.Rules.Generate < 0 || o.Rules.Generate > most {
		add("rules.generate", "%d rules cannot be generated; use 0 to %d", o.Rules.Generate, most)
	}
	for i, r := range o.Rules.List {
		at := fmt.Sprintf("rules.list[%d]", i)
		if r.Action != "accept" && r.Action != "drop" {
			add(at+".action", "%q is not an action; use accept or drop", r.Action)
		}
		if !function.Plain(r.Comment) {
			add(at+".comment", "a comment is at most 100 letters, digits, spaces and . , : _ - /")
		}
		for _, p := range r.Match.Validate() {
			add(at+"."+p.Path, "%s", p.Message)
		}
	}
	return wrong
}

// Kind is the firewall function.
type Kind struct{}

// Name implements function.Kind.
func (Kind) Name() string { return "firewall" }

// Options implements function.Kind.
func (Kind) Options() any { return &Options{Backend: ruleset.NFTables, Policy: "accept"} }

// Requires implements function.Kind.
func (Kind) Requires(options any) []string {
	o := options.(*Options)
	if o.Backend == ruleset.IPTables {
		if o.Rules.Stateful && o.Rules.Generate > 0 {
			return []string{"iptables", "iptables.connbytes"}
		}
		return []string{"iptables"}
	}
	if o.stateful() {
		return []string{"nftables", "nft.connbytes"}
	}
	return []string{"nftables"}
}

func (o *Options) stateful() bool { return o.Rules.Stateful && o.Rules.Generate > 0 }

// Contribute implements function.Kind.
func (Kind) Contribute(site function.Site, options any) ([]resource.Resource, error) {
	spec := Ruleset(site, options.(*Options))
	return []resource.Resource{resource.New(site.Namespace, spec, site.Needs...)}, nil
}

// Ruleset is the rule set of a firewall at a site; its counters are read by it.
func Ruleset(site function.Site, o *Options) ruleset.Spec {
	spec := ruleset.Spec{
		Backend: o.Backend, Table: ruleset.TablePrefix + "-firewall", Hook: "forward", Policy: o.Policy,
		Rules: generated(o.Rules),
	}
	if o.Backend == ruleset.IPTables {
		spec.Table = ruleset.TablePrefix
	}
	for _, r := range o.Rules.List {
		spec.Rules = append(spec.Rules, ruleset.Rule{Match: r.Match.Compile(), Verdict: r.Action, Counted: true, Comment: r.Comment})
	}
	if in := site.In(); in != "" {
		for i := range spec.Rules {
			spec.Rules[i].InputDevice = in
		}
		// The other direction passes, whatever the policy.
		other := map[string]string{site.West: site.East, site.East: site.West}[in]
		spec.Rules = append([]ruleset.Rule{{Match: ruleset.Match{InputDevice: other}, Verdict: "accept"}}, spec.Rules...)
	}
	return spec
}
