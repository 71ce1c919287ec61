package feature

import "strings"

// The names of the features.
const (
	Root     = "privilege.root"      // uid 0 of the machine, not of a user namespace
	NetAdmin = "privilege.net_admin" // CAP_NET_ADMIN, here or in a user namespace
	UserNS   = "privilege.userns"    // a user without privileges may make user namespaces
	NoFile   = "limits.nofile"       // enough open files for a long chain

	NetNS          = "netns"
	Veth           = "veth"
	Bridge         = "bridge"
	Macvlan        = "macvlan"
	Dummy          = "dummy"
	IPvlan         = "ipvlan"
	VXLAN          = "vxlan"
	NFTables       = "nftables"
	NFTBytes       = "nft.connbytes" // nftables can match on the bytes of a connection
	NFTNAT         = "nft.nat"       // nftables can translate addresses, and share connections out
	IPTables       = "iptables"      // the tool, working; Detail names its variant
	IPTBytes       = "iptables.connbytes"
	QdiscHTB       = "qdisc.htb"
	QdiscTBF       = "qdisc.tbf"
	QdiscNetem     = "qdisc.netem"
	Redirect       = "tc.redirect" // what an interface takes in goes to another
	Tun            = "tun"
	Conntrack      = "conntrack"
	BPFTCX         = "bpf.tcx"
	BPFXDP         = "bpf.xdp"
	BPFPeer        = "bpf.peer"     // programs can send packets on to the far end of a veth
	BPFClsact      = "bpf.clsact"   // programs as classifiers of tc
	BPFIngress     = "bpf.ingress"  // programs at what an interface takes in or sends, at either of these
	BPFTrace       = "bpf.trace"    // programs at tracepoints, and types that say where to look
	PerfEvents     = "perf.events"  // stacks of every core can be sampled
	OVSKernel      = "ovs.kernel"   // Open vSwitch's datapath in the kernel
	Pktgen         = "pktgen"       // the kernel's own packet generator
	NAPIThreads    = "napi.threads" // the threads of threaded NAPI can be found and bound
	ToolIP         = "tool.ip"
	ToolTC         = "tool.tc"
	ToolNFT        = "tool.nft"
	ToolIperf3     = "tool.iperf3"
	ToolSockp      = "tool.sockperf"
	ToolPing       = "tool.ping"
	ToolFping      = "tool.fping"
	ToolNetperf    = "tool.netperf"
	ToolEthtool    = "tool.ethtool"
	ToolOVS        = "tool.ovs"
	ToolBuildah    = "tool.buildah"
	ToolDocker     = "tool.docker"     // an engine of this machine that answers
	ToolContainerd = "tool.containerd" // one of this machine that answers
	ToolPodman     = "tool.podman"     // its service
	ToolLXC        = "tool.lxc"        // its programs
	ToolQEMU       = "tool.qemu"
	ToolTestpmd    = "tool.testpmd"

	CPUCount       = "cpu.count"       // two cores or more
	CPUGovernor    = "cpu.governor"    // every core under the performance governor
	CPUFrequency   = "cpu.frequency"   // the cores' frequency can be read
	CPUTemperature = "cpu.temperature" // a temperature can be read
	NUMA           = "numa"            // more than one memory node

	Hugepages       = "hugepages"        // pages are reserved
	HugepagesLimits = "hugepages.limits" // those of a container can be bound
)

// groups by the part of a name before its first dot; the rest is the kernel's.
var groups = map[string]string{
	"privilege": Privileges, "limits": Privileges,
	"tool": Tools,
	"cpu":  CPU, "numa": CPU,
	"hugepages": Memory,
}

func groupOf(name string) string {
	stem, _, _ := strings.Cut(name, ".")
	if group, ok := groups[stem]; ok {
		return group
	}
	return Kernel
}
