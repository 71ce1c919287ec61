// Package v1alpha1 holds the nouns a user writes: NetworkServiceChain,
// ServiceFunction and Experiment. It decodes them from YAML or JSON, fills in
// defaults, validates them and makes their JSON schema. It knows no wiring, no
// function kind and no traffic tool: those are handed to it in a [Catalogue].
package v1alpha1

// Version is the apiVersion of every document this package reads.
const Version = "nfchain.dev/v1alpha1"

// The kinds of document.
const (
	KindChain      = "NetworkServiceChain"
	KindFunction   = "ServiceFunction"
	KindExperiment = "Experiment"
)

// Metadata names a document. A name is a DNS label (RFC 1123 §2.1): lower-case
// letters, digits and '-', at most 63, starting and ending with a letter or
// digit. It becomes part of the names of what is made, so nothing else fits.
type Metadata struct {
	Name        string            `json:"name" jsonschema:"required"`
	Description string            `json:"description,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
}

// Chain is an ordered list of service functions between two endpoints
// (RFC 7665's service function chain).
type Chain struct {
	APIVersion string    `json:"apiVersion" jsonschema:"required"`
	Kind       string    `json:"kind" jsonschema:"required"`
	Metadata   Metadata  `json:"metadata" jsonschema:"required"`
	Spec       ChainSpec `json:"spec" jsonschema:"required"`
}

// ChainSpec is what a chain is made of.
type ChainSpec struct {
	// Wiring is how neighbours are joined: a name in the catalogue. Default "veth".
	Wiring string `json:"wiring,omitempty"`
	// Runtime is where functions live unless one says otherwise. Default "netns".
	Runtime string `json:"runtime,omitempty"`
	// Endpoints are the chain's two ends, first the one that opens connections.
	// Default: namespaces "client" and "server", made for the chain.
	Endpoints []Endpoint `json:"endpoints,omitempty"`
	// Functions are visited in this order by traffic from the first endpoint
	// to the second and in the reverse order by traffic back.
	Functions []Function `json:"functions,omitempty"`
	Addresses Addresses  `json:"addresses,omitempty"`
	// MTU of every link of the chain, bytes of IP packet. Default 1500.
	MTU int `json:"mtu,omitempty"`
}

// Endpoint is one end of a chain. With neither Namespace nor Interface it is
// a namespace made for the chain and removed with it.
type Endpoint struct {
	Name string `json:"name" jsonschema:"required"`
	// Namespace is an existing named network namespace (as `ip netns list`
	// shows) to be used as the endpoint. It gains one interface, its addresses
	// and routes while the chain is up, and is never removed.
	Namespace string `json:"namespace,omitempty"`
	// Interface is an existing interface of the host. It is moved into a
	// namespace made for the endpoint, which then routes between it and the
	// chain; `down` puts it back with its addresses and state.
	Interface string `json:"interface,omitempty"`
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
	Name string `json:"name" jsonschema:"required"`
	// FunctionBody is empty when Ref is set.
	FunctionBody
	// Ref is the name of a ServiceFunction to use instead of one of the chain's own.
	Ref string `json:"ref,omitempty"`
}

// FunctionBody is what a function in a chain and a standalone one share.
type FunctionBody struct {
	// Kind is a name in the catalogue: forward, firewall, shaper, command ...
	Kind string `json:"kind,omitempty"`
	// Runtime overrides the chain's.
	Runtime string `json:"runtime,omitempty"`
	// Replicas of the function. Default 1; wirings refuse what they cannot do.
	Replicas int `json:"replicas,omitempty"`
	// Direction in which the function acts: both (default), forward, reverse.
	Direction Direction  `json:"direction,omitempty"`
	Resources *Resources `json:"resources,omitempty"`
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
	// Memory is the most a function's processes may map each (RLIMIT_AS).
	Memory Size `json:"memory,omitempty"`
}

// StandaloneFunction is a function that chains refer to and that outlives them.
type StandaloneFunction struct {
	APIVersion string       `json:"apiVersion" jsonschema:"required"`
	Kind       string       `json:"kind" jsonschema:"required"`
	Metadata   Metadata     `json:"metadata" jsonschema:"required"`
	Spec       FunctionBody `json:"spec" jsonschema:"required"`
}

// Load is what is offered to a chain and how often.
type Load struct {
	// Tool names the traffic tools: iperf3, sockperf, ping, or auto (default).
	Tool string `json:"tool,omitempty"`
	// Protocols to measure, each its own condition: tcp, udp, latency.
	Protocols []string `json:"protocols,omitempty"`
	// Flows is the number of parallel independent client/server pairs. Default 1.
	Flows int `json:"flows,omitempty"`
	// PayloadSize is the bytes of one send (iperf3's -l). 0: the tool's own.
	PayloadSize Size `json:"payload_size,omitempty"`
	// Rate offered, in sum over the flows. 0: as much as the tool can.
	Rate Rate `json:"rate,omitempty"`
	// Duration of one trial. Default 5s.
	Duration Duration `json:"duration,omitempty"`
	// Repeats of every condition. Default 3.
	Repeats int `json:"repeats,omitempty"`
	// Zerocopy uses sendfile instead of write (iperf3's -Z).
	Zerocopy bool `json:"zerocopy,omitempty"`
	// Affinity of the tools: none (default), spread (flow i on core i modulo
	// the cores), or a CPU list for all of them.
	Affinity string `json:"affinity,omitempty"`
	// Direct measures the path without functions too. Default true for bench.
	Direct *bool `json:"direct,omitempty"`
}

// Experiment is a chain, a load, what to vary, and what is claimed of it.
type Experiment struct {
	APIVersion string         `json:"apiVersion" jsonschema:"required"`
	Kind       string         `json:"kind" jsonschema:"required"`
	Metadata   Metadata       `json:"metadata" jsonschema:"required"`
	Spec       ExperimentSpec `json:"spec" jsonschema:"required"`
}

// ExperimentSpec is the body of an Experiment.
type ExperimentSpec struct {
	// Source is the publication that is reproduced, if one is.
	Source *Source `json:"source,omitempty"`
	// Chain is the chain at every point of the sweep, before the point's values.
	Chain ChainSpec `json:"chain,omitempty"`
	Load  Load      `json:"load,omitempty"`
	// Sweep lists the factors; every combination of values is a condition.
	Sweep []Factor `json:"sweep,omitempty"`
	// Quick replaces parts of Load under --quick; such runs are marked.
	Quick *Load `json:"quick,omitempty"`
	// Seed of the order of trials. 0: drawn, and recorded.
	Seed      int64       `json:"seed,omitempty"`
	Reference []Reference `json:"reference,omitempty"`
	Models    []Model     `json:"models,omitempty"`
	Claims    []Claim     `json:"claims,omitempty"`
}

// Source says where an experiment was published.
type Source struct {
	// ID is author+year, as in the experiment ids: livi2016.
	ID    string `json:"id" jsonschema:"required"`
	Title string `json:"title" jsonschema:"required"`
	// At is the section, figure or table.
	At string `json:"at,omitempty"`
	// Machine is what the source measured on.
	Machine string `json:"machine,omitempty"`
}

// Factor is one thing that is varied: length (namespaces, both ends included),
// or a field of Load by its JSON name.
type Factor struct {
	Field  string `json:"field" jsonschema:"required"`
	Values []any  `json:"values" jsonschema:"required"`
}

// Reference is one value the source prints.
type Reference struct {
	// At are the factor values it belongs to.
	At     map[string]any `json:"at" jsonschema:"required"`
	Metric string         `json:"metric" jsonschema:"required"`
	Value  float64        `json:"value" jsonschema:"required"`
	Note   string         `json:"note,omitempty"`
}

// Model is a fit over the conditions of an experiment.
type Model struct {
	Name string `json:"name" jsonschema:"required"`
	// Kind: loss_per_hop, t(n) = t(2)·(1−l)^(n−2) (Livi et al. §IV-C).
	Kind   string `json:"kind" jsonschema:"required"`
	Metric string `json:"metric" jsonschema:"required"`
	// Where restricts the conditions by factor value.
	Where map[string]any `json:"where,omitempty"`
	// MaxLength leaves longer chains out of the fit; they are still compared with it.
	MaxLength int `json:"max_length,omitempty"`
}

// Claim is one statement of the source, made checkable: an estimate with an
// interval, and the range in which the statement holds. It holds when the whole
// interval lies in the range, does not when none of it does, and is undecided
// otherwise.
type Claim struct {
	ID   string `json:"id" jsonschema:"required"`
	Text string `json:"text" jsonschema:"required"`
	At   string `json:"at,omitempty"`
	Note string `json:"note,omitempty"`
	// Needs names a feature or wiring without which the claim cannot be told here.
	Needs string `json:"needs,omitempty"`
	// Check says what to estimate; see package experiment for the kinds.
	Check Check `json:"check,omitempty"`
}

// Check is the estimate of a claim and the range in which the claim holds.
type Check struct {
	// Kind: loss (1 − b/a), ratio (b/a), slope_fades (the loss per namespace
	// between long chains less that between short ones), model_error (the
	// largest relative error of a model over its fitted lengths), unavailable.
	Kind   string `json:"kind,omitempty"`
	Metric string `json:"metric,omitempty"`
	// A and B select one condition each by factor value.
	A map[string]any `json:"a,omitempty"`
	B map[string]any `json:"b,omitempty"`
	// C and D are the second pair of a comparison of two steps.
	C map[string]any `json:"c,omitempty"`
	D map[string]any `json:"d,omitempty"`
	// Model names the model of a model_error check.
	Model string `json:"model,omitempty"`
	// AtLeast and AtMost bound the range; absent means unbounded.
	AtLeast *float64 `json:"at_least,omitempty"`
	AtMost  *float64 `json:"at_most,omitempty"`
}
