package mirror

import (
	_ "embed" // this file
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// Options of a mirror; its direction says what is copied, too. These are for one with runtime: inline.
type Options struct {
	// Every so many packets one is copied: 100 is one of a hundred. Default: all.
	Every uint32 `json:"every,omitempty"`
	// Protocol of what is copied: tcp, udp, sctp, icmp or icmpv6. Default: any.
	Protocol string `json:"protocol,omitempty" jsonschema:"enum=tcp,enum=udp,enum=sctp,enum=icmp,enum=icmpv6"`
	// Port that what is copied comes from or goes to, of tcp, udp or sctp; fragments have none.
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
	if _, known := protocols[o.Protocol]; o.Protocol != "" && !known {
		names := strings.Join(slices.Sorted(maps.Keys(protocols)), ", ")
		wrong = append(wrong, api.FieldProblem{Path: "protocol", Message: fmt.Sprintf("%q is not a protocol; use one of %s", o.Protocol, names)})
	}
	if o.Port != 0 && !slices.Contains([]string{"tcp", "udp", "sctp"}, o.Protocol) {
		wrong = append(wrong, api.FieldProblem{Path: "port", Message: "needs a protocol that has ports: tcp, udp or sctp"})
	}
	return wrong
}

// copies are what a mirror that is inline copies.
func (o *Options) copies() pass.Copies {
	c := pass.Copies{Every: o.Every, Protocol: protocols[o.Protocol], Port: o.Port}
	switch o.Protocol {
	case "icmp":
		c.Version = 4
	case "icmpv6":
		c.Version = 6
	}
	return c
}

// inNamespace is an error unless a mirror with a namespace can do what is asked: copy all.
func inNamespace(options any) error {
	if o, given := options.(*Options); given && *o != (Options{}) {
		return errors.New("every, protocol and port are for a mirror with runtime: inline; leave them out, or have it inline")
	}
	return nil
}
