#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

# namespace:nfchain.edge.client
ip netns add nfchain.edge.client
ip -n nfchain.edge.client link set lo up
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.fw
ip netns add nfchain.edge.fw
ip -n nfchain.edge.fw link set lo up
ip netns exec nfchain.edge.fw sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.fw sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.fw sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.fw sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.fw sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.fw sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.shape
ip netns add nfchain.edge.shape
ip -n nfchain.edge.shape link set lo up
ip netns exec nfchain.edge.shape sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.shape sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.shape sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.shape sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.shape sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.shape sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.server
ip netns add nfchain.edge.server
ip -n nfchain.edge.server link set lo up
ip netns exec nfchain.edge.server sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.server sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.server sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.server sysctl -qw net.ipv6.conf.default.accept_dad=0

# link:nfchain.edge.client:eth0
ip -n nfchain.edge.client link add eth0 address 02:6d:ef:16:ff:39 mtu 1500 type veth peer name eth0 address 02:3b:c7:ff:db:2a mtu 1500 netns nfchain.edge.fw
ip -n nfchain.edge.client link set eth0 up alias 'nfchain edge client:eth0=fw:eth0'
ip -n nfchain.edge.fw link set eth0 up alias 'nfchain edge client:eth0=fw:eth0'

# link:nfchain.edge.fw:eth1
ip -n nfchain.edge.fw link add eth1 address 02:dc:6f:f5:ac:bd mtu 1500 type veth peer name eth0 address 02:f4:28:c9:34:05 mtu 1500 netns nfchain.edge.shape
ip -n nfchain.edge.fw link set eth1 up alias 'nfchain edge fw:eth1=shape:eth0'
ip -n nfchain.edge.shape link set eth0 up alias 'nfchain edge fw:eth1=shape:eth0'

# link:nfchain.edge.shape:eth1
ip -n nfchain.edge.shape link add eth1 address 02:08:1a:34:9b:4e mtu 1500 type veth peer name eth0 address 02:60:11:b7:31:ea mtu 1500 netns nfchain.edge.server
ip -n nfchain.edge.shape link set eth1 up alias 'nfchain edge shape:eth1=server:eth0'
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge shape:eth1=server:eth0'

# address:nfchain.edge.client:eth0=198.19.39.88
ip -n nfchain.edge.client address add 198.19.39.88 peer 198.19.39.105 dev eth0

# neighbour:nfchain.edge.client:eth0=198.19.39.105
ip -n nfchain.edge.client neighbour replace 198.19.39.105 lladdr 02:3b:c7:ff:db:2a dev eth0 nud permanent

# address:nfchain.edge.fw:eth0=198.19.39.105
ip -n nfchain.edge.fw address add 198.19.39.105 peer 198.19.39.88 dev eth0

# neighbour:nfchain.edge.fw:eth0=198.19.39.88
ip -n nfchain.edge.fw neighbour replace 198.19.39.88 lladdr 02:6d:ef:16:ff:39 dev eth0 nud permanent

# address:nfchain.edge.client:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 peer 2001:2:0:fc9d:8000::9 dev eth0 nodad

# neighbour:nfchain.edge.client:eth0=2001:2:0:fc9d:8000::9
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000::9 lladdr 02:3b:c7:ff:db:2a dev eth0 nud permanent

# address:nfchain.edge.fw:eth0=2001:2:0:fc9d:8000::9
ip -n nfchain.edge.fw address add 2001:2:0:fc9d:8000::9 peer 2001:2:0:fc9d::18 dev eth0 nodad

# neighbour:nfchain.edge.fw:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.fw neighbour replace 2001:2:0:fc9d::18 lladdr 02:6d:ef:16:ff:39 dev eth0 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.105 dev eth0 onlink proto 78

# route:nfchain.edge.fw:198.19.39.64/27
ip -n nfchain.edge.fw route add 198.19.39.64/27 via 198.19.39.88 dev eth0 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::9 dev eth0 onlink proto 78

# route:nfchain.edge.fw:2001:2:0:fc9d::/65
ip -n nfchain.edge.fw route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::18 dev eth0 onlink proto 78

# address:nfchain.edge.fw:eth1=198.19.39.73
ip -n nfchain.edge.fw address add 198.19.39.73 peer 198.19.39.107 dev eth1

# neighbour:nfchain.edge.fw:eth1=198.19.39.107
ip -n nfchain.edge.fw neighbour replace 198.19.39.107 lladdr 02:f4:28:c9:34:05 dev eth1 nud permanent

# address:nfchain.edge.shape:eth0=198.19.39.107
ip -n nfchain.edge.shape address add 198.19.39.107 peer 198.19.39.73 dev eth0

# neighbour:nfchain.edge.shape:eth0=198.19.39.73
ip -n nfchain.edge.shape neighbour replace 198.19.39.73 lladdr 02:dc:6f:f5:ac:bd dev eth0 nud permanent

# address:nfchain.edge.fw:eth1=2001:2:0:fc9d::9
ip -n nfchain.edge.fw address add 2001:2:0:fc9d::9 peer 2001:2:0:fc9d:8000::b dev eth1 nodad

# neighbour:nfchain.edge.fw:eth1=2001:2:0:fc9d:8000::b
ip -n nfchain.edge.fw neighbour replace 2001:2:0:fc9d:8000::b lladdr 02:f4:28:c9:34:05 dev eth1 nud permanent

# address:nfchain.edge.shape:eth0=2001:2:0:fc9d:8000::b
ip -n nfchain.edge.shape address add 2001:2:0:fc9d:8000::b peer 2001:2:0:fc9d::9 dev eth0 nodad

# neighbour:nfchain.edge.shape:eth0=2001:2:0:fc9d::9
ip -n nfchain.edge.shape neighbour replace 2001:2:0:fc9d::9 lladdr 02:dc:6f:f5:ac:bd dev eth0 nud permanent

# route:nfchain.edge.fw:198.19.39.96/27
ip -n nfchain.edge.fw route add 198.19.39.96/27 via 198.19.39.107 dev eth1 onlink proto 78

# route:nfchain.edge.shape:198.19.39.64/27
ip -n nfchain.edge.shape route add 198.19.39.64/27 via 198.19.39.73 dev eth0 onlink proto 78

# route:nfchain.edge.fw:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.fw route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::b dev eth1 onlink proto 78

# route:nfchain.edge.shape:2001:2:0:fc9d::/65
ip -n nfchain.edge.shape route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::9 dev eth0 onlink proto 78

# address:nfchain.edge.shape:eth1=198.19.39.75
ip -n nfchain.edge.shape address add 198.19.39.75 peer 198.19.39.118 dev eth1

# neighbour:nfchain.edge.shape:eth1=198.19.39.118
ip -n nfchain.edge.shape neighbour replace 198.19.39.118 lladdr 02:60:11:b7:31:ea dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 peer 198.19.39.75 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.75
ip -n nfchain.edge.server neighbour replace 198.19.39.75 lladdr 02:08:1a:34:9b:4e dev eth0 nud permanent

# address:nfchain.edge.shape:eth1=2001:2:0:fc9d::b
ip -n nfchain.edge.shape address add 2001:2:0:fc9d::b peer 2001:2:0:fc9d:8000::16 dev eth1 nodad

# neighbour:nfchain.edge.shape:eth1=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.shape neighbour replace 2001:2:0:fc9d:8000::16 lladdr 02:60:11:b7:31:ea dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 peer 2001:2:0:fc9d::b dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::b
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d::b lladdr 02:08:1a:34:9b:4e dev eth0 nud permanent

# route:nfchain.edge.shape:198.19.39.96/27
ip -n nfchain.edge.shape route add 198.19.39.96/27 via 198.19.39.118 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.75 dev eth0 onlink proto 78

# route:nfchain.edge.shape:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.shape route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::16 dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::b dev eth0 onlink proto 78

# ruleset:nfchain.edge.fw:nftables/nfchain-firewall/forward
ip netns exec nfchain.edge.fw nft -f - <<'END-OF-INPUT'
table inet nfchain-firewall
delete table inet nfchain-firewall
table inet nfchain-firewall {
	chain forward {
		type filter hook forward priority 0; policy accept;
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
		ct bytes >= 1152921504606846976 counter drop
	}
	chain content-362fb430166c4547 {
	}
}
END-OF-INPUT

# qdisc:nfchain.edge.shape:eth0
tc -n nfchain.edge.shape qdisc replace dev eth0 root handle 1: htb default 1
tc -n nfchain.edge.shape class replace dev eth0 parent 1:0 classid 1:1 htb prio 0 rate 10000000000bit ceil 10000000000bit burst 1252500 cburst 1252500 quantum 200000

# qdisc:nfchain.edge.shape:eth1
tc -n nfchain.edge.shape qdisc replace dev eth1 root handle 1: htb default 1
tc -n nfchain.edge.shape class replace dev eth1 parent 1:0 classid 1:1 htb prio 0 rate 10000000000bit ceil 10000000000bit burst 1252500 cburst 1252500 quantum 200000
