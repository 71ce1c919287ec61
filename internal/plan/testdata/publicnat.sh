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

# namespace:nfchain.edge.a
ip netns add nfchain.edge.a
ip -n nfchain.edge.a link set lo up
ip netns exec nfchain.edge.a sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.a sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.a sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.a sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.a sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.a sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.nat
ip netns add nfchain.edge.nat
ip -n nfchain.edge.nat link set lo up
ip netns exec nfchain.edge.nat sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.nat sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.nat sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.nat sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.nat sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.nat sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.b
ip netns add nfchain.edge.b
ip -n nfchain.edge.b link set lo up
ip netns exec nfchain.edge.b sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.b sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.b sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.b sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.b sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.b sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.server
ip netns add nfchain.edge.server
ip -n nfchain.edge.server link set lo up
ip netns exec nfchain.edge.server sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.server sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.server sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.server sysctl -qw net.ipv6.conf.default.accept_dad=0

# link:nfchain.edge.client:eth0
ip -n nfchain.edge.client link add eth0 address 02:6d:ef:16:ff:39 mtu 1500 type veth peer name eth0 address 02:9a:e9:39:06:ac mtu 1500 netns nfchain.edge.a
ip -n nfchain.edge.client link set eth0 up alias 'nfchain edge client:eth0=a:eth0'
ip -n nfchain.edge.a link set eth0 up alias 'nfchain edge client:eth0=a:eth0'

# link:nfchain.edge.a:eth1
ip -n nfchain.edge.a link add eth1 address 02:f7:f0:5b:5b:42 mtu 1500 type veth peer name eth0 address 02:13:36:2f:b3:c6 mtu 1500 netns nfchain.edge.nat
ip -n nfchain.edge.a link set eth1 up alias 'nfchain edge a:eth1=nat:eth0'
ip -n nfchain.edge.nat link set eth0 up alias 'nfchain edge a:eth1=nat:eth0'

# link:nfchain.edge.nat:eth1
ip -n nfchain.edge.nat link add eth1 address 02:b1:cd:32:7d:c3 mtu 1500 type veth peer name eth0 address 02:2a:55:72:f0:dd mtu 1500 netns nfchain.edge.b
ip -n nfchain.edge.nat link set eth1 up alias 'nfchain edge nat:eth1=b:eth0'
ip -n nfchain.edge.b link set eth0 up alias 'nfchain edge nat:eth1=b:eth0'

# link:nfchain.edge.b:eth1
ip -n nfchain.edge.b link add eth1 address 02:79:f1:51:ea:17 mtu 1500 type veth peer name eth0 address 02:60:11:b7:31:ea mtu 1500 netns nfchain.edge.server
ip -n nfchain.edge.b link set eth1 up alias 'nfchain edge b:eth1=server:eth0'
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge b:eth1=server:eth0'

# address:nfchain.edge.client:eth0=198.19.39.88
ip -n nfchain.edge.client address add 198.19.39.88 peer 198.19.39.112 dev eth0

# neighbour:nfchain.edge.client:eth0=198.19.39.112
ip -n nfchain.edge.client neighbour replace 198.19.39.112 lladdr 02:9a:e9:39:06:ac dev eth0 nud permanent

# address:nfchain.edge.a:eth0=198.19.39.112
ip -n nfchain.edge.a address add 198.19.39.112 peer 198.19.39.88 dev eth0

# neighbour:nfchain.edge.a:eth0=198.19.39.88
ip -n nfchain.edge.a neighbour replace 198.19.39.88 lladdr 02:6d:ef:16:ff:39 dev eth0 nud permanent

# address:nfchain.edge.client:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 peer 2001:2:0:fc9d:8000::10 dev eth0 nodad

# neighbour:nfchain.edge.client:eth0=2001:2:0:fc9d:8000::10
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000::10 lladdr 02:9a:e9:39:06:ac dev eth0 nud permanent

# address:nfchain.edge.a:eth0=2001:2:0:fc9d:8000::10
ip -n nfchain.edge.a address add 2001:2:0:fc9d:8000::10 peer 2001:2:0:fc9d::18 dev eth0 nodad

# neighbour:nfchain.edge.a:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.a neighbour replace 2001:2:0:fc9d::18 lladdr 02:6d:ef:16:ff:39 dev eth0 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.112 dev eth0 onlink proto 78

# route:nfchain.edge.a:198.19.39.64/27
ip -n nfchain.edge.a route add 198.19.39.64/27 via 198.19.39.88 dev eth0 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::10 dev eth0 onlink proto 78

# route:nfchain.edge.a:2001:2:0:fc9d::/65
ip -n nfchain.edge.a route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::18 dev eth0 onlink proto 78

# address:nfchain.edge.a:eth1=198.19.39.80
ip -n nfchain.edge.a address add 198.19.39.80 peer 198.19.39.108 dev eth1

# neighbour:nfchain.edge.a:eth1=198.19.39.108
ip -n nfchain.edge.a neighbour replace 198.19.39.108 lladdr 02:13:36:2f:b3:c6 dev eth1 nud permanent

# address:nfchain.edge.nat:eth0=198.19.39.108
ip -n nfchain.edge.nat address add 198.19.39.108 peer 198.19.39.80 dev eth0

# neighbour:nfchain.edge.nat:eth0=198.19.39.80
ip -n nfchain.edge.nat neighbour replace 198.19.39.80 lladdr 02:f7:f0:5b:5b:42 dev eth0 nud permanent

# address:nfchain.edge.a:eth1=2001:2:0:fc9d::10
ip -n nfchain.edge.a address add 2001:2:0:fc9d::10 peer 2001:2:0:fc9d:8000::c dev eth1 nodad

# neighbour:nfchain.edge.a:eth1=2001:2:0:fc9d:8000::c
ip -n nfchain.edge.a neighbour replace 2001:2:0:fc9d:8000::c lladdr 02:13:36:2f:b3:c6 dev eth1 nud permanent

# address:nfchain.edge.nat:eth0=2001:2:0:fc9d:8000::c
ip -n nfchain.edge.nat address add 2001:2:0:fc9d:8000::c peer 2001:2:0:fc9d::10 dev eth0 nodad

# neighbour:nfchain.edge.nat:eth0=2001:2:0:fc9d::10
ip -n nfchain.edge.nat neighbour replace 2001:2:0:fc9d::10 lladdr 02:f7:f0:5b:5b:42 dev eth0 nud permanent

# route:nfchain.edge.a:198.19.39.96/27
ip -n nfchain.edge.a route add 198.19.39.96/27 via 198.19.39.108 dev eth1 onlink proto 78

# route:nfchain.edge.nat:198.19.39.64/27
ip -n nfchain.edge.nat route add 198.19.39.64/27 via 198.19.39.80 dev eth0 onlink proto 78

# route:nfchain.edge.a:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.a route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::c dev eth1 onlink proto 78

# route:nfchain.edge.nat:2001:2:0:fc9d::/65
ip -n nfchain.edge.nat route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::10 dev eth0 onlink proto 78

# address:nfchain.edge.nat:eth1=198.19.39.76
ip -n nfchain.edge.nat address add 198.19.39.76 peer 198.19.39.119 dev eth1

# neighbour:nfchain.edge.nat:eth1=198.19.39.119
ip -n nfchain.edge.nat neighbour replace 198.19.39.119 lladdr 02:2a:55:72:f0:dd dev eth1 nud permanent

# address:nfchain.edge.b:eth0=198.19.39.119
ip -n nfchain.edge.b address add 198.19.39.119 peer 198.19.39.76 dev eth0

# neighbour:nfchain.edge.b:eth0=198.19.39.76
ip -n nfchain.edge.b neighbour replace 198.19.39.76 lladdr 02:b1:cd:32:7d:c3 dev eth0 nud permanent

# address:nfchain.edge.nat:eth1=2001:2:0:fc9d::c
ip -n nfchain.edge.nat address add 2001:2:0:fc9d::c peer 2001:2:0:fc9d:8000::17 dev eth1 nodad

# neighbour:nfchain.edge.nat:eth1=2001:2:0:fc9d:8000::17
ip -n nfchain.edge.nat neighbour replace 2001:2:0:fc9d:8000::17 lladdr 02:2a:55:72:f0:dd dev eth1 nud permanent

# address:nfchain.edge.b:eth0=2001:2:0:fc9d:8000::17
ip -n nfchain.edge.b address add 2001:2:0:fc9d:8000::17 peer 2001:2:0:fc9d::c dev eth0 nodad

# neighbour:nfchain.edge.b:eth0=2001:2:0:fc9d::c
ip -n nfchain.edge.b neighbour replace 2001:2:0:fc9d::c lladdr 02:b1:cd:32:7d:c3 dev eth0 nud permanent

# route:nfchain.edge.nat:198.19.39.96/27
ip -n nfchain.edge.nat route add 198.19.39.96/27 via 198.19.39.119 dev eth1 onlink proto 78

# route:nfchain.edge.b:198.19.39.64/27
ip -n nfchain.edge.b route add 198.19.39.64/27 via 198.19.39.76 dev eth0 onlink proto 78

# route:nfchain.edge.nat:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.nat route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::17 dev eth1 onlink proto 78

# route:nfchain.edge.b:2001:2:0:fc9d::/65
ip -n nfchain.edge.b route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::c dev eth0 onlink proto 78

# address:nfchain.edge.b:eth1=198.19.39.87
ip -n nfchain.edge.b address add 198.19.39.87 peer 198.19.39.118 dev eth1

# neighbour:nfchain.edge.b:eth1=198.19.39.118
ip -n nfchain.edge.b neighbour replace 198.19.39.118 lladdr 02:60:11:b7:31:ea dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 peer 198.19.39.87 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.87
ip -n nfchain.edge.server neighbour replace 198.19.39.87 lladdr 02:79:f1:51:ea:17 dev eth0 nud permanent

# address:nfchain.edge.b:eth1=2001:2:0:fc9d::17
ip -n nfchain.edge.b address add 2001:2:0:fc9d::17 peer 2001:2:0:fc9d:8000::16 dev eth1 nodad

# neighbour:nfchain.edge.b:eth1=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.b neighbour replace 2001:2:0:fc9d:8000::16 lladdr 02:60:11:b7:31:ea dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 peer 2001:2:0:fc9d::17 dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::17
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d::17 lladdr 02:79:f1:51:ea:17 dev eth0 nud permanent

# route:nfchain.edge.b:198.19.39.96/27
ip -n nfchain.edge.b route add 198.19.39.96/27 via 198.19.39.118 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.87 dev eth0 onlink proto 78

# route:nfchain.edge.b:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.b route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::16 dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::17 dev eth0 onlink proto 78

# route:nfchain.edge.client:203.0.113.2/32
ip -n nfchain.edge.client route add 203.0.113.2/32 via 198.19.39.112 dev eth0 onlink proto 78

# route:nfchain.edge.a:203.0.113.2/32
ip -n nfchain.edge.a route add 203.0.113.2/32 via 198.19.39.108 dev eth1 onlink proto 78

# route:nfchain.edge.client:2001:db8::2/128
ip -n nfchain.edge.client route add 2001:db8::2/128 via 2001:2:0:fc9d:8000::10 dev eth0 onlink proto 78

# route:nfchain.edge.a:2001:db8::2/128
ip -n nfchain.edge.a route add 2001:db8::2/128 via 2001:2:0:fc9d:8000::c dev eth1 onlink proto 78

# route:nfchain.edge.b:203.0.113.1/32
ip -n nfchain.edge.b route add 203.0.113.1/32 via 198.19.39.76 dev eth0 onlink proto 78

# route:nfchain.edge.server:203.0.113.1/32
ip -n nfchain.edge.server route add 203.0.113.1/32 via 198.19.39.87 dev eth0 onlink proto 78

# ruleset:nfchain.edge.nat:nftables/nfchain-nat-destination/prerouting
ip netns exec nfchain.edge.nat nft -f - <<'END-OF-INPUT'
table inet nfchain-nat-destination
delete table inet nfchain-nat-destination
table inet nfchain-nat-destination {
	chain prerouting {
		type nat hook prerouting priority -100; policy accept;
		iifname "eth0" ip daddr 203.0.113.2/32 counter dnat ip to 198.19.39.118 comment "to 198.19.39.118"
		iifname "eth0" ip6 daddr 2001:db8::2/128 counter dnat ip6 to 2001:2:0:fc9d:8000::16 comment "to 2001:2:0:fc9d:8000::16"
	}
	chain content-ce456aff52ef8606 {
	}
}
END-OF-INPUT

# ruleset:nfchain.edge.nat:nftables/nfchain-nat-source/postrouting
ip netns exec nfchain.edge.nat nft -f - <<'END-OF-INPUT'
table inet nfchain-nat-source
delete table inet nfchain-nat-source
table inet nfchain-nat-source {
	chain postrouting {
		type nat hook postrouting priority 100; policy accept;
		meta nfproto ipv4 oifname "eth1" counter snat ip to 203.0.113.1 comment "from 203.0.113.1"
	}
	chain content-584c0311e959970b {
	}
}
END-OF-INPUT
