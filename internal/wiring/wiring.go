// Package wiring says what a way of joining neighbours must do. Each wiring is a
// package below this one that turns the hops of a chain into resources; addresses
// and routes are the plan's, the same for every wiring.
package wiring

import (
	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
)

// Port is one interface of a node.
type Port struct {
	Node      string `json:"node"`
	Namespace string `json:"namespace"`
	Device    string `json:"device"`
	MAC       string `json:"mac"`
}

// Hop is two neighbouring ports that are to be joined.
type Hop struct {
	A, B Port
	// Needs are the resources that both ports' namespaces come from.
	Needs []string
	// Direct is the hop between the two ends, beside the chain.
	Direct bool
}

// Network is all that is to be joined of a chain.
type Network struct {
	Owner string
	MTU   int
	// SuperPacket is the longest that interfaces are to send in one piece, bytes; 0 leaves
	// it to the kernel.
	SuperPacket uint64
	// Hops in path order; the direct one, if there is one, is the last.
	Hops []Hop
	// Outside tells that the chain's ends are beyond the host, behind one port of it. Only
	// a wiring that is Outer is told so.
	Outside bool
	// Headers are how many bytes longer packets may be at a node's interfaces, where frames have headers before them, by node; none at
	// most. Only a wiring that is Encapsulating is told so.
	Headers map[string]int
	// Node and Namespace are the wiring's own, for its switches. It makes the namespace
	// if it uses it.
	Node, Namespace string
	// Options are of the type that Wiring.Options gives.
	Options any
	// Engine whose container the second end is; "" where it is a namespace alone.
	Engine string
	// Driver of the engine's network that options name; "" where that is not known.
	Driver string
	// File is the text of the file that options name, if they are [api.Filed].
	File string
	// Has tells whether the machine has a feature.
	Has func(feature string) bool
}

// Joined is what a wiring made of a network.
type Joined struct {
	Resources []resource.Resource
	// Requires names the features the machine must have.
	Requires []string
	// Ends are, for each hop, the resources that its ports come from; the ports'
	// addresses need them.
	Ends []Ends
	// Ports are, for each hop, where a wiring that is Steered takes in what its ends send; none
	// of another.
	Ports []Ports
	// Network of an engine, with which the ends' containers begin; nil where they begin with none.
	Network *container.Network
	// Settings are what the wiring chose, by name, to be shown beside results.
	Settings map[string]string
}

// Ports of a forwarder, each behind an end of a hop.
type Ports struct{ A, B resource.Interface }

// Ends of a hop, by the IDs of what makes them.
type Ends struct{ A, B string }

// Clear is a wiring over which a function can be without addresses of its own: what it
// passes on for others gets through.
type Clear interface {
	Wiring
	PassesOthers()
}

// Steered is a wiring that knows by itself which node is next, so that it gets whatever
// leaves the one before, for whomever that is on the link. Nodes over it do not know of each
// other: all have the same next hop, and stay as they are where a function is put in or taken out.
// At its [Joined.Ports] functions can be that have no namespace.
type Steered interface {
	Wiring
	Steers()
}

// Sharing is a wiring that shares packets out over several replicas of a node, by flow.
type Sharing interface {
	Steered
	// Flows are how many are known at once, and for how long one has no packet until it is
	// over.
	Flows(options any) (known uint32, idle api.Duration)
}

// Encapsulating is a wiring whose ports send to nodes by their devices where frames get a header
// on the way.
type Encapsulating interface {
	Steered
	// ServicePath is the number that a file gives the chain's path; 0 if none.
	ServicePath(options any) uint32
}

// Branching is a wiring that sends packets on by their labels, to one of several nodes, and answers
// back by the way that their flow came.
type Branching interface {
	Sharing
	Branches()
}

// Armed is a wiring that can give a function one interface, by which packets come in and
// leave again, instead of two. Its option is called arms, 1 or 2.
type Armed interface {
	Wiring
	Arms(options any) int
}

// Outer is a wiring that has a port for the chain's ends to be behind, outside the host:
// see [Network.Card].
type Outer interface {
	Wiring
	Outside()
}

// Naming is a wiring whose nodes' interfaces may have other names than eth0 and eth1.
type Naming interface {
	Wiring
	// Called is the name of the interface of a node that with other wirings is the device.
	Called(options any, has func(feature string) bool, node, device string) string
}

// Plain is a wiring over whose devices an IPv4 address has no peer (ip-address(8)).
type Plain interface {
	Wiring
	PlainAddresses()
}

// Loopback is the interface over which two ends in one namespace meet.
const Loopback = "lo"

// Bare is a wiring of two ends that are both in the host's own namespace, where nothing
// is the chain's: neither namespaces nor interfaces nor addresses are made.
type Bare interface {
	Wiring
	Bare()
}

// Within is a wiring of two ends that are in one namespace of the chain's own, and meet over its loopback.
type Within interface {
	Wiring
	Within()
}

// Functionless is a wiring of two ends between which there can be no functions, as no packets would come to these.
type Functionless interface {
	Wiring
	Functionless()
}

// Attached is the interface of an end of an attaching wiring.
const Attached = "eth0"

// Attaching is a wiring that has somebody else attach two ends to a network: an engine of containers, or plugins. What
// interfaces and addresses they have is theirs, and known when they are there.
type Attaching interface {
	Wiring
	Attaches()
}

// OfEngine is an attaching wiring that leaves it to the engine of the ends' containers.
type OfEngine interface {
	Attaching
	// Can tells whether an engine can.
	Can(engine string) bool
	// Named is the name of the engine's network where options say one that is there.
	Named(options any) string
	// Hosted tells that containers have the machine's own network, and no other.
	Hosted(options any) bool
	// Published are the ports at which the second end is reached by an address of the machine's that the engine translates; ""
	// where it is reached at its own.
	Published(options any) api.PortRanges
}

// Wiring joins neighbours.
type Wiring interface {
	Name() string
	// Options is a pointer to a fresh struct of options with their defaults, as
	// [nfchain.dev/nfchain/api/v1alpha1.Catalogue] wants it.
	Options() any
	// Join contributes what makes the hops.
	Join(Network) (Joined, error)
}
