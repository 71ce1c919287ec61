package macvlan

import (
	_ "embed"
	"fmt"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource/macvlan"
)

// Options of the wiring.
type Options struct {
	// Mode is bridge (default), in which devices over one parent reach each other;
	// vepa, in which they do by way of the switch behind it, which must send back what it
	// gets by the port it came from; private, in which they do not, so that each hop has
	// two parents; or passthru, in which a parent has one device, so that each hop has two.
	Mode string `json:"mode,omitempty" jsonschema:"enum=bridge,enum=vepa,enum=private,enum=passthru"`
	// Parent is the interface of the host that all devices of the chain are over. It is
	// not changed, and may have other macvlan devices. Without it each hop has a veth pair
	// in place of a network card.
	Parent string `json:"parent,omitempty"`
}

//go:embed options.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

// Options implements wiring.Wiring.
func (Wiring) Options() any { return &Options{Mode: macvlan.Bridge} }

// Validate implements the catalogue's check of options.
func (o *Options) Validate() []api.FieldProblem {
	var wrong []api.FieldProblem
	if problem := api.InterfaceProblem(o.Parent); problem != "" && o.Parent != "" {
		wrong = append(wrong, api.FieldProblem{Path: "parent", Message: problem})
	}
	why := map[string]string{
		macvlan.Private:  "mode private keeps apart what is over one parent, so that no two neighbours would reach each other",
		macvlan.Passthru: "mode passthru gives a parent to one device alone, and each hop has two",
	}[o.Mode]
	if why != "" && o.Parent != "" {
		wrong = append(wrong, api.FieldProblem{Path: "parent", Message: fmt.Sprintf("%s; leave out parent, for two parents a hop, or use mode bridge", why)})
	}
	return wrong
}

// standIn says what is in place of a network card.
func (o Options) standIn(outside bool) string {
	switch {
	case outside:
		return "one end of a veth pair for all, with the chain's ends over its other end"
	case o.Mode == macvlan.Bridge:
		return "one end of a veth pair per hop"
	case o.Mode == macvlan.VEPA:
		return "one end of a veth pair per hop, whose other end reflects"
	}
	return "both ends of a veth pair per hop"
}
