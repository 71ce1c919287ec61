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

# namespace:nfchain.edge.there
ip netns add nfchain.edge.there
ip -n nfchain.edge.there link set lo up
ip netns exec nfchain.edge.there sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.there sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.there sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.there sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.there sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.there sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.back
ip netns add nfchain.edge.back
ip -n nfchain.edge.back link set lo up
ip netns exec nfchain.edge.back sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.back sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.back sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.back sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.back sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.back sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.old
ip netns add nfchain.edge.old
ip -n nfchain.edge.old link set lo up
ip netns exec nfchain.edge.old sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.old sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.old sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.old sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.old sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.old sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.server
ip netns add nfchain.edge.server
ip -n nfchain.edge.server link set lo up
ip netns exec nfchain.edge.server sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.server sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.server sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.server sysctl -qw net.ipv6.conf.default.accept_dad=0

# link:nfchain.edge.client:eth0
ip -n nfchain.edge.client link add eth0 address 02:6d:ef:16:ff:39 mtu 1500 type veth peer name eth0 address 02:be:77:89:e1:4c mtu 1500 netns nfchain.edge.there
ip -n nfchain.edge.client link set eth0 up alias 'nfchain edge client:eth0=there:eth0'
ip -n nfchain.edge.there link set eth0 up alias 'nfchain edge client:eth0=there:eth0'

# link:nfchain.edge.there:eth1
ip -n nfchain.edge.there link add eth1 address 02:f0:48:7f:55:2d mtu 1500 type veth peer name eth0 address 02:09:39:63:6a:84 mtu 1500 netns nfchain.edge.back
ip -n nfchain.edge.there link set eth1 up alias 'nfchain edge there:eth1=back:eth0'
ip -n nfchain.edge.back link set eth0 up alias 'nfchain edge there:eth1=back:eth0'

# link:nfchain.edge.back:eth1
ip -n nfchain.edge.back link add eth1 address 02:48:f3:49:2e:49 mtu 1500 type veth peer name eth0 address 02:3f:6f:a8:c5:24 mtu 1500 netns nfchain.edge.old
ip -n nfchain.edge.back link set eth1 up alias 'nfchain edge back:eth1=old:eth0'
ip -n nfchain.edge.old link set eth0 up alias 'nfchain edge back:eth1=old:eth0'

# link:nfchain.edge.old:eth1
ip -n nfchain.edge.old link add eth1 address 02:14:56:2c:92:1c mtu 1500 type veth peer name eth0 address 02:60:11:b7:31:ea mtu 1500 netns nfchain.edge.server
ip -n nfchain.edge.old link set eth1 up alias 'nfchain edge old:eth1=server:eth0'
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge old:eth1=server:eth0'

# address:nfchain.edge.client:eth0=198.19.39.88
ip -n nfchain.edge.client address add 198.19.39.88 peer 198.19.39.114 dev eth0

# neighbour:nfchain.edge.client:eth0=198.19.39.114
ip -n nfchain.edge.client neighbour replace 198.19.39.114 lladdr 02:be:77:89:e1:4c dev eth0 nud permanent

# address:nfchain.edge.there:eth0=198.19.39.114
ip -n nfchain.edge.there address add 198.19.39.114 peer 198.19.39.88 dev eth0

# neighbour:nfchain.edge.there:eth0=198.19.39.88
ip -n nfchain.edge.there neighbour replace 198.19.39.88 lladdr 02:6d:ef:16:ff:39 dev eth0 nud permanent

# address:nfchain.edge.client:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 peer 2001:2:0:fc9d:8000::12 dev eth0 nodad

# neighbour:nfchain.edge.client:eth0=2001:2:0:fc9d:8000::12
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000::12 lladdr 02:be:77:89:e1:4c dev eth0 nud permanent

# address:nfchain.edge.there:eth0=2001:2:0:fc9d:8000::12
ip -n nfchain.edge.there address add 2001:2:0:fc9d:8000::12 peer 2001:2:0:fc9d::18 dev eth0 nodad

# neighbour:nfchain.edge.there:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.there neighbour replace 2001:2:0:fc9d::18 lladdr 02:6d:ef:16:ff:39 dev eth0 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.114 dev eth0 onlink proto 78

# route:nfchain.edge.there:198.19.39.64/27
ip -n nfchain.edge.there route add 198.19.39.64/27 via 198.19.39.88 dev eth0 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::12 dev eth0 onlink proto 78

# route:nfchain.edge.there:2001:2:0:fc9d::/65
ip -n nfchain.edge.there route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::18 dev eth0 onlink proto 78

# address:nfchain.edge.there:eth1=198.19.39.82
ip -n nfchain.edge.there address add 198.19.39.82 peer 198.19.39.121 dev eth1

# neighbour:nfchain.edge.there:eth1=198.19.39.121
ip -n nfchain.edge.there neighbour replace 198.19.39.121 lladdr 02:09:39:63:6a:84 dev eth1 nud permanent

# address:nfchain.edge.back:eth0=198.19.39.121
ip -n nfchain.edge.back address add 198.19.39.121 peer 198.19.39.82 dev eth0

# neighbour:nfchain.edge.back:eth0=198.19.39.82
ip -n nfchain.edge.back neighbour replace 198.19.39.82 lladdr 02:f0:48:7f:55:2d dev eth0 nud permanent

# address:nfchain.edge.there:eth1=2001:2:0:fc9d::12
ip -n nfchain.edge.there address add 2001:2:0:fc9d::12 peer 2001:2:0:fc9d:8000::19 dev eth1 nodad

# neighbour:nfchain.edge.there:eth1=2001:2:0:fc9d:8000::19
ip -n nfchain.edge.there neighbour replace 2001:2:0:fc9d:8000::19 lladdr 02:09:39:63:6a:84 dev eth1 nud permanent

# address:nfchain.edge.back:eth0=2001:2:0:fc9d:8000::19
ip -n nfchain.edge.back address add 2001:2:0:fc9d:8000::19 peer 2001:2:0:fc9d::12 dev eth0 nodad

# neighbour:nfchain.edge.back:eth0=2001:2:0:fc9d::12
ip -n nfchain.edge.back neighbour replace 2001:2:0:fc9d::12 lladdr 02:f0:48:7f:55:2d dev eth0 nud permanent

# route:nfchain.edge.there:198.19.39.96/27
ip -n nfchain.edge.there route add 198.19.39.96/27 via 198.19.39.121 dev eth1 onlink proto 78

# route:nfchain.edge.back:198.19.39.64/27
ip -n nfchain.edge.back route add 198.19.39.64/27 via 198.19.39.82 dev eth0 onlink proto 78

# route:nfchain.edge.there:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.there route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::19 dev eth1 onlink proto 78

# route:nfchain.edge.back:2001:2:0:fc9d::/65
ip -n nfchain.edge.back route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::12 dev eth0 onlink proto 78

# address:nfchain.edge.back:eth1=198.19.39.89
ip -n nfchain.edge.back address add 198.19.39.89 peer 198.19.39.108 dev eth1

# neighbour:nfchain.edge.back:eth1=198.19.39.108
ip -n nfchain.edge.back neighbour replace 198.19.39.108 lladdr 02:3f:6f:a8:c5:24 dev eth1 nud permanent

# address:nfchain.edge.old:eth0=198.19.39.108
ip -n nfchain.edge.old address add 198.19.39.108 peer 198.19.39.89 dev eth0

# neighbour:nfchain.edge.old:eth0=198.19.39.89
ip -n nfchain.edge.old neighbour replace 198.19.39.89 lladdr 02:48:f3:49:2e:49 dev eth0 nud permanent

# address:nfchain.edge.back:eth1=2001:2:0:fc9d::19
ip -n nfchain.edge.back address add 2001:2:0:fc9d::19 peer 2001:2:0:fc9d:8000::c dev eth1 nodad

# neighbour:nfchain.edge.back:eth1=2001:2:0:fc9d:8000::c
ip -n nfchain.edge.back neighbour replace 2001:2:0:fc9d:8000::c lladdr 02:3f:6f:a8:c5:24 dev eth1 nud permanent

# address:nfchain.edge.old:eth0=2001:2:0:fc9d:8000::c
ip -n nfchain.edge.old address add 2001:2:0:fc9d:8000::c peer 2001:2:0:fc9d::19 dev eth0 nodad

# neighbour:nfchain.edge.old:eth0=2001:2:0:fc9d::19
ip -n nfchain.edge.old neighbour replace 2001:2:0:fc9d::19 lladdr 02:48:f3:49:2e:49 dev eth0 nud permanent

# route:nfchain.edge.back:198.19.39.96/27
ip -n nfchain.edge.back route add 198.19.39.96/27 via 198.19.39.108 dev eth1 onlink proto 78

# route:nfchain.edge.old:198.19.39.64/27
ip -n nfchain.edge.old route add 198.19.39.64/27 via 198.19.39.89 dev eth0 onlink proto 78

# route:nfchain.edge.back:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.back route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::c dev eth1 onlink proto 78

# route:nfchain.edge.old:2001:2:0:fc9d::/65
ip -n nfchain.edge.old route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::19 dev eth0 onlink proto 78

# address:nfchain.edge.old:eth1=198.19.39.76
ip -n nfchain.edge.old address add 198.19.39.76 peer 198.19.39.118 dev eth1

# neighbour:nfchain.edge.old:eth1=198.19.39.118
ip -n nfchain.edge.old neighbour replace 198.19.39.118 lladdr 02:60:11:b7:31:ea dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 peer 198.19.39.76 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.76
ip -n nfchain.edge.server neighbour replace 198.19.39.76 lladdr 02:14:56:2c:92:1c dev eth0 nud permanent

# address:nfchain.edge.old:eth1=2001:2:0:fc9d::c
ip -n nfchain.edge.old address add 2001:2:0:fc9d::c peer 2001:2:0:fc9d:8000::16 dev eth1 nodad

# neighbour:nfchain.edge.old:eth1=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.old neighbour replace 2001:2:0:fc9d:8000::16 lladdr 02:60:11:b7:31:ea dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 peer 2001:2:0:fc9d::c dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::c
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d::c lladdr 02:14:56:2c:92:1c dev eth0 nud permanent

# route:nfchain.edge.old:198.19.39.96/27
ip -n nfchain.edge.old route add 198.19.39.96/27 via 198.19.39.118 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.76 dev eth0 onlink proto 78

# route:nfchain.edge.old:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.old route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::16 dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::c dev eth0 onlink proto 78

# ruleset:nfchain.edge.there:nftables/nfchain-firewall/forward
ip netns exec nfchain.edge.there nft -f - <<'END-OF-INPUT'
table inet nfchain-firewall
delete table inet nfchain-firewall
table inet nfchain-firewall {
	chain forward {
		type filter hook forward priority 0; policy drop;
		iifname "eth1" accept
		iifname "eth0" ip saddr 192.0.2.0/24 counter accept comment "lab"
		counter
	}
	chain content-063c1404425eb7f1 {
	}
}
END-OF-INPUT

# qdisc:nfchain.edge.back:eth0
tc -n nfchain.edge.back qdisc replace dev eth0 root handle 1: tbf rate 100000000bit burst 131100 limit 756100

# ruleset:nfchain.edge.old:iptables/nfchain/forward
ip netns exec nfchain.edge.old iptables-restore <<'END-OF-INPUT'
*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:nfchain-48d504312bc85ca1 - [0:0]
-A nfchain-48d504312bc85ca1 -i eth0 -j ACCEPT
-A nfchain-48d504312bc85ca1 -i eth1 -s 240.0.0.1/32 -j DROP
-A nfchain-48d504312bc85ca1 -i eth1 -s 240.0.0.2/32 -j DROP
-A FORWARD -j nfchain-48d504312bc85ca1
COMMIT
END-OF-INPUT
ip netns exec nfchain.edge.old ip6tables-restore <<'END-OF-INPUT'
*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:nfchain-48d504312bc85ca1 - [0:0]
-A nfchain-48d504312bc85ca1 -i eth0 -j ACCEPT
-A FORWARD -j nfchain-48d504312bc85ca1
COMMIT
END-OF-INPUT
