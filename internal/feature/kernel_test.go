package feature

import (
	"os/exec"
	"testing"
)

// witnesses are the commands by which iproute2, nft and iptables, in a namespace
// made by util-linux, tell the same as a probe of ours.
var witnesses = map[string]string{
	NetNS:      "true",
	Veth:       "ip link add p1 type veth peer name p2",
	Bridge:     "ip link add p1 type bridge",
	Dummy:      "ip link add p1 type dummy",
	Macvlan:    "ip link add p1 type veth peer name p2 && ip link add p3 link p1 type macvlan mode bridge",
	IPvlan:     "ip link add p1 type veth peer name p2 && ip link add p3 link p1 type ipvlan mode l3",
	VXLAN:      "ip link add p1 type vxlan id 1 dstport 4789",
	NFTables:   "nft add table ip t",
	NFTNAT:     "nft add table t && nft 'add chain t c { type nat hook postrouting priority 100; }' && nft add rule t c numgen inc mod 2 0 snat to 192.0.2.1 && nft add rule t c jhash ip saddr mod 2 0 masquerade",
	NFTBytes:   "nft add table t && nft add chain t c && nft add rule t c ct bytes '>' 1",
	IPTables:   "iptables -A FORWARD -s 198.51.100.1 -j DROP",
	IPTBytes:   "iptables -A FORWARD -m connbytes --connbytes 1: --connbytes-dir both --connbytes-mode bytes",
	QdiscHTB:   "ip link add p1 type veth peer name p2 && tc qdisc add dev p1 root handle 1: htb",
	QdiscTBF:   "ip link add p1 type veth peer name p2 && tc qdisc add dev p1 root tbf rate 1gbit burst 1mb limit 1mb",
	QdiscNetem: "ip link add p1 type veth peer name p2 && tc qdisc add dev p1 root netem delay 1ms",
	Redirect:   "ip link add p1 type veth peer name p2 && tc qdisc add dev p1 clsact && tc filter add dev p1 ingress protocol ip u32 match u32 0 0 action mirred egress redirect dev p1",
	Tun:        "ip tuntap add dev p1 mode tun",
	OVSKernel:  "genl ctrl get name ovs_datapath",
	Pktgen:     "echo stop > /proc/net/pktgen/pgctrl",
	Conntrack:  "nft add table t && nft add chain t c && nft add rule t c ct state new",
	BPFPeer:    "",
	BPFClsact:  "ip link add p1 type veth peer name p2 && tc qdisc add dev p1 clsact && tc filter add dev p1 ingress bpf bytecode '1,6 0 0 0' || exit 1",
	BPFTCX:     "", // none of these tools can tell
	BPFIngress: "",
	BPFXDP:     "",
	BPFTrace:   "",
	PerfEvents: "",

	NAPIThreads: "", // a script cannot ask the family netdev
}

func TestKernelAgreesWithIndependentTools(t *testing.T) {
	s := Probe(t.Context(), Host())
	needWitnesses(t, "unshare", "ip", "tc", "nft")
	for _, q := range kernelQuestions() {
		script, known := witnesses[q.name]
		switch {
		case !known:
			t.Errorf("%s has no witness", q.name)
		case script != "":
			t.Run(q.name, func(t *testing.T) { agree(t, s.Get(q.name), script) })
		}
	}
}

func agree(t *testing.T, f Feature, script string) {
	t.Helper()
	out, err := exec.Command("unshare", "--net", "sh", "-ec", script).CombinedOutput()
	if f.Present != (err == nil) {
		t.Errorf("probe: %+v\nwitness %q: %v: %s", f, script, err, out)
	}
}

func TestPartsOfAKernel(t *testing.T) {
	p := part{"link kind x", "x", "CONFIG_X"}
	cases := map[string]struct {
		files map[string]string
		want  string
	}{
		"no modules": {nil, "a kernel built with CONFIG_X"},
		"Debian": {map[string]string{"proc/modules": "", "etc/os-release": "ID=debian\n"},
			"modprobe x, or a kernel built with CONFIG_X"},
		"Ubuntu": {map[string]string{"proc/modules": "", "etc/os-release": "ID=ubuntu\n",
			"proc/sys/kernel/osrelease": "6.8.0-31-generic\n"},
			"apt-get install linux-modules-extra-6.8.0-31-generic && modprobe x"},
	}
	for name, c := range cases {
		if got := p.fix(Env{Files: tree(t, c.files)}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
