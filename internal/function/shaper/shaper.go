// Package shaper limits the rate of traffic with a queueing discipline on the
// interfaces by which it leaves.
package shaper

import (
	_ "embed"
	"fmt"
	"math"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/qdisc"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// Options of a shaper.
type Options struct {
	// Discipline is htb (default) or tbf.
	Discipline string `json:"discipline,omitempty" jsonschema:"enum=htb,enum=tbf"`
	// Rate of all traffic in one direction, at most 1 Tbit.
	Rate api.Rate `json:"rate" jsonschema:"required"`
	// Burst may leave at once: a size, or max for the largest that the kernel takes,
	// 274 s at the rate with htb and 4.29 s with tbf. Default: 1 ms at the rate, at
	// least 128 KiB, which is two segments as large as the kernel makes them.
	Burst Burst `json:"burst,omitempty"`
	// Latency is the longest a packet waits in a tbf's queue. Default 50ms.
	Latency api.Duration `json:"latency,omitempty"`
	// Classes share the rate (htb only). What none of them matches shares what
	// they leave.
	Classes []Class `json:"classes,omitempty"`
}

//go:embed shaper.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

// Class is a part of the traffic with a rate of its own.
type Class struct {
	// Name of the class.
	Name string `json:"name" jsonschema:"required"`
	// Rate the class always gets; Ceil is what it may borrow up to (default: the
	// shaper's rate).
	Rate api.Rate `json:"rate" jsonschema:"required"`
	Ceil api.Rate `json:"ceil,omitempty"`
	// Burst as for the shaper.
	Burst Burst `json:"burst,omitempty"`
	// Priority among classes that want to borrow: 0 (first) to 7.
	Priority int `json:"priority,omitempty"`
	// Match says which packets are of the class.
	Match function.Match `json:"match" jsonschema:"required"`
}

const (
	maxRate = api.Rate(1e12)
	minRate = api.Rate(8000)
)

// Validate implements the catalogue's check of options.
func (o *Options) Validate() []api.FieldProblem {
	var wrong []api.FieldProblem
	add := func(path, format string, args ...any) {
		wrong = append(wrong, api.FieldProblem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	if o.Discipline != qdisc.HTB && o.Discipline != qdisc.TBF {
		add("discipline", "%q is not a queueing discipline; use htb or tbf", o.Discipline)
	}
	if o.Rate < minRate || o.Rate > maxRate {
		add("rate", "a shaper's rate is between 8kbit and 1Tbit")
	}
	o.checkBurst(add, "burst", o.Burst, o.Rate)
	if o.Discipline == qdisc.TBF && len(o.Classes) > 0 {
		add("classes", "tbf has no classes; use discipline: htb")
	}
	if len(o.Classes) > maxClasses {
		add("classes", "at most %d classes", maxClasses)
	}
	names := map[string]bool{}
	for i, c := range o.Classes {
		at := fmt.Sprintf("classes[%d]", i)
		if c.Name == "" || !function.Plain(c.Name) {
			add(at+".name", "a class's name is 1 to 100 letters, digits, spaces and . , : _ - /")
		}
		if names[c.Name] {
			add(at+".name", "there is another class %q", c.Name)
		}
		names[c.Name] = true
		if c.Rate < minRate || c.Rate > o.Rate {
			add(at+".rate", "a class's rate is between 8kbit and the shaper's")
		}
		if c.Ceil != 0 && (c.Ceil < c.Rate || c.Ceil > o.Rate) {
			add(at+".ceil", "a ceiling is between the class's rate and the shaper's")
		}
		o.checkBurst(add, at+".burst", c.Burst, c.Rate)
		if c.Priority < 0 || c.Priority > 7 {
			add(at+".priority", "a priority is 0 to 7")
		}
		for _, p := range c.Match.Validate() {
			add(at+".match."+p.Path, "%s", p.Message)
		}
	}
	return wrong
}

// maxClasses keeps minor numbers clear of the root and default classes.
const maxClasses = 1000

// Kind is the shaper function.
type Kind struct{}

// Name implements function.Kind.
func (Kind) Name() string { return "shaper" }

// Options implements function.Kind.
func (Kind) Options() any { return &Options{Discipline: qdisc.HTB, Latency: api.Duration(50e6)} }

// Shows implements function.Kind.
func (Kind) Shows() function.Shown {
	return function.Shown{Does: "limits rates with HTB or TBF", Example: `{rate: 1Gbit}`}
}

// Requires implements function.Kind.
func (Kind) Requires(options any) []string {
	o := options.(*Options)
	features := []string{"qdisc." + o.Discipline}
	if len(o.Classes) > 0 {
		features = append(features, "nftables")
	}
	return features
}

// Accompanies implements function.Companion.
func (Kind) Accompanies() {}

// Acts implements function.Grouped. Classes are told before sources are translated.
func (Kind) Acts(_ bool, options any) function.Span {
	s := function.Span{First: function.Queueing, Last: function.Queueing}
	if len(options.(*Options).Classes) > 0 {
		s.First = function.Classing
	}
	return s
}

// Shares implements function.Shareable. Each tenant has its interfaces, and so its rate.
func (Kind) Shares(options any) string {
	return function.SharedUnless(false, options.(*Options).matches()...)
}

// NeedsAnswers implements api.Answered.
func (o *Options) NeedsAnswers() string {
	return function.AnsweredIf(function.Tracks(false, o.matches()...))
}

// matches of the classes.
func (o *Options) matches() []function.Match {
	matches := make([]function.Match, 0, len(o.Classes))
	for _, c := range o.Classes {
		matches = append(matches, c.Match)
	}
	return matches
}

// Contribute implements function.Kind. One that stands alone has no interfaces of its
// own, and classifies for those that chains bring.
func (Kind) Contribute(site function.Site, options any) ([]resource.Resource, error) {
	o := options.(*Options)
	var out []resource.Resource
	for _, device := range site.Out() {
		out = append(out, resource.New(site.Namespace, discipline(device, o), site.Needs...))
	}
	if len(o.Classes) > 0 && (len(out) > 0 || site.Beside == "") {
		out = append(out, resource.New(site.Namespace, classifier(site, o), site.Needs...))
	}
	return out, nil
}

// The minor numbers: the root class holds the rate, the default class what no
// match directs, and the user's classes follow.
const (
	rootMinor    = 1
	defaultMinor = 2
	firstMinor   = 16
)

func discipline(device string, o *Options) qdisc.Spec {
	rate := uint64(o.Rate)
	s := qdisc.Spec{Device: device, Discipline: o.Discipline}
	root := qdisc.Class{Minor: rootMinor, RateBps: rate, CeilBps: rate, BurstBytes: o.burst(o.Burst, o.Rate)}
	if o.Discipline == qdisc.TBF {
		queue := float64(rate) / 8 * float64(o.Latency) / 1e9
		root.LimitBytes = uint32(min(float64(root.BurstBytes)+queue, math.MaxUint32))
		s.Classes = []qdisc.Class{root}
		return s
	}
	root.CeilBurstBytes = root.BurstBytes
	s.Default = rootMinor
	s.Classes = []qdisc.Class{root}
	if len(o.Classes) == 0 {
		return s
	}
	s.Default = defaultMinor
	s.Classes = append(s.Classes, qdisc.Class{
		Minor: defaultMinor, Parent: rootMinor, RateBps: uint64(minRate), CeilBps: rate,
		BurstBytes: o.burst("", minRate), CeilBurstBytes: o.burst("", o.Rate), Priority: 7,
	})
	for i, c := range o.Classes {
		ceil := c.Ceil
		if ceil == 0 {
			ceil = o.Rate
		}
		s.Classes = append(s.Classes, qdisc.Class{
			Minor: uint16(firstMinor + i), Parent: rootMinor, RateBps: uint64(c.Rate), CeilBps: uint64(ceil),
			BurstBytes: o.burst(c.Burst, c.Rate), CeilBurstBytes: o.burst(c.Burst, ceil), Priority: uint32(c.Priority),
		})
	}
	return s
}

// classifier directs packets to classes by setting their priority, which HTB
// takes for a class when its upper half is the discipline's handle.
func classifier(site function.Site, o *Options) ruleset.Spec {
	s := ruleset.Spec{Backend: ruleset.NFTables, Table: site.Table("shaper"), Hook: "postrouting", Priority: -150, Policy: "accept"}
	for i, c := range o.Classes {
		match := c.Match.Compile()
		if out := site.Out(); len(out) == 1 && site.In() != "" {
			match.OutputDevice = out[0]
		}
		s.Rules = append(s.Rules, ruleset.Rule{
			Match: match, Class: qdisc.Major<<16 | uint32(firstMinor+i), Counted: true, Verdict: "accept", Comment: c.Name,
		})
	}
	return s
}
