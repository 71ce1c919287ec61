package trial

// Setup is a chain as it was made for some of a run's conditions and read back.
type Setup struct {
	Conditions List[int] `json:"conditions"`
	Wiring     string    `json:"wiring"`
	// WiringSettings are what the wiring chose: which datapath, which ports.
	WiringSettings Map[string] `json:"wiring_settings"`
	Length         int         `json:"length"`
	// Nodes are how many endpoints and functions there are, by kind.
	Nodes Map[int] `json:"nodes"`
	// Runtimes are what was chosen for functions that leave it to nfchain, by their names.
	Runtimes Map[string] `json:"runtimes,omitempty"`
	// Plan is the SHA-256 of all that was to be made.
	Plan string `json:"plan_sha256"`
	// Interfaces are the chain's, those that are set alike together.
	Interfaces List[InterfaceSetup] `json:"interfaces"`
	// Settings of the chain's namespaces (sysctl), where all of them agree;
	// "differs" where they do not.
	Settings Map[string] `json:"settings"`
	// Unread says what could not be read back, and why.
	Unread List[string] `json:"unread"`
}

// InterfaceSetup is how interfaces of a chain are set, as the kernel told. What it
// did not tell is absent.
type InterfaceSetup struct {
	// Interfaces are named NODE:DEVICE.
	Interfaces List[string] `json:"interfaces"`
	Type       string       `json:"type"`
	Driver     string       `json:"driver,omitempty"`
	MTU        int          `json:"mtu"`
	QueueLen   int          `json:"tx_queue_length"`
	RxQueues   int          `json:"rx_queues"`
	TxQueues   int          `json:"tx_queues"`
	// The largest super-packets: sent whole, and merged on receipt (BIG TCP).
	GSOMaxBytes     uint32 `json:"gso_max_bytes,omitempty"`
	GSOMaxSegments  uint32 `json:"gso_max_segments,omitempty"`
	GSOIPv4MaxBytes uint32 `json:"gso_ipv4_max_bytes,omitempty"`
	GROMaxBytes     uint32 `json:"gro_max_bytes,omitempty"`
	GROIPv4MaxBytes uint32 `json:"gro_ipv4_max_bytes,omitempty"`
	// Qdiscs are kinds with their parents: "htb root".
	Qdiscs List[string] `json:"qdiscs"`
	// OffloadsOn and OffloadsOff are the kernel's names of what is on, and of what
	// is off and could be on.
	OffloadsOn  []string `json:"offloads_on,omitempty"`
	OffloadsOff []string `json:"offloads_off,omitempty"`
	// Knobs are others by their names in a chain's file: queues in use, who serves them,
	// the segment size that is announced. None is absent.
	Knobs map[string]string `json:"knobs,omitempty"`
}
