// Package loadbalancer shares connections out over several addresses, at layer 4: each
// connection goes to one of them, by turns or by what it comes from.
package loadbalancer

import (
	_ "embed"
	"fmt"
	"net/netip"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// Options of a loadbalancer. It shares out connections that the first endpoint opens;
// with direction: reverse, those that the second opens.
type Options struct {
	// Addresses that connections are sent to, at most one of a family; the chain
	// routes them here. Default: the function's own, of the side where they come in.
	// The name of the endpoint resolves to them on that side.
	Addresses function.Addresses `json:"addresses,omitempty"`
	// Protocol is tcp or udp, and Port a port or range: others are not taken to a back
	// end. Default: all.
	Protocol string         `json:"protocol,omitempty" jsonschema:"enum=tcp,enum=udp"`
	Port     function.Ports `json:"port,omitempty"`
	// Backends are addresses that get the connections. Default: all that the endpoint
	// has, see its addresses.
	Backends function.Addresses `json:"backends,omitempty"`
	// By says which gets one: round-robin (default), or hash, of the source's address
	// and port, always the same for the same.
	By string `json:"by,omitempty" jsonschema:"enum=round-robin,enum=hash"`
}

// NeedsAnswers implements api.Answered.
func (*Options) NeedsAnswers() string { return function.AnsweredTranslating }

// Named implements [function.Addressed].
func (o *Options) Named() []netip.Addr { return o.Addresses.Parse() }

//go:embed loadbalancer.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

const (
	roundRobin = "round-robin"
	hash       = "hash"
)

// mostBackends of a family: a new connection is tried against as many rules.
const mostBackends = 1000

// Validate implements the catalogue's check of options.
func (o *Options) Validate() []api.FieldProblem {
	var wrong []api.FieldProblem
	add := func(path, format string, args ...any) {
		wrong = append(wrong, api.FieldProblem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	for i, why := range function.CheckAddresses(o.Addresses, true) {
		add(fmt.Sprintf("addresses[%d]", i), "%s", why)
	}
	for i, why := range function.CheckAddresses(o.Backends, false) {
		add(fmt.Sprintf("backends[%d]", i), "%s", why)
	}
	if len(o.Backends) > mostBackends {
		add("backends", "at most %d back ends", mostBackends)
	}
	if !slices.Contains([]string{roundRobin, hash}, o.By) {
		add("by", "%q is not a way of sharing out; use %s or %s", o.By, roundRobin, hash)
	}
	for _, p := range (function.Match{Protocol: o.Protocol, DestinationPort: o.Port}).Validate() {
		add(map[string]string{"protocol": "protocol", "destination_port": "port"}[p.Path], "%s", p.Message)
	}
	return wrong
}

func (o *Options) ports() ruleset.Ports {
	return function.Match{Protocol: o.Protocol, DestinationPort: o.Port}.Compile().DestinationPorts
}
