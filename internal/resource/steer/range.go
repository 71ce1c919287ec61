package steer

import (
	"net/netip"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// Range is flows of which not all is known: addresses and ports may be any of several.
type Range struct {
	Source, Destination           netip.Prefix
	Protocol                      uint8
	SourcePorts                   api.PortRange
	DestinationPorts              api.PortRange
	FirstCodePoint, LastCodePoint uint8
	VLAN                          uint16
	From                          int
}

// turned is what the first packets of these flows answer, where they may be answers.
func (f Range) turned() Range {
	f.Source, f.Destination = f.Destination, f.Source
	f.SourcePorts, f.DestinationPorts = f.DestinationPorts, f.SourcePorts
	f.From = otherEnd(f.From)
	return f
}

// relation of a rule to flows: none meets it, some do, or all.
type relation int

const (
	none relation = iota
	some
	all
)

// meets tells how many flows of a range meet a rule.
func (r Rule) meets(f Range) relation {
	least := all
	for _, one := range []relation{
		covers(r.Sources, func(p netip.Prefix) relation { return within(p, f.Source) }),
		covers(r.Destinations, func(p netip.Prefix) relation { return within(p, f.Destination) }),
		covers(r.SourcePorts, func(p api.PortRange) relation { return spans(p.First, p.Last, f.SourcePorts.First, f.SourcePorts.Last) }),
		covers(r.DestinationPorts, func(p api.PortRange) relation {
			return spans(p.First, p.Last, f.DestinationPorts.First, f.DestinationPorts.Last)
		}),
		covers(r.CodePoints, func(c uint8) relation { return spans(c, c, f.FirstCodePoint, f.LastCodePoint) }),
	} {
		least = min(least, one)
	}
	rest := Rule{Protocol: r.Protocol, VLANs: r.VLANs, From: r.From}
	if !rest.Matches(First{Source: f.Source.Addr(), Protocol: f.Protocol, VLAN: f.VLAN, From: f.From}) {
		return none
	}
	return least
}

// covers is how many of a range fit one of several values; all, where there is none to fit.
func covers[T any](values []T, one func(T) relation) relation {
	if len(values) == 0 {
		return all
	}
	most := none
	for _, v := range values {
		most = max(most, one(v))
	}
	return most
}

// within is how many addresses of the second prefix are in the first.
func within(p, of netip.Prefix) relation {
	switch {
	case !p.Overlaps(of):
		return none
	case p.Bits() <= of.Bits():
		return all
	}
	return some
}

// spans is how many numbers of the second range are in the first.
func spans[T uint8 | uint16](first, last, from, to T) relation {
	switch {
	case last < from || first > to:
		return none
	case first <= from && to <= last:
		return all
	}
	return some
}

// Taken are the paths that flows of a range may be given; drops tells whether some end where they come in.
func (c Choice) Taken(f Range) (paths []string, drops bool) {
	add := func(path string) {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	asked := []Range{f}
	if api.ProtocolOf(f.Protocol) != "tcp" {
		asked = append(asked, f.turned())
	}
	for _, f := range asked {
		for _, r := range c.Rules {
			how := r.meets(f)
			if how != none {
				add(r.Path)
			}
			if how == all {
				return paths, false
			}
		}
	}
	if !c.Drop {
		add(c.Otherwise)
	}
	return paths, c.Drop
}
