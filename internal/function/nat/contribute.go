package nat

import (
	"errors"
	"net/netip"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// Kind is the nat function.
type Kind struct{}

// Name implements function.Kind.
func (Kind) Name() string { return "nat" }

// Options implements function.Kind.
func (Kind) Options() any { return &Options{} }

// Shows implements function.Kind.
func (Kind) Shows() function.Shown {
	return function.Shown{Does: "translates where connections come from or go to", Example: `{source: {masquerade: true}}`}
}

// Requires implements function.Kind.
func (Kind) Requires(any) []string { return []string{feature.NFTables, feature.NFTNAT} }

// Where netfilter translates: destinations before and sources after routing.
const (
	destinationPriority = -100
	sourcePriority      = 100
)

// Contribute implements function.Kind.
func (Kind) Contribute(site function.Site, options any) ([]resource.Resource, error) {
	o := options.(*Options)
	in, out := site.Opens()
	if in.Device == "" || out.Device == "" {
		return nil, errors.New("a nat translates to addresses of its chain, so it cannot stand alone")
	}
	var made []resource.Resource
	if o.Destination != nil {
		made = append(made, resource.New(site.Namespace, o.inbound(site), site.Needs...))
	}
	if o.Source != nil {
		made = append(made, resource.New(site.Namespace, o.outbound(site), site.Needs...))
	}
	return made, nil
}

// Acts implements function.Grouped. Answers are translated back where they would have
// been translated had they come first.
func (Kind) Acts(answers bool, options any) function.Span {
	o := options.(*Options)
	s := function.Span{First: function.Arriving, Last: function.Leaving}
	switch one := o.Source == nil || o.Destination == nil; {
	case one && (o.Source == nil) != answers:
		s.Last = function.Arriving
	case one:
		s.First = function.Leaving
	}
	return s
}

// OnOneArm implements function.OneArmed: destinations are told by their address, and
// connections that leave to one side, which get another source, by the interface.
func (Kind) OnOneArm(_ function.Site, options any) error {
	if options.(*Options).Source != nil {
		return errors.New("source: is for connections that leave by one interface, not for those that leave by the other")
	}
	return nil
}

// Steps implements function.Inline. There is no interface whose address could become another, so that
// masquerading gives connections the function's own.
func (k Kind) Steps(options any) (function.Steps, error) {
	return function.TranslatingInline(k, options, false), nil
}

func (o *Options) inbound(site function.Site) ruleset.Spec {
	spec := function.Translating(site.Table("nat-destination"), "prerouting", destinationPriority)
	in, _ := site.Opens()
	d, t := o.Destination, Kind{}.Translates(site, o)
	for _, service := range t.Service {
		to, _ := function.OfFamily(service, t.Served)
		spec.Rules = append(spec.Rules, ruleset.Rule{
			Match: ruleset.Match{InputDevice: in.Device, Destination: netip.PrefixFrom(service, service.BitLen()),
				Protocol: d.Protocol, DestinationPorts: d.ports()},
			Counted: true, Comment: "to " + to.String(), Translate: &ruleset.Translation{Kind: ruleset.Destination, Address: to, Port: uint16(d.ToPort)},
		})
	}
	return spec
}

func (o *Options) outbound(site function.Site) ruleset.Spec {
	spec := function.Translating(site.Table("nat-source"), "postrouting", sourcePriority)
	_, out := site.Opens()
	if o.Source.Masquerade {
		spec.Rules = []ruleset.Rule{{Match: ruleset.Match{OutputDevice: out.Device}, Counted: true, Comment: "masquerade",
			Translate: &ruleset.Translation{Kind: ruleset.Masquerade}}}
		return spec
	}
	for _, from := range (Kind{}).Translates(site, o).Source {
		family := 4
		if from.Is6() {
			family = 6
		}
		spec.Rules = append(spec.Rules, ruleset.Rule{Match: ruleset.Match{OutputDevice: out.Device, Family: family}, Counted: true,
			Comment: "from " + from.String(), Translate: &ruleset.Translation{Kind: ruleset.Source, Address: from}})
	}
	return spec
}

// Translates implements function.Translator.
func (Kind) Translates(site function.Site, options any) function.Translation {
	o := options.(*Options)
	in, out := site.Opens()
	var t function.Translation
	if o.Source != nil {
		t.Source = given(o.Source.Addresses, out.Addresses)
	}
	d := o.Destination
	if d == nil {
		return t
	}
	to := given(d.To, site.Target)
	for _, service := range given(d.Addresses, in.Addresses) {
		if end, there := function.OfFamily(service, to); there {
			t.Service, t.Served = append(t.Service, service), append(t.Served, end)
		}
	}
	t.Protocol, t.Ports, t.ToPort = d.Protocol, d.ports(), uint16(d.ToPort)
	return t
}

// given addresses, or the default where there are none.
func given(list function.Addresses, instead []netip.Addr) []netip.Addr {
	if len(list) == 0 {
		return instead
	}
	return list.Parse()
}
