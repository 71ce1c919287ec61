package steer

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// Rule gives flows a path by their first packet. Absent fields match everything.
type Rule struct {
	Name string `json:"name"`
	// Path that it gives.
	Path             string          `json:"path"`
	Sources          []netip.Prefix  `json:"sources,omitempty"`
	Destinations     []netip.Prefix  `json:"destinations,omitempty"`
	Protocol         api.Protocol    `json:"protocol,omitempty"`
	SourcePorts      []api.PortRange `json:"source_ports,omitempty"`
	DestinationPorts []api.PortRange `json:"destination_ports,omitempty"`
	CodePoints       []uint8         `json:"code_points,omitempty"`
	VLANs            []api.VLANRange `json:"vlans,omitempty"`
	// From is the end where the flow begins, FirstEnd or SecondEnd; 0 is either.
	From int `json:"from,omitempty"`
}

// The ends of a chain, where flows begin.
const (
	FirstEnd  = 1
	SecondEnd = 2
)

// First is what rules ask of the first packet of a flow.
type First struct {
	Source, Destination netip.Addr
	Protocol            uint8
	// SourcePort and DestinationPort are 0 where the packet has none.
	SourcePort, DestinationPort uint16
	CodePoint                   uint8
	// VLAN is its identifier, or [api.Untagged].
	VLAN uint16
	From int
	// Opens tells that it can be no answer: it is a TCP's that asks for a connection. Others meet rules as
	// answers, too, if they meet none as they are: to what was forgotten, or not seen.
	Opens bool
}

// turned is what a packet answers.
func (f First) turned() First {
	f.Source, f.Destination = f.Destination, f.Source
	f.SourcePort, f.DestinationPort = f.DestinationPort, f.SourcePort
	f.From = otherEnd(f.From)
	return f
}

func otherEnd(end int) int { return FirstEnd + SecondEnd - end }

// is tells whether a packet is of a protocol; "" is any.
func (f First) is(p api.Protocol) bool {
	if p == "" {
		return true
	}
	n, err := p.Number()
	version := p.Version()
	return err == nil && n == f.Protocol && (version == 0 || (version == 4) == f.Source.Is4())
}

// Matches tells whether a rule is met. It is what the table in the kernel is held to.
func (r Rule) Matches(f First) bool {
	return anyOr(r.Sources, func(p netip.Prefix) bool { return p.Contains(f.Source) }) &&
		anyOr(r.Destinations, func(p netip.Prefix) bool { return p.Contains(f.Destination) }) &&
		f.is(r.Protocol) &&
		anyOr(r.SourcePorts, func(p api.PortRange) bool { return p.First <= f.SourcePort && f.SourcePort <= p.Last }) &&
		anyOr(r.DestinationPorts, func(p api.PortRange) bool { return p.First <= f.DestinationPort && f.DestinationPort <= p.Last }) &&
		anyOr(r.CodePoints, func(c uint8) bool { return c == f.CodePoint }) &&
		anyOr(r.VLANs, func(v api.VLANRange) bool { return v.First <= f.VLAN && f.VLAN <= v.Last }) &&
		(r.From == 0 || r.From == f.From)
}

// anyOr tells whether one of several fits, or there is none to fit.
func anyOr[T any](all []T, fits func(T) bool) bool {
	return len(all) == 0 || slices.ContainsFunc(all, fits)
}

// String is what a rule matches, for a person.
func (r Rule) String() string {
	var all []string
	say(&all, "from", r.Sources, netip.Prefix.String)
	say(&all, "to", r.Destinations, netip.Prefix.String)
	if r.Protocol != "" {
		all = append(all, r.Protocol.Text())
	}
	say(&all, "source port", r.SourcePorts, func(p api.PortRange) string { return span(p.First, p.Last) })
	say(&all, "port", r.DestinationPorts, func(p api.PortRange) string { return span(p.First, p.Last) })
	say(&all, "dscp", r.CodePoints, func(c uint8) string { return strconv.Itoa(int(c)) })
	say(&all, "vlan", r.VLANs, vlanText)
	if r.From != 0 {
		all = append(all, "beginning at the "+ends[r.From]+" end")
	}
	if len(all) == 0 {
		return "any packet"
	}
	return strings.Join(all, " ")
}

// say what a field may be, if it is asked for.
func say[T any](all *[]string, what string, values []T, text func(T) string) {
	var words []string
	for _, v := range values {
		words = append(words, text(v))
	}
	if len(words) > 0 {
		*all = append(*all, what+" "+strings.Join(words, ","))
	}
}

func span(first, last uint16) string {
	if first == last {
		return strconv.Itoa(int(first))
	}
	return fmt.Sprintf("%d-%d", first, last)
}
