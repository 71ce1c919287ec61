package feature

// catalogue is every question, group by group.
func catalogue() []question {
	var all []question
	all = append(all, privilegeQuestions()...)
	all = append(all, kernelQuestions()...)
	for _, t := range tools() {
		all = append(all, t.question())
	}
	for _, e := range engines {
		all = append(all, e.question())
	}
	return append(all, hardwareQuestions()...)
}

func privilegeQuestions() []question {
	return []question{
		{Root, "everything; BPF, cgroups and settings of the whole machine need it", askRoot},
		{NetAdmin, "making chains", askNetAdmin},
		{UserNS, "making chains without root", askUserNS},
		{NoFile, "chains of a thousand functions", askNoFile},
	}
}

func kernelQuestions() []question {
	return []question{
		{NetNS, "functions as network namespaces", askNetNS},
		{Veth, "wiring veth", linkAsking(vethKind)},
		{Bridge, "wirings of Linux bridges", linkAsking(bridgeKind)},
		{Macvlan, "wirings of macvlan", linkAsking(macvlanKind)},
		{Dummy, "macvlan and ipvlan networks of an engine's over no interface of the host", linkAsking(dummyKind)},
		{IPvlan, "wirings of ipvlan", linkAsking(ipvlanKind)},
		{VXLAN, "wirings between hosts", linkAsking(vxlanKind)},
		{NFTables, "firewalls in nftables", askNFTables},
		{NFTBytes, "stateful generated rules in nftables", askNFTBytes},
		{NFTNAT, "address translation and load balancing", askNFTNAT},
		{IPTables, "firewalls in iptables", askIPTables},
		{IPTBytes, "stateful generated rules in iptables", askIPTBytes},
		{QdiscHTB, "shapers: HTB", qdiscAsking(htbKind)},
		{QdiscTBF, "shapers: TBF", qdiscAsking(tbfKind)},
		{QdiscNetem, "impairments in the kernel, at random", qdiscAsking(netemKind)},
		{Redirect, "impairments by a program", askRedirect},
		{Tun, "impairments by a program", linkAsking(tunKind)},
		{Conntrack, "stateful firewalls and address translation", askConntrack},
		{BPFPeer, "wiring ebpf", askPeer},
		{BPFTCX, "wiring ebpf, at tcx", askTCX},
		{BPFClsact, "wiring ebpf, at clsact", askClsact},
		{BPFIngress, "functions counter, dscp, mark, drop, ratelimit and passthrough, inline functions, branches, and probes of onFailure", askIngress},
		{BPFXDP, "inline functions on XDP, and the built-in generator", askXDP},
		{OVSKernel, "wiring ovs: the datapath in the kernel, instead of the one in user space", askOVSKernel},
		{NAPIThreads, "placing the threads of threaded_napi", askNAPIThreads},
		{Pktgen, "traffic tool pktgen: frames from the kernel's own generator", askPktgen},
		{BPFTrace, "nfchain trace: where packets go in a live chain", askTrace},
		{PerfEvents, "nfchain profile: what the cores execute during a trial", askPerf},
	}
}

func hardwareQuestions() []question {
	return []question{
		{CPUCount, "traffic tools and chain on cores of their own", askCPUCount},
		{CPUGovernor, "repeats at one frequency", askGovernor},
		{CPUFrequency, "the cores' frequency beside each trial", askFrequency},
		{CPUTemperature, "the temperature beside each trial", askTemperature},
		{NUMA, "placing functions by memory node", askNUMA},
		{Hugepages, "functions and traffic on DPDK", askHugepages},
		{HugepagesLimits, "hugepages of functions in containers", askHugepagesLimits},
	}
}
