package v1alpha1

// Tuning is how the kernel handles packets at the chain's interfaces, and TCP in the
// namespaces that are made for the chain. What is absent stays as the kernel has it; what
// is set is read back, and what the kernel does not take is an error.
type Tuning struct {
	// Checksum leaves the checksums of what is sent to the interface.
	Checksum *bool `json:"checksum,omitempty"`
	// ScatterGather sends packets that lie in several pieces of memory.
	ScatterGather *bool `json:"scatter_gather,omitempty"`
	// TSO, TCP segmentation offload, sends TCP's super-packets whole.
	TSO *bool `json:"tso,omitempty"`
	// GSO, generic segmentation offload, keeps super-packets whole as long as can be.
	GSO *bool `json:"gso,omitempty"`
	// GRO, generic receive offload, merges packets of one connection on receipt.
	GRO *bool `json:"gro,omitempty"`
	// UDPGROForwarding merges UDP packets that are only forwarded too.
	UDPGROForwarding *bool `json:"udp_gro_forwarding,omitempty"`
	// GSOMaxSize is the largest super-packet that is sent; above 64 KiB it is BIG TCP.
	// Up to that, IPv4's follows it.
	GSOMaxSize Size `json:"gso_max_size,omitzero"`
	// GSOIPv4MaxSize is the largest of IPv4.
	GSOIPv4MaxSize Size `json:"gso_ipv4_max_size,omitzero"`
	// GROMaxSize is the largest super-packet that is merged on receipt. Up to 64 KiB,
	// IPv4's follows it.
	GROMaxSize Size `json:"gro_max_size,omitzero"`
	// GROIPv4MaxSize is the largest of IPv4.
	GROIPv4MaxSize Size `json:"gro_ipv4_max_size,omitzero"`
	// RxQueues are how many queues each interface receives on.
	RxQueues int `json:"rx_queues,omitzero" jsonschema:"minimum=1,maximum=4096"`
	// TxQueues are how many queues each interface sends by.
	TxQueues int `json:"tx_queues,omitzero" jsonschema:"minimum=1,maximum=4096"`
	// RPS, receive packet steering: the CPUs that handle what each receive queue gets, as
	// in taskset's list ("0,2-3"), or none.
	RPS string `json:"rps,omitempty"`
	// XPS, transmit packet steering: the CPUs that send by each transmit queue, or none.
	XPS string `json:"xps,omitempty"`
	// ThreadedNAPI takes packets off the queues in threads instead of in softirqs.
	ThreadedNAPI *bool `json:"threaded_napi,omitempty"`
	// TCPCongestionControl is the algorithm that connections start with.
	TCPCongestionControl string `json:"tcp_congestion_control,omitempty"`
	// TCPWindowScaling lets windows be larger than 64 KiB (RFC 7323 §2).
	TCPWindowScaling *bool `json:"tcp_window_scaling,omitempty"`
	// TCPRmem are the smallest, the first and the largest receive buffer of a connection.
	TCPRmem []Size `json:"tcp_rmem,omitempty"`
	// TCPWmem are the smallest, the first and the largest send buffer of a connection.
	TCPWmem []Size `json:"tcp_wmem,omitempty"`
	// TCPMSS is the largest segment that the ends announce, bytes of TCP payload.
	TCPMSS int `json:"tcp_mss,omitzero" jsonschema:"minimum=88,maximum=65495"`
	// MachineTuning is of the whole machine.
	MachineTuning
}

// MachineTuning is what the whole machine has one of. A chain changes it only where host
// says that it may, one chain at a time; what it was is written down before, and put back
// by `nfchain down`.
type MachineTuning struct {
	// Host must be allow for any of the others to be set.
	Host string `json:"host,omitempty" jsonschema:"enum=allow"`
	// RmemMax is the largest receive buffer that a program may ask for (net.core.rmem_max).
	RmemMax Size `json:"rmem_max,omitzero"`
	// WmemMax is the largest send buffer that a program may ask for (net.core.wmem_max).
	WmemMax Size `json:"wmem_max,omitzero"`
	// NetdevMaxBacklog is how many packets may wait for a core (net.core.netdev_max_backlog).
	NetdevMaxBacklog int `json:"netdev_max_backlog,omitzero" jsonschema:"minimum=1,maximum=2147483647"`
	// Hugepages is how many of the kernel's usual size are reserved (vm.nr_hugepages).
	Hugepages int `json:"hugepages,omitzero" jsonschema:"minimum=1,maximum=1073741824"`
	// Governor chooses the frequency of every core (cpufreq), such as performance.
	Governor string `json:"governor,omitempty"`
	// RCUExpedited has whoever waits for the kernel's grace periods wait for short ones (/sys/kernel/rcu_expedited), which
	// interrupt every CPU; what is at tcx is put there, and taken away, some milliseconds sooner each.
	RCUExpedited *bool `json:"rcu_expedited,omitempty"`
	// Interrupts are the CPUs that take those of the network cards that endpoints take in,
	// as in taskset's list.
	Interrupts string `json:"interrupts,omitempty"`
}
