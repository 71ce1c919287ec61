// Package function says what a kind of service function must do. Each kind is a
// package below this one that owns its option type and turns a place in a chain
// into resources.
package function

import (
	"net/netip"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
)

// Site is the place of one function in a chain.
type Site struct {
	Owner     string
	Node      string
	Namespace string
	// West faces the first endpoint, East the second; both are interface names. An
	// end of the chain has one of them.
	West, East string
	// WestAddresses and EastAddresses are those of these interfaces, one a family.
	WestAddresses, EastAddresses []netip.Addr
	// MTU of the chain's links, bytes of IP packet.
	MTU int
	// Target is where the end is reached from here to which the connections go that
	// the function acts on, one address a family.
	Target []netip.Addr
	// Further addresses that this end has.
	Further []netip.Addr
	// WestMAC and EastMAC are the link-layer addresses of the next nodes that have
	// addresses.
	WestMAC, EastMAC string
	// Beside tells the function from others in the namespace; "" for the one that it is
	// for.
	Beside string
	// Order among those that act at the same stage of a packet's way: lower ones first.
	Order int
	// End tells that the chain's traffic ends in the namespace and is not forwarded.
	End bool
	// Aside are interfaces of the namespace that are not on the chain's path.
	Aside []string
	// Part is the place of this namespace among the Parts that share the options.
	Part, Parts int
	Direction   api.Direction
	Resources   *api.Resources
	// Hosts are the names that resolve inside the function.
	Hosts []Host
	// Needs are the resources that the function's interfaces come from.
	Needs []string
}

// Host is a name with an address.
type Host struct {
	Name    string     `json:"name"`
	Address netip.Addr `json:"address"`
}

// Out lists the interfaces by which traffic leaves that the function acts on.
func (s Site) Out() []string {
	out := []string{s.West, s.East}
	switch s.Direction {
	case api.Forward:
		out = []string{s.East}
	case api.Reverse:
		out = []string{s.West}
	}
	return slices.Compact(slices.DeleteFunc(out, func(device string) bool { return device == "" }))
}

// In is the interface by which the only traffic that the function acts on comes
// in, or "" when it acts on both directions.
func (s Site) In() string {
	switch s.Direction {
	case api.Forward:
		return s.West
	case api.Reverse:
		return s.East
	}
	return ""
}

// Opens gives the sides of the connections that the function acts on: they come in by
// the one and leave by the other. Those that the first endpoint opens are meant,
// unless the direction is reverse.
func (s Site) Opens() (in, out Side) {
	in, out = Side{s.West, s.WestAddresses}, Side{s.East, s.EastAddresses}
	if s.Direction == api.Reverse {
		return out, in
	}
	return in, out
}

// Side of a site: an interface with its addresses, one a family.
type Side struct {
	Device    string
	Addresses []netip.Addr
}

// Idle tells that nothing comes in of the one direction that the function acts on,
// because the chain begins here.
func (s Site) Idle() bool {
	return (s.Direction == api.Forward || s.Direction == api.Reverse) && s.In() == ""
}

// Kind is one kind of function.
type Kind interface {
	Name() string
	// Options returns a pointer to the kind's option type, filled with defaults.
	Options() any
	// Shows is what a person is told of the kind.
	Shows() Shown
	// Requires names the features the machine must have for these options.
	Requires(options any) []string
	// Contribute turns a site into resources.
	Contribute(site Site, options any) ([]resource.Resource, error)
}

// Shown is what a person is told of a kind besides its options.
type Shown struct {
	// Does is what it does, in a line that goes on from its name.
	Does string
	// Example of its options, as YAML in one line; empty where none need be given.
	Example string
	// Contained are options without which it cannot be in a container, as YAML in one line; empty where it can with any.
	Contained string
}

// Companion is a kind that can act in a namespace beside the function that this is
// for, and at the chain's ends.
type Companion interface {
	Kind
	Accompanies()
}

// Vacant is a kind that makes nothing in its namespace, so that a container which is not nfchain's own can be there
// and do the work.
type Vacant interface {
	Kind
	IsVacant()
}

// Transparent is a kind that may have no addresses of its own: its neighbours on both sides
// reach each other through it.
type Transparent interface {
	Kind
	// IsTransparent tells whether it has none with these options.
	IsTransparent(options any) bool
}

// Handing is a kind whose programs hand packets on from one interface to the other, before the
// kernel of its namespace looks at them: neither rules nor queues there meet any, and of what
// leaves the kernel tells nobody.
type Handing interface {
	Transparent
	// Hook at which they do with these options, as package through names it.
	Hook(options any) string
}

// Framed is a kind whose program can take frames whole, behind a header, instead of packets that
// the kernel routes.
type Framed interface {
	Kind
	TakesFrames()
}

// Runner is a kind that may have a program of its own in the function's namespace, which
// can be placed.
type Runner interface {
	Kind
	// Runs tells whether it has one with these options.
	Runs(options any) bool
}

// Capable is a kind whose program needs capabilities(7) in a container, which has no others unless its file names some.
type Capable interface {
	Runner
	// Capabilities are written without CAP_.
	Capabilities() []string
}

// Hugepager is a kind whose program may use hugepages.
type Hugepager interface {
	Runner
	UsesHugepages()
}

// Settler is a kind some of whose options leave a choice to the machine.
type Settler interface {
	// Settle gives options in which the choice is made; has tells whether the machine
	// has a feature.
	Settle(options any, has func(feature string) bool) any
}
