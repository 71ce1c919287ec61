// Package nat translates the addresses of connections: where they come from, where they
// go, or both (RFC 2663's NAPT and, for destinations, what its §4.4 calls server
// redirection). Answers are translated back.
package nat

import (
	_ "embed"
	"fmt"
	"net/netip"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// Options of a nat. It translates connections that the first endpoint opens, both ways;
// with direction: reverse, those that the second opens.
type Options struct {
	// Source hides where connections come from.
	Source *Source `json:"source,omitempty"`
	// Destination takes connections to the endpoint that are sent to another address.
	Destination *Destination `json:"destination,omitempty"`
}

// NeedsAnswers implements api.Answered.
func (*Options) NeedsAnswers() string { return function.AnsweredTranslating }

// Named implements [function.Addressed].
func (o *Options) Named() (all []netip.Addr) {
	if o.Source != nil {
		all = append(all, o.Source.Addresses.Parse()...)
	}
	if o.Destination != nil {
		all = append(all, o.Destination.Addresses.Parse()...)
	}
	return all
}

//go:embed nat.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

// Source of the connections that leave.
type Source struct {
	// Masquerade looks the address up for each connection: the leaving interface's.
	Masquerade bool `json:"masquerade,omitempty"`
	// Addresses that they come from, at most one of a family; the chain routes them
	// here. Default: the function's own, of the side where they leave.
	Addresses function.Addresses `json:"addresses,omitempty"`
}

// Destination of the connections that come in.
type Destination struct {
	// Addresses that they are sent to, at most one of a family; the chain routes them
	// here. Default: the function's own, of the side where they come in. The name of
	// the endpoint resolves to them on that side.
	Addresses function.Addresses `json:"addresses,omitempty"`
	// Protocol is tcp or udp, and Port a port or range: others are not translated.
	// Default: all.
	Protocol string         `json:"protocol,omitempty" jsonschema:"enum=tcp,enum=udp"`
	Port     function.Ports `json:"port,omitempty"`
	// To is where they are taken, at most one address of a family. Default: the
	// endpoint.
	To function.Addresses `json:"to,omitempty"`
	// ToPort is the port that a single Port becomes.
	ToPort int `json:"to_port,omitempty" jsonschema:"minimum=1,maximum=65535"`
}

// Validate implements the catalogue's check of options.
func (o *Options) Validate() []api.FieldProblem {
	var wrong []api.FieldProblem
	add := func(path, format string, args ...any) {
		wrong = append(wrong, api.FieldProblem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	if o.Source == nil && o.Destination == nil {
		add("", "a nat without source and destination translates nothing; give one of them, such as source: {masquerade: true}")
	}
	if s := o.Source; s != nil {
		addresses(add, "source.addresses", s.Addresses)
		if s.Masquerade && len(s.Addresses) > 0 {
			add("source.addresses", "masquerading takes the address of the interface; leave one of them out")
		}
	}
	if o.Destination != nil {
		o.Destination.check(add)
	}
	return wrong
}

func addresses(add func(path, format string, args ...any), path string, list function.Addresses) {
	for i, why := range function.CheckAddresses(list, true) {
		add(fmt.Sprintf("%s[%d]", path, i), "%s", why)
	}
}

func (d *Destination) check(add func(path, format string, args ...any)) {
	addresses(add, "destination.addresses", d.Addresses)
	addresses(add, "destination.to", d.To)
	match := function.Match{Protocol: d.Protocol, DestinationPort: d.Port}
	for _, p := range match.Validate() {
		add("destination."+map[string]string{"protocol": "protocol", "destination_port": "port"}[p.Path], "%s", p.Message)
	}
	if ports := match.Compile().DestinationPorts; d.ToPort != 0 && ports.First != ports.Last {
		add("destination.to_port", "a range of ports keeps its ports; write one port, or leave to_port out")
	}
	if d.ToPort != 0 && d.Port == "" {
		add("destination.to_port", "needs port, which becomes this one")
	}
}

// ports that are translated.
func (d *Destination) ports() ruleset.Ports {
	return function.Match{Protocol: d.Protocol, DestinationPort: d.Port}.Compile().DestinationPorts
}
