package trace

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	bpf "nfchain.dev/nfchain/bpf/trace"
)

// noSocket is the kernel's word for a packet for which there is none, and otherHost for one that is not for who got it.
const noSocket, otherHost = "NO_SOCKET", "OTHERHOST"

// reasons in words, by the kernel's own (enum skb_drop_reason of Linux 5.17 to 6.18),
// without what they begin with where several begin alike.
var reasons = map[string]string{
	noSocket:                      "nobody listens at that address and port",
	"SOCKET_FILTER":               "a filter of the receiving socket refused it",
	"SOCKET_RCVBUFF":              "the receiving program does not read as fast as it comes",
	"RCVBUFF":                     "the receiving program does not read as fast as it comes",
	"PROTO_MEM":                   "the protocol has no memory left (net.ipv4.udp_mem, tcp_mem)",
	"NETFILTER_DROP":              "a rule or policy of nftables or iptables refused it",
	otherHost:                     "its MAC address is not that of the interface; the neighbours before this hop are wrong",
	"IP_CSUM":                     "the checksum of its IP header is wrong",
	"TCP_CSUM":                    "its TCP checksum is wrong",
	"UDP_CSUM":                    "its UDP checksum is wrong",
	"ICMP_CSUM":                   "its ICMP checksum is wrong",
	"SKB_CSUM":                    "its checksum could not be made",
	"IP_INHDR":                    "its IP header is damaged",
	"IP_RPFILTER":                 "no route leads back to its source by this interface (rp_filter)",
	"IP_INNOROUTES":               "there is no route to where it goes",
	"IP_OUTNOROUTES":              "there is no route to where it goes",
	"IP_INADDRERRORS":             "nobody may have such an address here, or no route leads to it",
	"IP_LOCAL_SOURCE":             "its source is an address of this hop's own",
	"IP_INVALID_SOURCE":           "its source address cannot be one",
	"IP_NOPROTO":                  "nobody takes packets of that protocol",
	"UNHANDLED_PROTO":             "nobody takes packets of that protocol",
	"UNICAST_IN_L2_MULTICAST":     "it came in a frame for many, and is for one",
	"NEIGH_CREATEFAIL":            "the table of neighbours is full (net.ipv4.neigh.default.gc_thresh3)",
	"NEIGH_FAILED":                "the next hop does not answer ARP or neighbour discovery",
	"NEIGH_QUEUEFULL":             "too many wait until the next hop answers ARP or neighbour discovery",
	"NEIGH_DEAD":                  "the next hop is gone",
	"PKT_TOO_BIG":                 "it is longer than the MTU, and may not be cut up",
	"PKT_TOO_SMALL":               "it is shorter than its headers",
	"QDISC_DROP":                  "a queueing discipline dropped it",
	"QDISC_OVERLIMIT":             "the queue is full",
	"CPU_BACKLOG":                 "the core has no room for more packets (net.core.netdev_max_backlog)",
	"FULL_RING":                   "the device's ring is full",
	"DEV_READY":                   "the interface is not ready",
	"DEV_HDR":                     "the interface could not make its header",
	"XDP":                         "an XDP program dropped it",
	"TC_INGRESS":                  "a program or filter at the interface dropped it as it came in",
	"TC_EGRESS":                   "a program or filter at the interface dropped it as it went out",
	"TC_DROP":                     "a program or filter at the interface dropped it",
	"BPF_CGROUP_EGRESS":           "a program of its control group dropped it",
	"NOMEM":                       "there is no memory left",
	"TCP_INVALID_SYN":             "it opens a connection in no way that there is",
	"TCP_RESET":                   "the connection was reset",
	"IPV6DISABLED":                "IPv6 is off at the interface",
	"IPV6_NDISC_FRAG":             "neighbour discovery may not be cut up",
	"IPV6_BAD_EXTHDR":             "an extension header is damaged",
	"BRIDGE_NON_FORWARDING_STATE": "the port of the bridge does not forward (yet)",
	"BRIDGE_INGRESS_STP_STATE":    "the port of the bridge does not forward (yet)",
	"MAC_INVALID_SOURCE":          "its source MAC address cannot be one",
	"OVS_DROP_EXPLICIT":           "a flow of the switch dropped it",
	"OVS_DROP_LAST_ACTION":        "no flow of the switch says where it goes",
	"TAP_FILTER":                  "a filter of the tap dropped it",
	"FRAG_REASM_TIMEOUT":          "its other fragments did not come in time",
}

// places are functions of the kernel that tell why where no reason is given.
var places = map[string]string{
	"ip_forward":               "its time to live is over, or it is longer than the MTU, or it may not be forwarded",
	"ip6_forward":              "its hop limit is over, or it is longer than the MTU, or it may not be forwarded",
	"ip_error":                 "there is no route to where it goes",
	"ip6_pkt_discard":          "there is no route to where it goes",
	"ip6_pkt_drop":             "there is no route to where it goes",
	"ip_rcv_finish_core":       "there is no route for it here",
	"udp_queue_rcv_one_skb":    "the receiving socket refused it",
	"tcf_classify":             "a program or filter at the interface dropped it",
	"sch_handle_ingress":       "a program or filter at the interface dropped it as it came in",
	"tcx_run":                  "a program or filter at the interface dropped it as it came in",
	"bpf_redirect":             "a program could not send it on",
	"skb_do_redirect":          "a program could not send it on: the other interface is not up or gone",
	"veth_xmit":                "the far end of the veth pair is not up or gone",
	"enqueue_to_backlog":       "the core has no room for more packets (net.core.netdev_max_backlog)",
	"nf_hook_slow":             "a rule or policy of nftables or iptables refused it",
	"arp_error_report":         "the next hop does not answer ARP",
	"ndisc_error_report":       "the next hop does not answer neighbour discovery",
	"__dev_queue_xmit":         "the interface is down, or a program at it dropped it as it went out",
	"validate_xmit_skb":        "the interface cannot send such a packet",
	"__netif_receive_skb_core": "nobody takes packets of that protocol here",
}

// took tells whether the kernel freed a packet that it had taken, though it calls that a drop: Linux
// before 6.4 does with every message of ICMPv6 that it answers, and later ones with what a socket that is closed
// had got, messages of netlink too, which are at no interface. What a program took by sockets that passes it on is
// none of the kernel's either, which is given the packet as well and has nobody for it.
func (v *view) took(c bpf.ProgramCause) bool {
	if v.passing[c.Netns] && strings.HasPrefix(function(v.names.function(c.Location)), "ip") {
		return true
	}
	switch v.names.reason(c.Reason) {
	case "NOT_SPECIFIED":
		return function(v.names.function(c.Location)) == "icmpv6_rcv"
	case "QUEUE_PURGE":
		return c.Own == 0 && c.Ifindex == 0
	}
	return false
}

// inWords is why a packet ended, as far as it is known.
func inWords(d Drop) string {
	if d.Function {
		return "the function's own program did: " + d.Cause
	}
	if text := reasons[d.Cause]; text != "" {
		return text
	}
	if text := places[function(d.At)]; text != "" {
		return text
	}
	if strings.HasPrefix(d.Cause, "XDP") {
		return "XDP lost it"
	}
	return "the kernel gives no more reason than this"
}

// function is its name without what the compiler and the place in it add: "ip_forward" of
// "ip_forward.part.0+0x1b".
func function(at string) string {
	at, _, _ = strings.Cut(at, "+")
	at, _, _ = strings.Cut(at, ".")
	return at
}

// refused says why an end could not even send.
func refused(err error) string {
	switch {
	case errors.Is(err, unix.ENETUNREACH), errors.Is(err, unix.EHOSTUNREACH):
		return "it has no route to there"
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return "a rule of its own refuses what goes out, or the address is one that only a broadcast has"
	case errors.Is(err, unix.EMSGSIZE):
		return "the packet is longer than the MTU of its interface"
	case errors.Is(err, unix.ENETDOWN):
		return "its interface is down"
	case errors.Is(err, unix.EINVAL):
		return "it takes no such packet: IPv6 may be off, or the address be none that can be sent to"
	}
	return "its kernel does not take the packet"
}
