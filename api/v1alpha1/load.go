package v1alpha1

// Load is what is offered to a chain and how often.
type Load struct {
	// Tool names the traffic tools: iperf3, sockperf, ping, or auto (default).
	Tool string `json:"tool,omitempty"`
	// Protocols to measure, each its own condition: tcp, udp, latency.
	Protocols []string `json:"protocols,omitempty" jsonschema:"minItems=1,enum=tcp,enum=udp,enum=latency"`
	// Flows is the number of parallel independent client/server pairs. Default 1.
	Flows int `json:"flows,omitempty" jsonschema:"minimum=1,maximum=1024"`
	// PayloadSize is the bytes of one send (iperf3's -l). 0: the tool's own.
	PayloadSize Size `json:"payload_size,omitempty"`
	// Rate offered, in sum over the flows. 0: as much as the tool can.
	Rate Rate `json:"rate,omitempty"`
	// Duration of one trial. Default 5s.
	Duration Duration `json:"duration,omitempty"`
	// Repeats of every condition. Default 3.
	Repeats int `json:"repeats,omitempty" jsonschema:"minimum=1,maximum=10000"`
	// Zerocopy uses sendfile instead of write (iperf3's -Z).
	Zerocopy bool `json:"zerocopy,omitempty"`
	// Affinity of the tools: none (default), spread (flow i on core i modulo
	// the cores), or a CPU list for all of them.
	Affinity string `json:"affinity,omitempty"`
	// Direct measures the path without functions too. Default true for bench.
	Direct *bool `json:"direct,omitempty"`
}
