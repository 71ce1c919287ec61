package v1alpha1

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Classifier says which of several paths packets take (RFC 7665). The first packet of a flow is held
// to rules where it enters the chain; the others, and the answers, take the same path. A wiring that
// does not steer refuses it.
type Classifier struct {
	// Rules, of which the first that matches says the path: those of higher priority come first, and
	// among equals those that are written first.
	Rules []PathRule `json:"rules,omitempty"`
	// Otherwise is what becomes of flows that no rule matches, and of packets that are not IP: direct
	// (default) leads them from end to end past all functions, chain through all of them, and drop
	// ends them.
	Otherwise string `json:"otherwise,omitempty" jsonschema:"enum=direct,enum=chain,enum=drop"`
}

// PathRule gives flows a path.
type PathRule struct {
	// Name of the rule, which its counters are shown by.
	Name string `json:"name" jsonschema:"required"`
	// Priority of the rule, 0 unless told: higher ones come first.
	Priority int `json:"priority,omitempty"`
	// Match is what the first packet of a flow must be like. Default: any IP packet matches.
	Match FlowMatch `json:"match,omitzero"`
	// Functions that the path goes by, some of the chain's in any order, those of a group together; [] is
	// the direct way from end to end. A path by a function that translates addresses has the chain's order.
	Functions []string `json:"functions" jsonschema:"required"`
	// Symmetric is false for a path that is one-way: what goes from the second endpoint to the first goes
	// straight. Default: it visits those of the path's functions that are visited both ways.
	Symmetric *bool `json:"symmetric,omitempty"`
}

// FlowMatch selects flows by their first packet. Absent fields select everything, and several values
// are separated by commas.
type FlowMatch struct {
	// Source and Destination are addresses or prefixes, IPv4 or IPv6.
	Source      Prefixes `json:"source,omitempty"`
	Destination Prefixes `json:"destination,omitempty"`
	// Protocol is tcp, udp, sctp, dccp, udplite, icmp, icmpv6, gre, esp, ah, or a number from 1 to 255. Of
	// IPv6 it is the one behind the extension headers.
	Protocol Protocol `json:"protocol,omitempty"`
	// SourcePort and DestinationPort are ports or inclusive ranges of them, as 80,8000-8080, of tcp, udp,
	// sctp, dccp or udplite. Fragments have no ports.
	SourcePort      PortRanges `json:"source_port,omitempty"`
	DestinationPort PortRanges `json:"destination_port,omitempty"`
	// DSCP are code points of differentiated services, 0 to 63 or by name: ef, cs0 to cs7, af11 to af43.
	DSCP CodePoints `json:"dscp,omitempty"`
	// VLAN are the identifiers of the outermost tag, 0 to 4094 or ranges of them; none is no tag.
	VLAN VLANs `json:"vlan,omitempty"`
	// Ingress is the end that the flow begins at, by its name. Default: either.
	Ingress string `json:"ingress,omitempty"`
}

// What becomes of flows that no rule of a classifier matches.
const (
	OtherwiseDirect = "direct"
	OtherwiseChain  = "chain"
	OtherwiseDrop   = "drop"
)

// OneWay tells that packets go straight back, whatever the path's functions say.
func (r PathRule) OneWay() bool { return r.Symmetric != nil && !*r.Symmetric }

// Rest is what becomes of flows that no rule matches, with the default put in.
func (c Classifier) Rest() string { return cmp.Or(c.Otherwise, OtherwiseDirect) }

// Ordered are the rules in the order in which they are asked.
func (c Classifier) Ordered() []PathRule {
	all := slices.Clone(c.Rules)
	slices.SortStableFunc(all, func(a, b PathRule) int { return cmp.Compare(b.Priority, a.Priority) })
	return all
}

// Prefixes are addresses and prefixes, separated by commas.
type Prefixes string

// UnmarshalText implements encoding.TextUnmarshaler. What is wrong is found when the chain is checked.
func (p *Prefixes) UnmarshalText(text []byte) error {
	*p = Prefixes(text)
	return nil
}

// Parse gives each of them.
func (p Prefixes) Parse() ([]netip.Prefix, error) { return parts(string(p), ParsePrefix) }

// PortRange is a port, or several in a row.
type PortRange struct{ First, Last uint16 }

// PortRanges are ports and ranges of them, separated by commas.
type PortRanges string

// UnmarshalText implements encoding.TextUnmarshaler. What is wrong is found when the chain is checked.
func (p *PortRanges) UnmarshalText(text []byte) error {
	*p = PortRanges(text)
	return nil
}

// Parse gives each of them.
func (p PortRanges) Parse() ([]PortRange, error) {
	return parts(string(p), func(text string) (PortRange, error) {
		first, last, err := ParsePorts(text)
		return PortRange{first, last}, err
	})
}

// CodePoints are code points of differentiated services, separated by commas.
type CodePoints string

// UnmarshalText implements encoding.TextUnmarshaler. What is wrong is found when the chain is checked.
func (c *CodePoints) UnmarshalText(text []byte) error {
	*c = CodePoints(text)
	return nil
}

// Parse gives each of them.
func (c CodePoints) Parse() ([]uint8, error) { return parts(string(c), ParseCodePoint) }

// VLANs are identifiers of VLANs and ranges of them, or none, separated by commas.
type VLANs string

// UnmarshalText implements encoding.TextUnmarshaler. What is wrong is found when the chain is checked.
func (v *VLANs) UnmarshalText(text []byte) error {
	*v = VLANs(text)
	return nil
}

// Untagged stands for what has no tag where VLANs have their identifiers.
const Untagged = 4096

// VLANRange is an identifier, or several in a row.
type VLANRange struct{ First, Last uint16 }

// Parse gives each of them.
func (v VLANs) Parse() ([]VLANRange, error) {
	const last = 4094 // IEEE 802.1Q table 9-2 keeps the one behind for itself
	return parts(string(v), func(text string) (VLANRange, error) {
		if text == None {
			return VLANRange{Untagged, Untagged}, nil
		}
		low, high, err := numbers(text, 0, last, fmt.Sprintf("is not a VLAN; write 10 or 20-30, between 0 and %d, or none", last))
		return VLANRange{low, high}, err
	})
}

// parts of a text, separated by commas; none of an empty one.
func parts[T any](text string, parse func(string) (T, error)) (all []T, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		value, err := parse(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	return all, nil
}
