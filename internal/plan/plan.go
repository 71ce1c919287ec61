// Package plan turns a chain and what is known of the machine into a graph of
// resources. It is a pure function: it reads nothing and changes nothing, so a
// plan can be printed, compared and trusted before anything is made.
package plan

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sort"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/wiring"
)

// Catalogue is every wiring and function kind there is, by name.
type Catalogue struct {
	Wirings   map[string]wiring.Wiring
	Functions map[string]function.Kind
}

// Facts is what must be known of the machine before a chain can be planned.
type Facts struct {
	// Routes of the host, which the chain's addresses keep clear of.
	Routes []netip.Prefix
	// Blocks that chains have taken, by chain; a chain keeps its own.
	Blocks map[string][]netip.Prefix
	// Addresses that the chain's own nodes have, by namespace; they keep them.
	Addresses map[string][]netip.Addr
	// Translated are addresses of the chain's functions that translate and have no namespace, by whose they are ([pass.WhoseNAT]); they keep them.
	Translated map[uint32][]netip.Addr
	// Networks that the host's interfaces are in, by interface; those that
	// endpoints name must be there.
	Networks map[string][]netip.Prefix
	// MTUs of those interfaces.
	MTUs map[string]int
	// Tenants of chains, by chain; those that have none are absent.
	Tenants map[string]string
	// Guests are the chains that go through a standalone function, by function.
	Guests map[string][]string
	// Functions that stand alone, by name.
	Functions map[string]api.FunctionBody
	// Brought are the containers that other runtimes have put in places of the chain, by node.
	Brought map[string]Brought
	// Images that containers are made from, by the paths of what they are made of.
	Images map[string]string
	// CPUs that nfchain may use, in ascending order: one is chosen of these.
	CPUs []int
	// Nameable are those that a file may name, in ascending order; nil where it may name any.
	Nameable []int
	// MemoryNodes are the CPUs of each memory node, by its number.
	MemoryNodes map[int][]int
	// Claims are the CPUs that owners have been given, by owner; a chain keeps its own.
	Claims Claims
	// Hugepages of the kernel's usual size; nil where the machine
	// does not tell.
	Hugepages *Hugepages
	// Engines that have containers of chains, by chain, in the order in which they are asked.
	Engines map[string][]string
	// Files that wirings' options name, their texts by their paths.
	Files map[string]string
	// Driver of the engine's network that the wiring's options name; "" where that is not known.
	Driver string
	// Attached are the interfaces that others made in the chain's namespaces, by namespace, where its wiring has them do that.
	Attached map[string]Attached
	// Has tells whether the machine has a feature, where a function leaves a choice to
	// it; nil is a machine that has all.
	Has func(feature string) bool
}

// Options of a plan.
type Options struct {
	// Direct adds a hop between the two endpoints, beside the chain, to measure
	// the path without functions.
	Direct bool
	// Runtimes are what was chosen before for functions that leave it to the plan, by their names: these stay what they
	// were. Others are chosen now.
	Runtimes map[string]string
	// CPUs are those of which a placement was chosen before: it is of these again, whatever this process runs on (taskset(1)). None is
	// those that this process may use.
	CPUs []int
	// Instances are the numbers of functions that came to be others under their names, by these: each was put in beside the one before it.
	// The first has none.
	Instances map[string]int
}

// Plan is what a chain is made of.
type Plan struct {
	SchemaVersion int    `json:"schema_version"`
	Chain         string `json:"chain"`
	Wiring        string `json:"wiring"`
	// Settings are what the wiring chose.
	Settings map[string]string `json:"settings,omitempty"`
	// Nodes in path order, both endpoints included; replicas of one function are next to
	// each other.
	Nodes []Node `json:"nodes"`
	// Inline are the functions that have no namespace, in path order.
	Inline []Inline `json:"inline,omitempty"`
	// Classifier is how flows get one of several paths; nil where there is one.
	Classifier *Classifier `json:"classifier,omitempty"`
	// Runtimes are what was chosen for the functions that left it to the plan, by their names.
	Runtimes map[string]string `json:"runtimes,omitempty"`
	// Instances are the numbers of functions that came to be others under their names, from 2, by these.
	Instances map[string]int `json:"instances,omitempty"`

	Blocks []netip.Prefix `json:"blocks"`
	Direct *Direct        `json:"direct,omitempty"`
	// Service is where the first endpoint reaches the second by way of functions that
	// translate addresses; nil where none does.
	Service *Service `json:"service,omitempty"`
	// Placement is which CPUs do the chain's work; nil where all is left to the kernel.
	Placement *Placement `json:"placement,omitempty"`
	// Replaces are the functions that are put in beside what is there under their names.
	Replaces []Replacing `json:"replaces,omitempty"`
	// Warnings are what works and should be known before it surprises; none where there is nothing.
	Warnings  []string            `json:"warnings,omitempty"`
	Requires  []string            `json:"requires"`
	Resources []resource.Resource `json:"resources"`

	bare    bool
	foreign bool
	hosted  bool
	within  bool
	// translated are the ports at which an engine has the second end reached by an address of the machine's.
	translated api.PortRanges
	files      map[string]string
	claim      Claim
	// like is what [Plan.Like] gives.
	like map[string]string
}

// WiringNode stands for a wiring's own namespace where nodes have their names; no
// node can be called so.
const WiringNode = "_wiring"

// Node is an endpoint or a function.
type Node struct {
	Name string `json:"name"`
	// Kind is "endpoint", the function's kind, that of a group, or that of a stop.
	Kind string `json:"kind"`
	// Called is what the chain's file calls the function, where the node is another that was put in beside the one before it ([Options.Instances]); ""
	// where that is the node's name, or of replicas what that begins with.
	Called    string `json:"called,omitempty"`
	Namespace string `json:"namespace"`
	// Made tells that the namespace is made for the chain and removed with it.
	Made bool `json:"made"`
	// Runtime is the engine whose container it is; "" where it is a namespace alone.
	Runtime string `json:"runtime,omitempty"`
	// Brought tells that another runtime puts a container in the node's place, and Waits that it has not: an empty
	// namespace stands in for it, which answers nothing and forwards nothing.
	Brought bool `json:"brought,omitempty"`
	Waits   bool `json:"waits,omitempty"`
	// West faces the first endpoint, East the second; an end has one of them.
	West *Interface `json:"west,omitempty"`
	East *Interface `json:"east,omitempty"`

	// Transparent nodes have no addresses: their neighbours reach each other through them.
	Transparent bool `json:"transparent,omitempty"`
	// Hook is where programs hand packets on from one interface to the other, as
	// [through.Spec] has it; "" where the kernel of the namespace does.
	Hook string `json:"hook,omitempty"`

	// Apart is the routing table that packets of the chain have in a standalone function,
	// where it has no addresses; 0 where it is not kept apart from other chains.
	Apart uint32 `json:"apart,omitempty"`
	// Functions that share the namespace, in path order; none where it is for one.
	Functions []Member `json:"functions,omitempty"`
	// Replica is which of a function's it is; nil where that has none but itself.
	Replica *Replica `json:"replica,omitempty"`
	// NSH is what a function reads that gets frames whole, behind a header; nil for others.
	NSH *NSH `json:"nsh,omitempty"`

	// Branches send packets on to other nodes by the marks with which they leave, and Next is where
	// the others go on; "" is the node behind it.
	Branches []api.Branch `json:"branches,omitempty"`
	Next     string       `json:"next,omitempty"`
	// OneWay tells that what goes from the second endpoint to the first does not visit the function.
	OneWay bool `json:"one_way,omitempty"`
	// Past is what packets are led by past the node when it fails, where they meet functions without a namespace at its
	// ports; nil where they go to the node behind it at once.
	Past *Past `json:"past,omitempty"`

	endpoint api.Endpoint
	body     api.FunctionBody
	// replace is what the file says of where what comes to be in its place is put, and single tells that this cannot be beside it.
	replace string
	single  bool
	// onFailure is what becomes of packets when it fails; "" where nobody watches.
	onFailure string
	// shared namespaces belong to a standalone function.
	shared bool
	// passesOn tells that a program of the user's takes frames at one interface and sends them at the other.
	passesOn bool
	// devices are the names of the interfaces in a container that was brought, from west to east.
	devices []string
	// toServer and toClient are where the ends are reached from the node, and fromWest and fromEast where
	// packets go to that come to it on their way there.
	toServer, toClient, fromWest, fromEast []netip.Addr
}

// WatchedOver tells whether somebody sees to it that the node works, because its function has onFailure.
func (n Node) WatchedOver() bool { return n.onFailure != "" }

// Delay that the function adds to every packet on purpose, on its way there and back
// together.
func (n Node) Delay() api.Duration {
	if o, delays := n.body.Options.(interface{ Delays() api.Duration }); delays {
		return o.Delays()
	}
	return 0
}

// Interface is one of a node's ends of a hop.
type Interface struct {
	Device    string       `json:"device"`
	MAC       string       `json:"mac"`
	Addresses []netip.Addr `json:"addresses"`
}

// Direct is the hop beside the chain: the ends' interfaces on it.
type Direct struct {
	Client Interface `json:"client"`
	Server Interface `json:"server"`
}

// Alone tells that this is the plan of a standalone function, not of a chain.
func (p *Plan) Alone() bool { return p.Wiring == "" }

// Client is the first endpoint, Server the second.
func (p *Plan) Client() Node { return p.Nodes[0] }

// Server is the second endpoint.
func (p *Plan) Server() Node { return p.Nodes[len(p.Nodes)-1] }

// Functions are the nodes between the endpoints.
func (p *Plan) Functions() []Node { return p.Nodes[1 : len(p.Nodes)-1] }

// Namespaces are those of the nodes in path order, then others that the chain makes or in
// which something of it lies. The host's own is none of them.
func (p *Plan) Namespaces() []string {
	var all []string
	known := map[string]bool{"": true}
	add := func(name string) {
		if !known[name] {
			known[name], all = true, append(all, name)
		}
	}
	for _, n := range p.Nodes {
		add(n.Namespace)
	}
	for _, r := range p.Resources {
		if made, is := r.Spec.(namespace.Spec); is {
			add(made.Name)
		}
		add(r.Namespace)
	}
	return all
}

// Make plans a chain.
func Make(chain api.Chain, c Catalogue, f Facts, o Options) (*Plan, error) {
	w, ok := c.Wirings[chain.Spec.Wiring]
	if !ok {
		return nil, fmt.Errorf("chain %s: there is no wiring %q", chain.Metadata.Name, chain.Spec.Wiring)
	}
	chain, o, called := instance(chain, o)
	var stops []string
	for {
		b := &builder{chain: chain, catalogue: c, wiring: w, facts: f, options: o, stops: stops, asFile: called}
		err := b.whole()
		if err == nil {
			return b.plan(), nil
		}
		if !b.again() {
			return nil, about(b.inWords(err), "chain "+chain.Metadata.Name)
		}
		stops = b.stops
	}
}

type builder struct {
	chain     api.Chain
	catalogue Catalogue
	wiring    wiring.Wiring
	facts     Facts
	options   Options
	// asFile is what the file calls functions that have other names here.
	asFile map[string]string

	nodes []Node
	// turn is which replica of each function is in its place, and replicas are the others.
	turn     int
	replicas []Node
	inline   []Inline
	// behind the replicas of a function, these passes are one.
	behind map[behind][]string
	// classifier is how flows get one of several paths; nil where there is one.
	classifier *Classifier
	runtimes   map[string]string
	// stops are the functions that are to be at a stop, and strays those that were found not to be right between others.
	stops, strays []string
	space         space
	direct        *Direct
	service       *Service
	// ends of the hops, a forwarder's ports behind them, and what is published over them.
	ends      []wiring.Ends
	ports     []wiring.Ports
	published []published
	requires  map[string]bool
	settings  map[string]string
	// links are the resources that a node's interfaces come from, by node.
	links     map[string][]string
	resources []resource.Resource
	// network of an engine, with which the ends' containers begin; nil where they begin with none.
	network   *container.Network
	placement *Placement
	// placing is how that was chosen; nil where none is asked for.
	placing *placing
	// claim is which CPUs the chain is given.
	claim Claim
	// by tells which function contributed a resource.
	by map[string]string
}

// whole builds all of a plan.
func (b *builder) whole() error {
	if err := b.build(); err != nil {
		return err
	}
	if err := b.replicate(); err != nil {
		return err
	}
	return errors.Join(b.pasts(), b.after(), b.watch())
}

func (b *builder) build() (err error) {
	if err := errors.Join(b.begin(), b.besideStops(), b.wired()); err != nil {
		return err
	}
	switch w := b.chain.Spec.Wiring; {
	case b.catalogue.Bare(w):
		return b.buildBare()
	case b.catalogue.Attaching(w):
		return b.buildAttached()
	case b.catalogue.Within(w):
		return b.buildWithin()
	}
	if err := errors.Join(b.partable(), b.passable(), b.checkDriver()); err != nil {
		return err
	}
	if b.chain.Spec.Parts() && b.chain.Spec.Classifier == nil {
		if err := b.headWays(); err != nil {
			return err
		}
	}
	if b.space, err = b.chooseSpace(); err != nil {
		return err
	}
	b.requires, b.links, b.by = map[string]bool{"netns": true}, map[string][]string{}, map[string]string{}
	b.number()
	if err := b.services(); err != nil {
		return err
	}
	if err := b.place(); err != nil {
		return err
	}
	if err := b.machine(); err != nil {
		return err
	}
	if err := b.hugepages(); err != nil {
		return err
	}
	b.namespaces()
	b.adopt()
	if err := b.hops(); err != nil {
		return err
	}
	b.straight()
	if err := b.branch(); err != nil {
		return err
	}
	if err := b.publish(); err != nil {
		return err
	}
	if err := b.hopLimits(); err != nil {
		return err
	}
	if err := b.functions(); err != nil {
		return err
	}
	if err := b.contain(); err != nil {
		return err
	}
	if b.chain.Spec.Classifier == nil {
		b.headersOn()
	}
	if err := errors.Join(b.passes(), b.everywhere()); err != nil {
		return err
	}
	if err := b.classify(); err != nil {
		return err
	}
	return b.placeWiring()
}

func (b *builder) plan() *Plan {
	p := &Plan{
		SchemaVersion: 1, Chain: b.chain.Metadata.Name, Wiring: b.wiring.Name(), Settings: b.settings,
		Nodes: b.everyNode(), Inline: b.inline, Classifier: b.classifier, Runtimes: inFile(b.runtimes, b.asFile), Instances: b.instances(), Blocks: b.space.blocks(), Direct: b.direct, Service: b.service, Placement: b.placement, Warnings: slices.Concat(b.mtus(), b.unvisited(), b.awaited()), Requires: []string{}, Resources: b.resources,
		bare: b.catalogue.Bare(b.wiring.Name()), foreign: b.catalogue.Attaching(b.wiring.Name()), hosted: b.hosted(), within: b.catalogue.Within(b.wiring.Name()), translated: b.translated(), files: b.facts.Files, claim: b.claim,
	}
	for i, w := range p.Warnings {
		p.Warnings[i] = b.inFile(w)
	}
	for name := range b.requires {
		p.Requires = append(p.Requires, name)
	}
	sort.Strings(p.Requires)
	return p
}

// nodeOf a seat, behind others.
func (b *builder) nodeOf(seat api.Seat, before []Node) (Node, error) {
	if seat.Grouped() {
		return b.group(seat, before)
	}
	f := seat.Functions[0]
	n := Node{Name: f.Name, Kind: f.Kind, Namespace: b.namespaceOf(f.Name), Called: b.asFile[f.Name], Made: true, Runtime: b.engineOf(f), body: f.FunctionBody, replace: f.Replace, single: b.replaceable(f) != nil, onFailure: f.OnFailure, Branches: f.Branches, Next: f.Next, OneWay: b.chain.Spec.OneWay(f)}
	if f.Ref != "" {
		body, ok := b.facts.Functions[f.Ref]
		if !ok {
			return n, fmt.Errorf("function %s refers to %s, which is not there; `nfchain up` it first or put it into the same file", f.Name, f.Ref)
		}
		n.Kind, n.body, n.Made, n.shared, n.Namespace, n.Runtime = body.Kind, body, false, true, namespace.Alone(f.Ref), ""
		if err := b.keepApart(&n, f.Ref); err != nil {
			return n, err
		}
	}
	err := errors.Join(b.replica(&n, f), b.encapsulate(&n, f))
	return n, errors.Join(about(err, "function "+f.Name), b.clear(&n))
}

func (b *builder) endpoint(e api.Endpoint) Node {
	n := Node{Name: e.Name, Kind: "endpoint", Namespace: b.namespaceOf(e.Name), Made: true, endpoint: e}
	if api.IsEngine(e.Runtime) {
		n.Runtime, n.body.Container = e.Runtime, e.Container
	}
	if e.Namespace != "" {
		n.Namespace, n.Made = e.Namespace, false
	}
	return n
}

func (b *builder) namespaceOf(node string) string {
	return namespace.Name(b.chain.Metadata.Name, node)
}

// need is the ID of what makes the node's namespace, if the chain makes it.
func need(n Node) []string {
	if !n.Made {
		return nil
	}
	return []string{resource.ID(namespace.KindName, "", n.Namespace)}
}

func (b *builder) add(r ...resource.Resource) { b.resources = append(b.resources, r...) }
