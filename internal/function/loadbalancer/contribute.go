package loadbalancer

import (
	"errors"
	"net/netip"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// Kind is the loadbalancer function.
type Kind struct{}

// Name implements function.Kind.
func (Kind) Name() string { return "loadbalancer" }

// Options implements function.Kind.
func (Kind) Options() any { return &Options{By: roundRobin} }

// Shows implements function.Kind.
func (Kind) Shows() function.Shown {
	return function.Shown{Does: "shares connections out over several addresses, by turns or by hash", Example: `{by: hash}`}
}

// Requires implements function.Kind.
func (Kind) Requires(any) []string { return []string{feature.NFTables, feature.NFTNAT} }

// priority is where netfilter translates destinations.
const priority = -100

// Contribute implements function.Kind.
func (Kind) Contribute(site function.Site, options any) ([]resource.Resource, error) {
	o := options.(*Options)
	in, out := site.Opens()
	if in.Device == "" || out.Device == "" {
		return nil, errors.New("a loadbalancer has addresses of its chain, so it cannot stand alone")
	}
	t := Kind{}.Translates(site, o)
	if len(t.Service) == 0 {
		return nil, errors.New("none of the back ends is of the family of an address that they are reached at")
	}
	spec := function.Translating(site.Table("loadbalancer"), "prerouting", priority)
	for _, service := range t.Service {
		spec.Rules = append(spec.Rules, o.share(in.Device, service, function.AllOfFamily(service, t.Served))...)
	}
	return []resource.Resource{resource.New(site.Namespace, spec, site.Needs...)}, nil
}

// Acts implements function.Grouped: answers leave from the address that was asked.
func (Kind) Acts(answers bool, _ any) function.Span {
	if answers {
		return function.Span{First: function.Leaving, Last: function.Leaving}
	}
	return function.Span{First: function.Arriving, Last: function.Arriving}
}

// OnOneArm implements function.OneArmed: connections are told by where they go to.
func (Kind) OnOneArm(function.Site, any) error { return nil }

// Steps implements function.Inline.
func (k Kind) Steps(options any) (function.Steps, error) {
	return function.TranslatingInline(k, options, options.(*Options).By == hash), nil
}

// share has one rule a back end, each of which counts its connections.
func (o *Options) share(device string, service netip.Addr, backends []netip.Addr) []ruleset.Rule {
	family := 4
	if service.Is6() {
		family = 6
	}
	var rules []ruleset.Rule
	for i, to := range backends {
		r := ruleset.Rule{
			Match: ruleset.Match{Family: family, InputDevice: device, Destination: netip.PrefixFrom(service, service.BitLen()),
				Protocol: o.Protocol, DestinationPorts: o.ports()},
			Counted: true, Comment: "to " + to.String(), Translate: &ruleset.Translation{Kind: ruleset.Destination, Address: to},
		}
		// By turns: of what the rules before left, one in as many as there are still.
		switch left := uint32(len(backends) - i); {
		case left == 1: // the last takes the rest
		case o.By == hash:
			r.Share = ruleset.Share{Part: uint32(i), Of: uint32(len(backends))}
		default:
			r.OneIn = left
		}
		rules = append(rules, r)
	}
	return rules
}

// Translates implements function.Translator.
func (Kind) Translates(site function.Site, options any) function.Translation {
	o := options.(*Options)
	in, _ := site.Opens()
	t := function.Translation{Protocol: o.Protocol, Ports: o.ports()}
	services, backends := o.Addresses.Parse(), o.Backends.Parse()
	if len(services) == 0 {
		services = in.Addresses
	}
	if len(backends) == 0 {
		backends = append(append(backends, site.Target...), site.Further...)
	}
	for _, service := range services {
		if some := function.AllOfFamily(service, backends); len(some) > 0 {
			t.Service, t.Served = append(t.Service, service), append(t.Served, some...)
		}
	}
	return t
}
