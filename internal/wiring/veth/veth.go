// Package veth joins neighbours by one virtual Ethernet pair each, with nothing
// in between.
package veth

import (
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/wiring"
)

// Wiring is the veth wiring.
type Wiring struct{}

// Name implements wiring.Wiring.
func (Wiring) Name() string { return "veth" }

// Requires implements wiring.Wiring.
func (Wiring) Requires() []string { return []string{"veth"} }

// Join implements wiring.Wiring.
func (Wiring) Join(h wiring.Hop) []resource.Resource {
	spec := link.Spec{Owner: h.Owner, MTU: h.MTU, A: link.End(h.A), B: link.End(h.B)}
	return []resource.Resource{resource.New(h.A.Namespace, spec, h.Needs...)}
}
