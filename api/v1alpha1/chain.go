package v1alpha1

// Chain is an ordered list of service functions between two endpoints
// (RFC 7665's service function chain).
type Chain struct {
	// APIVersion and Kind say what the document is.
	APIVersion string    `json:"apiVersion" jsonschema:"required,enum=nfchain.dev/v1alpha1"`
	Kind       string    `json:"kind" jsonschema:"required,enum=NetworkServiceChain"`
	Metadata   Metadata  `json:"metadata" jsonschema:"required"`
	Spec       ChainSpec `json:"spec" jsonschema:"required"`
}

// ChainSpec is what a chain is made of.
type ChainSpec struct {
	// Wiring is how neighbours are joined: a name in the catalogue. Default "veth".
	Wiring string `json:"wiring,omitempty"`
	// Runtime is where functions live unless one says otherwise: netns (default), a network
	// namespace; inline, no namespace, but a step in the kernel that packets take between two
	// of them, or where they are only handed on; docker, containerd, podman or lxc, a container of that engine of this machine; cni, a container
	// that another runtime puts in its place through nfchain as its CNI plugin; auto, for a
	// function with a container the first of these that answers, but lxc, and for others inline where
	// wiring, kind and machine can, and else a namespace.
	Runtime string `json:"runtime,omitempty"`
	// Endpoints are the chain's two ends, first the one that opens connections.
	// Default: namespaces "client" and "server", made for the chain.
	Endpoints []Endpoint `json:"endpoints,omitempty" jsonschema:"minItems=2,maxItems=2"`
	// Functions are visited in this order by traffic from the first endpoint
	// to the second and in the reverse order by traffic back, unless Symmetric says otherwise.
	Functions []Function `json:"functions,omitempty"`
	// Symmetric has what goes from the second endpoint to the first visit the functions as well (RFC 7665
	// §2.4). With false the chain is one-way: it goes straight back, past all functions that do not
	// say otherwise, over a wiring that steers. Default true.
	Symmetric *bool `json:"symmetric,omitempty"`
	// Classifier has flows take different paths, each by some of the functions. Default: all
	// packets go through all of them.
	Classifier *Classifier `json:"classifier,omitempty"`
	// Tenant is whose chain it is. Chains of different tenants may have the same addresses,
	// and a standalone function that they go through keeps them apart. Default: nobody's.
	Tenant string `json:"tenant,omitempty"`
	// Everywhere are functions that act in each of the chain's namespaces, the
	// ends' included, besides the function that is there: rules or a shaper on
	// every interface.
	Everywhere []Everywhere `json:"everywhere,omitempty"`
	// Outside puts the chain's two ends beyond the host, behind one port of it: what they
	// send comes in there, passes the functions, and leaves by it again (north/south).
	// Default: the ends are on the host, as functions are (east/west). A wiring without
	// such a port refuses it.
	Outside bool `json:"outside,omitempty"`
	// Addresses says where the chain's addresses come from.
	Addresses Addresses `json:"addresses,omitempty"`
	// WiringOptions are the values found under the keys named like wirings, decoded into
	// the option types that the catalogue gives for them. Where there is none for Wiring,
	// it has its defaults.
	WiringOptions map[string]any `json:"-"`
	// MTU of every link of the chain, bytes of IP packet. Default 1500.
	MTU int `json:"mtu,omitempty" jsonschema:"minimum=576,maximum=65535"`
	// Tuning is how the kernel handles packets at the chain's interfaces, and TCP.
	Tuning Tuning `json:"tuning,omitzero"`
	// Placement is which CPUs do the chain's work.
	Placement Placement `json:"placement,omitzero"`
}

// Endpoint is one end of a chain. With neither Namespace nor Interface it is
// a namespace made for the chain and removed with it.
type Endpoint struct {
	// Name of the endpoint in the chain.
	Name string `json:"name" jsonschema:"required"`
	// Namespace is an existing named network namespace (as `ip netns list`
	// shows) to be used as the endpoint. It gains one interface, its addresses
	// and routes while the chain is up, and is never removed.
	Namespace string `json:"namespace,omitempty"`
	// Interface is an existing interface of the host. It is moved into a
	// namespace made for the endpoint, which then routes between it and the
	// chain; `down` puts it back with its addresses and state.
	Interface string `json:"interface,omitempty"`
	// Runtime is what the endpoint is: netns (default), a network namespace; docker, containerd, podman or lxc, a
	// container of that engine of this machine, and its namespace; cni, a container that another runtime puts in
	// its place through nfchain as its CNI plugin. The chain's runtime is that of functions.
	Runtime string `json:"runtime,omitempty" jsonschema:"enum=netns,enum=docker,enum=containerd,enum=podman,enum=lxc,enum=cni"`
	// Container is what it is made from, where its runtime is a container engine. Default: one with nothing
	// in it, from whose namespace traffic comes and goes.
	Container *Container `json:"container,omitempty"`
	// Addresses that the endpoint has besides the chain's own, such as those that a
	// loadbalancer shares connections out over. The chain routes them to it.
	Addresses []string `json:"addresses,omitempty"`
	// Options are the value found under the key of the kind [Catalogue.EndpointKind]: the
	// program that the endpoint runs; none where it runs none.
	Options map[string]any `json:"-"`
}

// Addresses says where the chain's addresses come from. Each chain takes one
// block of each family out of the pool, clear of the host's routes and of
// other chains' blocks.
type Addresses struct {
	// IPv4 is the pool, or "none". Default 198.18.0.0/15 (RFC 2544 appendix C.2.2).
	IPv4 string `json:"ipv4,omitempty"`
	// IPv6 is the pool, or "none". Default 2001:2::/48 (RFC 5180 §8).
	IPv6 string `json:"ipv6,omitempty"`
}

// None is the pool that switches an address family off.
const None = "none"

// Function is one service function of a chain.
type Function struct {
	// Name of the function in the chain.
	Name string `json:"name" jsonschema:"required"`
	// FunctionBody is empty when Ref is set.
	FunctionBody
	// Weights of the replicas, from the first: their parts of the new flows, as 2 and 1 are
	// two thirds and one. One with 0 gets none, and keeps the flows that it has. Default: all get as many.
	Weights []int `json:"weights,omitempty"`
	// Symmetric overrides the chain's: with true what goes back visits the function, and with false it
	// does not.
	Symmetric *bool `json:"symmetric,omitempty"`
	// Ref is the name of a ServiceFunction to use instead of one of the chain's own.
	Ref string `json:"ref,omitempty"`
	// Group is the name of the namespace that neighbours with the same one share, passed
	// in their order. Default: a namespace of its own.
	Group string `json:"group,omitempty"`
	// OnFailure is what becomes of packets when the function fails, over a wiring that steers
	// them: bypass leads them past it, and block ends them before it, until it is well again. Of
	// replicas, while any is well, that one gets the flows of those that fail; replica is for that
	// alone. Default: they go on to it, and nobody watches.
	OnFailure string `json:"onFailure,omitempty" jsonschema:"enum=bypass,enum=block,enum=replica"`
	// Encapsulation of packets where the function gets them, and gives them back: nsh has each
	// frame come whole behind a Network Service Header over Ethernet (RFC 8300), to be sent on by
	// the other interface with a service index that is one less. Default: none.
	Encapsulation string `json:"encapsulation,omitempty" jsonschema:"enum=nsh"`
	// MDType of the Network Service Header (RFC 8300 §2.2): with 1 it has the context header of 16 bytes, all
	// of them 0 as it comes, and with 2 no metadata. Default 2.
	MDType int `json:"mdType,omitempty" jsonschema:"minimum=1,maximum=2"`
	// Branches send packets that leave the function with certain marks on to other functions, over
	// a wiring that steers them; the first that fits has them. Answers come back the same way.
	Branches []Branch `json:"branches,omitempty"`
	// Next is where packets go on that no branch has: a function after this one, a group of some,
	// or the second endpoint. Default: the next in the list.
	Next string `json:"next,omitempty"`
	// Replace says where `up` puts what comes to be in the function's place, over a wiring that steers packets:
	// beside what is there, which keeps its flows until they are idle and is removed then, or in-place, which ends that first, so that
	// packets are lost meanwhile. Default: beside for another kind, runtime or container, for another program that packets go through, and where
	// headers come or go; in-place for another program in a namespace that the kernel passes packets on in.
	Replace string `json:"replace,omitempty" jsonschema:"enum=beside,enum=in-place"`
}

// Where what comes to be in a function's place is put.
const (
	ReplaceBeside  = "beside"
	ReplaceInPlace = "in-place"
)

// EncapsulationNSH is the Network Service Header of RFC 8300.
const EncapsulationNSH = "nsh"

// Everywhere is a function that acts in many namespaces. It has no namespace of
// its own: runtime, replicas and resources cannot be given.
type Everywhere struct {
	FunctionBody
	// Except are the names of endpoints, functions and groups where it does not act.
	Except []string `json:"except,omitempty"`
}

// FunctionBody is what a function in a chain and a standalone one share.
type FunctionBody struct {
	// Kind is a name in the catalogue: forward, firewall, shaper, command ...
	Kind string `json:"kind,omitempty"`
	// Runtime overrides the chain's; empty in a chain that means the chain's.
	// Default "netns" for a function that stands alone, which cannot be inline.
	Runtime string `json:"runtime,omitempty"`
	// Replicas of the function. Each has a namespace of its own, NAME-1 and so on, and a
	// share of the flows; packets of one flow go through the same replica there and back.
	// Default 1; wirings refuse what they cannot do.
	Replicas int `json:"replicas,omitempty" jsonschema:"minimum=1,maximum=64"`
	// Direction in which the function acts: both (default), forward, reverse.
	Direction Direction `json:"direction,omitempty" jsonschema:"enum=both,enum=forward,enum=reverse"`
	// Resources bounds what the function's processes may use.
	Resources *Resources `json:"resources,omitempty"`
	// Container is what the function is made from, where its runtime is a container engine.
	Container *Container `json:"container,omitempty"`
	// Options is the value found under the key named like Kind, decoded into
	// the option type that the catalogue gives for it; never nil after decoding.
	Options any `json:"-"`
}

// Direction says which of the two ways through a chain is meant.
type Direction string

// The directions: forward is from the first endpoint to the second.
const (
	Both    Direction = "both"
	Forward Direction = "forward"
	Reverse Direction = "reverse"
)

// Resources bounds what the processes of a function may use.
type Resources struct {
	// CPUs the function's processes may run on, as in taskset's list ("0,2-3").
	CPUs string `json:"cpus,omitempty"`
	// CPUTime is of how many CPUs a container may use the time, such as 0.5; of a program in a
	// namespace it is not bounded.
	CPUTime float64 `json:"cpu_time,omitzero" jsonschema:"minimum=0.01,maximum=8192"`
	// Memory is the most a function's processes may map each (RLIMIT_AS), or a container may use
	// in all.
	Memory Size `json:"memory,omitempty"`
	// Hugepages that the function's program needs, in bytes: a chain is refused where
	// fewer are reserved, and for a function that uses none. A container may use no more, and
	// has a file system of them at /dev/hugepages.
	Hugepages Size `json:"hugepages,omitempty"`
	// HugepageSize is the size of these. Default the kernel's usual one.
	HugepageSize Size `json:"hugepage_size,omitempty"`
}

// StandaloneFunction is a function that chains refer to and that outlives them.
type StandaloneFunction struct {
	// APIVersion and Kind say what the document is.
	APIVersion string       `json:"apiVersion" jsonschema:"required,enum=nfchain.dev/v1alpha1"`
	Kind       string       `json:"kind" jsonschema:"required,enum=ServiceFunction"`
	Metadata   Metadata     `json:"metadata" jsonschema:"required"`
	Spec       FunctionBody `json:"spec" jsonschema:"required"`
}
