package engine

import (
	_ "embed"
	"fmt"
	"net/netip"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/engine"
)

// Options of the wiring.
type Options struct {
	// Network is the name of one that the engine has, which stays as it is. Default: one is made for
	// the chain, and removed with it.
	Network string `json:"network,omitempty"`
	// Driver that makes the chain's: bridge (default), macvlan, ipvlan or any other that the engine
	// has. With host nothing is made, and containers are in the machine's own network.
	Driver string `json:"driver,omitempty"`
	// Subnets of its addresses, one a family. Default: the engine's choice, of IPv4.
	Subnets []string `json:"subnets,omitempty"`
	// Options of the driver, as docker network create has them behind --opt: {parent: eth1} has a
	// macvlan over that interface of the host.
	Options map[string]string `json:"options,omitempty"`
	// Publish has the first endpoint, which is then no container, reach the second at these ports of the address that the
	// machine has on the network, over TCP and UDP, instead of at its own: the engine translates the one to the other. Ports and
	// ranges of them, separated by commas.
	Publish api.PortRanges `json:"publish,omitempty"`
}

// mostPublished ports: the engine has a process for each of them and each protocol.
const mostPublished = 64

//go:embed options.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

// Options implements wiring.Wiring.
func (Wiring) Options() any { return &Options{} }

// Validate implements the catalogue's check of options.
func (o *Options) Validate() []api.FieldProblem {
	var wrong []api.FieldProblem
	add := func(path, message string) {
		wrong = append(wrong, api.FieldProblem{Path: path, Message: message})
	}
	if o.Network != "" && (o.Driver != "" || len(o.Subnets) > 0 || len(o.Options) > 0) {
		add("network", "is there already, and driver, subnets and options are for one that is made; leave one or the other out")
	}
	for _, of := range []struct{ path, is string }{{"network", o.Network}, {"driver", o.Driver}} {
		switch {
		case of.is == "none" || of.is == "null":
			add(of.path, "has no network at all; leave it out for a bridge")
		case of.is == engine.HostNetwork && (o.Publish != "" || len(o.Subnets) > 0 || len(o.Options) > 0):
			add(of.path, "host has containers be in the machine's own network, where nothing is made and nothing published; leave out publish, subnets and options")
		}
	}
	if o.Publish != "" {
		o.validatePublished(add)
	}
	families := map[bool]bool{}
	for i, text := range o.Subnets {
		at := fmt.Sprintf("subnets[%d]", i)
		subnet, err := netip.ParsePrefix(text)
		switch {
		case err != nil || subnet != subnet.Masked():
			add(at, fmt.Sprintf("%q is not a network; write one like 198.51.100.0/24", text))
		case families[subnet.Addr().Is4()]:
			add(at, "there is one of this family already")
		}
		families[subnet.Addr().Is4()] = true
	}
	return wrong
}

// validatePublished ports, and that what translates them is a bridge of the engine's.
func (o *Options) validatePublished(add func(path, message string)) {
	switch all, err := o.Publish.Parse(); {
	case err != nil:
		add("publish", err.Error())
	case twice(all) != 0:
		add("publish", fmt.Sprintf("has port %d twice, and an address has each port once; write it once", twice(all)))
	case number(all) > mostPublished:
		add("publish", fmt.Sprintf("are %d ports; the engine has two processes for each, so write %d at most", number(all), mostPublished))
	}
	if o.Driver != "" && o.Driver != bridge {
		add("publish", fmt.Sprintf("is for a bridge, for which the engine translates addresses, and what driver: %s makes is joined to a network as the machine is; leave one of the two out", o.Driver))
	}
}

// twice is the first port that is there more than once; 0 where none is.
func twice(all []api.PortRange) (port uint16) {
	for i, r := range all {
		for _, before := range all[:i] {
			if first := max(r.First, before.First); first <= min(r.Last, before.Last) && (port == 0 || first < port) {
				port = first
			}
		}
	}
	return port
}

// number of ports.
func number(all []api.PortRange) (n int) {
	for _, r := range all {
		n += int(r.Last) - int(r.First) + 1
	}
	return n
}
