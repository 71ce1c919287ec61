// Package firewall is the packet filter: rules a user gives, or a number of
// generated ones that match nothing, as Livi et al. §IV-C1 measure with.
package firewall

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// Options of a firewall.
type Options struct {
	// Backend is nftables (default) or iptables.
	Backend string `json:"backend,omitempty" jsonschema:"enum=nftables,enum=iptables"`
	// Policy for packets that no rule decides: accept (default) or drop.
	Policy string `json:"policy,omitempty" jsonschema:"enum=accept,enum=drop"`
	// Hooks where the rules apply: forward to packets on their way through, input
	// to those for the namespace itself. Default: forward, or input at an end of
	// the chain.
	Hooks []string `json:"hooks,omitempty" jsonschema:"enum=input,enum=forward"`
	// Rules that packets are held to.
	Rules Rules `json:"rules,omitempty"`
}

//go:embed firewall.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

// Rules are generated ones first, then those given, so that the generated ones
// cost every packet.
type Rules struct {
	// Generate is the number of rules to make that match nothing.
	Generate int `json:"generate,omitempty"`
	// Total is that number for the whole chain, of a firewall that is everywhere:
	// split evenly over the namespaces where it is.
	Total int `json:"total,omitempty"`
	// Stateful rules test the connection's byte count (connbytes); stateless
	// ones an address that nobody uses. Both match nothing.
	Stateful bool `json:"stateful,omitempty"`
	// List of rules, asked in this order.
	List []Rule `json:"list,omitempty"`
}

// Rule is one rule of the user's.
type Rule struct {
	function.Match
	// Action is accept or drop.
	Action string `json:"action" jsonschema:"required,enum=accept,enum=drop"`
	// Comment stands with the rule in the kernel.
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
	o.checkHooks(add)
	o.Rules.checkNumbers(add)
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

func (o *Options) checkHooks(add func(path, format string, args ...any)) {
	for i, hook := range o.Hooks {
		at := fmt.Sprintf("hooks[%d]", i)
		if !slices.Contains(hooks, hook) {
			add(at, "%q is not a hook of a firewall; use input or forward", hook)
		} else if slices.Contains(o.Hooks[:i], hook) {
			add(at, "%s is already among the hooks", hook)
		}
	}
}

// hooks in the order in which a rule set has them.
var hooks = []string{"input", "forward"}

func (r Rules) checkNumbers(add func(path, format string, args ...any)) {
	for field, n := range map[string]int{"generate": r.Generate, "total": r.Total} {
		if n < 0 || n > most {
			add("rules."+field, "%d rules cannot be generated; use 0 to %d", n, most)
		}
	}
	if r.Generate != 0 && r.Total != 0 {
		add("rules.total", "is given beside generate; only one of them can be")
	}
}

// Kind is the firewall function.
type Kind struct{}

// Name implements function.Kind.
func (Kind) Name() string { return "firewall" }

// Options implements function.Kind.
func (Kind) Options() any { return &Options{Backend: ruleset.NFTables, Policy: "accept"} }

// Shows implements function.Kind.
func (Kind) Shows() function.Shown {
	return function.Shown{
		Does:    "filters with nftables or iptables",
		Example: `{policy: drop, rules: {list: [{protocol: tcp, destination_port: 443, action: accept}]}}`,
	}
}

// Requires implements function.Kind.
func (Kind) Requires(options any) []string {
	o := options.(*Options)
	if o.Backend == ruleset.IPTables {
		if o.stateful() {
			return []string{"iptables", "iptables.connbytes"}
		}
		return []string{"iptables"}
	}
	if o.stateful() {
		return []string{"nftables", "nft.connbytes"}
	}
	return []string{"nftables"}
}

func (o *Options) stateful() bool { return o.Rules.Stateful && o.Rules.Generate+o.Rules.Total > 0 }

// Accompanies implements function.Companion.
func (Kind) Accompanies() {}

// Acts implements function.Grouped. The chain that iptables has is one.
func (Kind) Acts(_ bool, options any) function.Span {
	return function.Span{First: function.Passing, Last: function.Passing, Ordered: options.(*Options).Backend == ruleset.NFTables}
}

// OnOneArm implements function.OneArmed.
func (Kind) OnOneArm(site function.Site, _ any) error { return function.OneWay(site) }

// Shares implements function.Shareable.
func (Kind) Shares(options any) string {
	o := options.(*Options)
	return function.SharedUnless(o.stateful(), o.Rules.matches()...)
}

// NeedsAnswers implements api.Answered.
func (o *Options) NeedsAnswers() string {
	return function.AnsweredIf(function.Tracks(o.stateful(), o.Rules.matches()...))
}

// matches of the rules that are given.
func (r Rules) matches() []function.Match {
	matches := make([]function.Match, 0, len(r.List))
	for _, rule := range r.List {
		matches = append(matches, rule.Match)
	}
	return matches
}

// Contribute implements function.Kind.
func (Kind) Contribute(site function.Site, options any) ([]resource.Resource, error) {
	o := options.(*Options)
	if o.Rules.Total > 0 && site.Parts == 0 {
		return nil, errors.New("rules.total is split over namespaces, and this firewall has one; put it under everywhere, or use rules.generate")
	}
	if site.Idle() {
		return nil, nil
	}
	spec := Ruleset(site, o)
	return []resource.Resource{resource.New(site.Namespace, spec, site.Needs...)}, nil
}

// Ruleset is the rule set of a firewall at a site; its counters are read by it.
func Ruleset(site function.Site, o *Options) ruleset.Spec {
	at := o.at(site)
	spec := ruleset.Spec{
		Backend: o.Backend, Table: site.Table("firewall"), Hook: at[0], AlsoHooks: at[1:], Priority: site.Order, Policy: o.Policy,
		Rules: o.Rules.all(site),
	}
	if o.Backend == ruleset.IPTables {
		spec.Table = ruleset.TablePrefix
	}
	// What the firewall does not act on passes, whatever the policy.
	pass := slices.Clone(site.Aside)
	if in := site.In(); in != "" {
		for i := range spec.Rules {
			spec.Rules[i].InputDevice = in
		}
		pass = append(pass, map[string]string{site.West: site.East, site.East: site.West}[in])
	}
	for _, device := range pass {
		if device != "" {
			spec.Rules = slices.Insert(spec.Rules, 0, ruleset.Rule{Match: ruleset.Match{InputDevice: device}, Verdict: "accept"})
		}
	}
	return spec
}

// all rules that there are at a site, in order.
func (r Rules) all(site function.Site) []ruleset.Rule {
	all := generated(r, site)
	for _, rule := range r.List {
		all = append(all, ruleset.Rule{Match: rule.Match.Compile(), Verdict: rule.Action, Counted: true, Comment: rule.Comment})
	}
	return all
}

// connections that a firewall without a namespace remembers at once.
const connections = 65_536

// Steps implements function.Inline.
func (Kind) Steps(options any) (function.Steps, error) {
	o := options.(*Options)
	switch {
	case o.Backend != ruleset.NFTables:
		return function.Steps{}, fmt.Errorf("%s has its rules in a namespace; leave backend out", o.Backend)
	case slices.Contains(o.Hooks, "input"):
		return function.Steps{}, errors.New("without a namespace there are no packets for it itself; leave hook input out")
	case o.Rules.Total > 0:
		return function.Steps{}, errors.New("rules.total is split over namespaces; use rules.generate")
	}
	return function.Steps{
		Step:     func(int) pass.Step { return pass.NewRules(0) },
		Firewall: &pass.Firewall{Policy: o.Policy, Rules: o.Rules.all(function.Site{})}, Connections: connections,
	}, nil
}

// at are the hooks, in order.
func (o *Options) at(site function.Site) []string {
	switch {
	case len(o.Hooks) > 0:
		return slices.DeleteFunc(slices.Clone(hooks), func(hook string) bool { return !slices.Contains(o.Hooks, hook) })
	case site.End:
		return []string{"input"}
	}
	return []string{"forward"}
}
