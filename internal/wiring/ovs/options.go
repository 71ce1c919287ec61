package ovs

import (
	_ "embed"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// Options of the wiring.
type Options struct {
	// Datapath is system, in the kernel; netdev, in user space, within the daemon; or
	// auto (default): system where the kernel has it, else netdev.
	Datapath string `json:"datapath,omitempty" jsonschema:"enum=auto,enum=system,enum=netdev"`
	// Ports join a function to its switch: veth (default), a pair whose other end the
	// switch has; or internal, an interface of the switch's own, given to the function.
	Ports string `json:"ports,omitempty" jsonschema:"enum=veth,enum=internal"`
	// Per is hop (default), each pair of neighbours having a switch of its own; or chain,
	// one switch for all.
	Per string `json:"per,omitempty" jsonschema:"enum=hop,enum=chain"`
	// Switches are how many there are in a row between two neighbours, 1 (default) to
	// 20; more than one with per: hop alone.
	Switches int `json:"switches,omitempty" jsonschema:"minimum=1,maximum=20"`
	// SwitchToSwitch joins switches in a row: patch (default), ports of Open vSwitch's
	// own; or veth, a pair.
	SwitchToSwitch string `json:"switch_to_switch,omitempty" jsonschema:"enum=patch,enum=veth"`
	// Forwarding is by flows (default), from a port to the one port that it is joined
	// to; or learning, as a switch does that nobody told anything.
	Forwarding string `json:"forwarding,omitempty" jsonschema:"enum=flows,enum=learning"`
}

//go:embed options.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

// The choices.
const (
	auto     = "auto"
	system   = "system"
	netdev   = "netdev"
	veth     = "veth"
	internal = "internal"
	perHop   = "hop"
	perChain = "chain"
	patch    = "patch"
	flows    = "flows"
	learning = "learning"
)

// Options implements wiring.Wiring.
func (Wiring) Options() any {
	return &Options{Datapath: auto, Ports: veth, Per: perHop, Switches: 1, SwitchToSwitch: patch, Forwarding: flows}
}

// Validate implements the catalogue's check of options.
func (o *Options) Validate() []api.FieldProblem {
	if o.Switches > 1 && o.Per == perChain {
		return []api.FieldProblem{{Path: "switches", Message: "with per: chain there is one switch; per: hop has several in a row between two neighbours"}}
	}
	return nil
}
