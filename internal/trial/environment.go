package trial

// Environment is what a reader needs to know of the machine (RFC 8204 §3.3,
// draft-ietf-bmwg-containerized-infra-08 §5.2, as far as a machine can tell it).
// Unknown values are absent: a run that was stored before a field was known has
// it absent too.
type Environment struct {
	NfchainVersion string `json:"nfchain_version"`
	// Build is how the binary was built: compiler, platform, module versions that
	// act on the network.
	Build         string `json:"nfchain_build,omitempty"`
	OS            string `json:"os,omitempty"`
	Kernel        string `json:"kernel"`
	KernelCmdline string `json:"kernel_cmdline,omitempty"`
	Architecture  string `json:"architecture"`
	Hardware      string `json:"hardware,omitempty"`
	// Firmware is the maker, version and date of BIOS or UEFI.
	Firmware       string `json:"firmware,omitempty"`
	Virtualization string `json:"virtualization,omitempty"`
	// Container is what kind of container nfchain ran in.
	Container string `json:"container,omitempty"`
	CPUModel  string `json:"cpu_model,omitempty"`
	Microcode string `json:"microcode,omitempty"`
	CPUs      int    `json:"cpus"`
	// Processor is how the cores are built and kept from being disturbed.
	Processor *Processor `json:"processor,omitempty"`
	NUMANodes int        `json:"numa_nodes,omitempty"`
	NUMA      []NUMANode `json:"numa,omitempty"`
	// Mitigations by vulnerability, as the kernel names them.
	Mitigations map[string]string `json:"mitigations,omitempty"`
	MemoryBytes uint64            `json:"memory_bytes,omitempty"`
	Hugepages   []HugepagePool    `json:"hugepages,omitempty"`
	// NICs are the machine's physical interfaces.
	NICs       []NIC   `json:"nics,omitempty"`
	Governor   string  `json:"cpu_governor,omitempty"`
	Privileges string  `json:"privileges"`
	Cgroup     *Cgroup `json:"cgroup,omitempty"`
	// Limits are the process's own, soft and hard (getrlimit(2)), by name.
	Limits map[string]string `json:"limits,omitempty"`
	// Tools are the versions of the programs that answered.
	Tools Map[string] `json:"tools"`
	// ToolsFound is where each of them lies and how its version was asked for.
	ToolsFound map[string]string `json:"tools_found,omitempty"`
	Settings   Map[string]       `json:"settings"`
	// LoadBefore is what the machine did before anything was made or measured.
	LoadBefore *Load `json:"load_before,omitempty"`
}

// Processor is the cores as they are built, and as they are set.
type Processor struct {
	Sockets        int `json:"sockets,omitempty"`
	Cores          int `json:"cores,omitempty"`
	ThreadsPerCore int `json:"threads_per_core,omitempty"`
	// SMT is the kernel's word: on, off, forceoff, notsupported, notimplemented.
	SMT string `json:"smt,omitempty"`
	// Caches are those that core 0 sees, from the nearest.
	Caches []Cache `json:"caches,omitempty"`
	// Driver scales the frequency; absent where nothing does.
	Driver string  `json:"scaling_driver,omitempty"`
	MinHz  float64 `json:"min_frequency_hz,omitempty"`
	MaxHz  float64 `json:"max_frequency_hz,omitempty"`
	// Turbo is on or off.
	Turbo      string      `json:"turbo,omitempty"`
	IdleDriver string      `json:"idle_driver,omitempty"`
	IdleStates []IdleState `json:"idle_states,omitempty"`
	// Isolated, NohzFull and RCUNocbs are lists of cores, such as "2-3", and "none".
	Isolated string `json:"isolated,omitempty"`
	NohzFull string `json:"nohz_full,omitempty"`
	RCUNocbs string `json:"rcu_nocbs,omitempty"`
	// Allowed are the cores that nfchain may use.
	Allowed string `json:"allowed,omitempty"`
}

// Cache of a core.
type Cache struct {
	Level     int    `json:"level"`
	Type      string `json:"type"`
	SizeBytes uint64 `json:"size_bytes"`
	// SharedBy lists the cores that have it together.
	SharedBy string `json:"shared_by,omitempty"`
}

// IdleState is one C-state of core 0.
type IdleState struct {
	Name     string `json:"name"`
	Disabled bool   `json:"disabled"`
	// LatencyS is how long leaving it takes.
	LatencyS float64 `json:"exit_latency_s"`
}

// NUMANode is a node of memory and its cores.
type NUMANode struct {
	Node        int    `json:"node"`
	CPUs        string `json:"cpus"`
	MemoryBytes uint64 `json:"memory_bytes,omitempty"`
}

// HugepagePool is the pages of one size.
type HugepagePool struct {
	SizeBytes uint64 `json:"size_bytes"`
	Total     uint64 `json:"total"`
	Free      uint64 `json:"free"`
}

// NIC is a physical interface.
type NIC struct {
	Interface string `json:"interface"`
	Driver    string `json:"driver,omitempty"`
	// Slot is its place on its bus: a PCI address.
	Slot string `json:"slot,omitempty"`
	// Device is the maker's and the model's number.
	Device   string `json:"device,omitempty"`
	NUMANode *int   `json:"numa_node,omitempty"`
	// SpeedBps of the link, where it has one.
	SpeedBps float64 `json:"speed_bps,omitempty"`
	// Interrupts are how many it has, and IRQCores the cores they may go to.
	Interrupts int    `json:"interrupts,omitempty"`
	IRQCores   string `json:"interrupt_cores,omitempty"`
}

// Cgroup is the control group that nfchain ran in, and the limits on it and on
// those above, each the tightest.
type Cgroup struct {
	// Version is "v1", "v2" or "v1 and v2".
	Version string `json:"version"`
	Path    string `json:"path,omitempty"`
	// CPUs is how many cores' worth of time is allowed.
	CPUs        *float64 `json:"cpu_limit_cores,omitempty"`
	CPUWeight   string   `json:"cpu_weight,omitempty"`
	CPUSet      string   `json:"cpuset,omitempty"`
	MemoryBytes *uint64  `json:"memory_limit_bytes,omitempty"`
	Pids        *uint64  `json:"pids_limit,omitempty"`
}

// Load is how busy the machine was over a time, with everything that ran on it.
type Load struct {
	// OverS is the time that the shares are of.
	OverS float64 `json:"over_s"`
	// Average is the kernel's load average at the end, over 1, 5 and 15 minutes.
	Average *[3]float64 `json:"load_average,omitempty"`
	// Busy and Steal are shares of all cores' time: not idle, and taken by the
	// machine underneath.
	Busy  *float64 `json:"busy_ratio,omitempty"`
	Steal *float64 `json:"steal_ratio,omitempty"`
	// Others is the share of all cores' time that programs took which were neither
	// nfchain's, its tools' nor the chain's. Those that began and ended in between
	// are in it by who waited for them.
	Others *float64 `json:"others_ratio,omitempty"`
	// Largest of those programs, the first the busiest.
	Largest []OtherUse `json:"others,omitempty"`
	// Pressure is the share of the time in which work waited, by what it waited
	// for: cpu, memory, io (PSI).
	Pressure map[string]Pressure `json:"pressure,omitempty"`
}

// OtherUse is the share of all cores' time that a program took, by its name.
type OtherUse struct {
	Command string  `json:"command"`
	Ratio   float64 `json:"ratio"`
}

// Pressure is the share of the time in which some, or all, work waited.
type Pressure struct {
	Some *float64 `json:"some_ratio,omitempty"`
	Full *float64 `json:"full_ratio,omitempty"`
}
