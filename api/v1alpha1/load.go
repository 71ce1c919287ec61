package v1alpha1

// Load is what is offered to a chain and how often.
type Load struct {
	// Tool names the traffic tool; auto (default) takes the first that is installed and
	// measures the protocol.
	Tool string `json:"tool,omitempty"`
	// Protocols to measure, each its own condition: tcp, udp, latency, or
	// transactions: tcp_rr, udp_rr, tcp_crr, or TCP by the method of RFC 6349: rfc6349, or a web
	// server's answers: http.
	Protocols []string `json:"protocols,omitempty" jsonschema:"minItems=1,enum=tcp,enum=udp,enum=latency,enum=tcp_rr,enum=udp_rr,enum=tcp_crr,enum=rfc6349,enum=http"`
	// Flows is the number of parallel independent client/server pairs, or of flows that the
	// frames of a tool that makes its own are of in turn. A tool may take fewer than can be
	// written here. Default 1.
	Flows int `json:"flows,omitempty" jsonschema:"minimum=1,maximum=1048576"`
	// PayloadSize is the bytes of one send (iperf3's -l). Unset: the tool's own.
	PayloadSize Size `json:"payload_size,omitempty"`
	// Rate offered, in sum over the flows: bits, or frames (100kpps) for a tool that
	// makes its own. Unset: as much as the tool can. Of rfc6349 it is the bandwidth of
	// the bottleneck, where that is known.
	Rate LoadRate `json:"rate,omitzero"`
	// Frames says what the frames of a tool that makes its own are like.
	Frames
	// Beside says what else there is while a trial runs.
	Beside
	// Search for loads, instead of the rate. Each condition is searched for itself.
	Search *Search `json:"search,omitempty"`
	// Messages says what transactions are made of.
	Messages
	// Web says what requests to a web server are like.
	Web
	// Duration of one trial. Default 5s; of rfc6349 alone, or where a sweep comes to it, 31s.
	Duration Duration `json:"duration,omitempty"`
	// Repeats of every condition. Default 3.
	Repeats int `json:"repeats,omitempty" jsonschema:"minimum=1,maximum=10000"`
	// Repetition says how the repeats go on beyond a fixed number.
	Repetition
	// Zerocopy uses sendfile instead of write (iperf3's -Z).
	Zerocopy bool `json:"zerocopy,omitempty"`
	// Affinity of the tools: none (default), spread (flow i on core i modulo
	// the cores), a CPU list for all of them, or one for each end of the chain, the
	// client's first: "0/1". A chain's placement says the same with the chain.
	Affinity string `json:"affinity,omitempty"`
	// Direct measures the path without functions too. Default true for bench.
	Direct *bool `json:"direct,omitempty"`
	// Path that is measured: chain (default), or direct, the path without functions alone,
	// while the chain's functions are there. Over one switch for all, they are so many more
	// containers on it.
	Path string `json:"path,omitzero" jsonschema:"enum=chain,enum=direct"`
}

// Frames says what frames a generator sends. Only tools that make their own
// frames take these fields; a load that sets one is refused by the others.
type Frames struct {
	// FrameSize in bytes, with the frame check sequence, as RFC 2544 counts.
	FrameSize int `json:"frame_size,omitzero" jsonschema:"minimum=64,maximum=9216"`
	// IMIX is a mix of frame sizes by its genome (RFC 6985 §4), such as
	// aaaaaaaddddg; instead of FrameSize.
	IMIX string `json:"imix,omitzero"`
	// Pattern of sending: periodic (default) or poisson.
	Pattern string `json:"pattern,omitzero" jsonschema:"enum=periodic,enum=poisson"`
	// Burst is how many frames are sent back to back whenever they are due. Default 1.
	Burst int `json:"burst,omitzero" jsonschema:"minimum=1,maximum=1000000000"`
	// Bidirectional sends from both ends at once, each at the whole rate (RFC 2544 §14).
	Bidirectional bool `json:"bidirectional,omitzero"`
	// IPVersion of the frames, 4 or 6. Default: the chain's, 4 where it has both.
	IPVersion int `json:"ip_version,omitzero" jsonschema:"minimum=4,maximum=6"`
	// VLAN identifier the frames are tagged with. Unset: no tag.
	VLAN int `json:"vlan,omitzero" jsonschema:"minimum=1,maximum=4094"`
	// FlowsBy is what flows differ in: ports (default), addresses, or both.
	FlowsBy string `json:"flows_by,omitzero" jsonschema:"enum=ports,enum=addresses,enum=both"`
}

// Beside says what else there is on the machine while a chain is measured: more chains
// like it, or containers that do nothing. They are made and removed with it. And it says
// what the chain loses meanwhile.
type Beside struct {
	// ActiveChains is how many chains like this one carry the load at once, this one
	// included, each the whole load. Those beside one with a tenant are of other tenants,
	// so that they may go through one function that stands alone. Default 1.
	ActiveChains int `json:"active_chains,omitzero" jsonschema:"minimum=1,maximum=64"`
	// IdleContainers is the length of a chain of forwarders over the same wiring that
	// carries nothing meanwhile, both its ends included. Default 0: there is none.
	IdleContainers int `json:"idle_containers,omitzero" jsonschema:"minimum=0,maximum=4096"`
	// Harm is what is taken from the chain when a third of each trial is over: program NODE (its
	// program or container is killed), stopped NODE (it is held still by a signal, where it has onFailure), interface NODE (its western one, or the first endpoint's, is
	// removed), supervisor (it is killed); several with commas between. What nothing brings back
	// by itself `nfchain up` does, at once. Each such trial has a chain made anew. Default: nothing.
	Harm string `json:"harm,omitzero"`
}

// Messages says what the transactions of tcp_rr, udp_rr and tcp_crr are made of.
type Messages struct {
	// RequestSize in bytes, of the message that the client sends. Default 1.
	RequestSize Size `json:"request_size,omitzero"`
	// ResponseSize in bytes, of the message that answers it, or of the object that http asks the tool's
	// own server for. Default 1.
	ResponseSize Size `json:"response_size,omitzero"`
	// BusyLoop asks the kernel for messages again and again, on both sides, instead
	// of sleeping until one comes: less latency, and a core for every thread.
	BusyLoop bool `json:"busy_loop,omitzero"`
}

// Web says what the requests of http are like. They go over as many connections as there are
// flows, each of which has one under way.
type Web struct {
	// URL that is asked for, such as http://web:8080/index.html, of a function of the chain, its second end,
	// or an address. Default: an object of response_size from a small server of the tool's own, at the
	// second end. For udp_rr one such as udp://echo:7007, of what gives back each datagram as it is.
	URL string `json:"url,omitzero"`
	// RequestRate is how many requests a second are due, over all connections, and latency is from
	// when they were. Default: each follows the answer before, and latency is from when it was sent. Of
	// latency without http it is how many requests ping or fping send a second, which are to be whole
	// milliseconds apart, 500 at most and by default.
	RequestRate int `json:"request_rate,omitzero" jsonschema:"minimum=1,maximum=1000000"`
}
