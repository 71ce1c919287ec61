package mirror

import (
	_ "embed" // this file
	"errors"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// Options of a mirror; its direction says what is copied, too.
type Options struct {
	// Source and Destination of what is copied are an address or a prefix, IPv4 or IPv6, as the packet has them that comes
	// to the mirror, whichever way it goes. Default: any.
	Source      string `json:"source,omitempty"`
	Destination string `json:"destination,omitempty"`
	// Every so many packets one is copied: 100 is one of a hundred. Default: all. With runtime: inline.
	Every uint32 `json:"every,omitempty"`
	// Protocol of what is copied: tcp, udp, sctp, icmp or icmpv6. Default: any. With runtime: inline.
	Protocol string `json:"protocol,omitempty" jsonschema:"enum=tcp,enum=udp,enum=sctp,enum=icmp,enum=icmpv6"`
	// Port that what is copied comes from or goes to, of tcp, udp or sctp; fragments have none. With runtime: inline.
	Port uint16 `json:"port,omitempty"`
}

//go:embed options.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

// protocols by their names, with their numbers of IP.
var protocols = map[string]uint8{"tcp": 6, "udp": 17, "sctp": 132, "icmp": 1, "icmpv6": 58}

// Validate implements the catalogue's check of options.
func (o *Options) Validate() (wrong []api.FieldProblem) {
	wrong = o.match().Validate()
	if o.Port != 0 && !slices.Contains([]string{"tcp", "udp", "sctp"}, o.Protocol) {
		wrong = append(wrong, api.FieldProblem{Path: "port", Message: "needs a protocol that has ports: tcp, udp or sctp"})
	}
	return wrong
}

// match is what all functions that choose packets have in common.
func (o *Options) match() function.Match {
	return function.Match{Source: o.Source, Destination: o.Destination, Protocol: o.Protocol}
}

// ends of what is copied.
func (o *Options) ends() pass.Ends {
	m := o.match().Compile()
	return pass.Ends{Source: m.Source, Destination: m.Destination}
}

// copies are what a mirror that is inline copies.
func (o *Options) copies() pass.Copies {
	c := pass.Copies{Every: o.Every, Protocol: protocols[o.Protocol], Port: o.Port, Ends: o.ends()}
	switch o.Protocol {
	case "icmp":
		c.Version = 4
	case "icmpv6":
		c.Version = 6
	}
	return c
}

// inNamespace is an error unless a mirror with a namespace can do what is asked.
func (o *Options) inNamespace() error {
	if o.Every != 0 || o.Protocol != "" || o.Port != 0 {
		return errors.New("every, protocol and port are for a mirror with runtime: inline; leave them out, or have it inline")
	}
	return nil
}
