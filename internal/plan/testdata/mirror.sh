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

# namespace:nfchain.edge.m
ip netns add nfchain.edge.m
ip -n nfchain.edge.m link set lo up
ip netns exec nfchain.edge.m sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.m sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.m sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.m sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.m sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.m sysctl -qw net.ipv6.conf.all.forwarding=1

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
ip -n nfchain.edge.a link add eth1 address 02:f7:f0:5b:5b:42 mtu 1500 type veth peer name eth0 address 02:5b:7a:29:69:61 mtu 1500 netns nfchain.edge.m
ip -n nfchain.edge.a link set eth1 up alias 'nfchain edge a:eth1=m:eth0'
ip -n nfchain.edge.m link set eth0 up alias 'nfchain edge a:eth1=m:eth0'

# link:nfchain.edge.m:eth1
ip -n nfchain.edge.m link add eth1 address 02:12:81:36:53:be mtu 1500 type veth peer name eth0 address 02:60:11:b7:31:ea mtu 1500 netns nfchain.edge.server
ip -n nfchain.edge.m link set eth1 up alias 'nfchain edge m:eth1=server:eth0'
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge m:eth1=server:eth0'

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
ip -n nfchain.edge.a address add 198.19.39.80 peer 198.19.39.100 dev eth1

# neighbour:nfchain.edge.a:eth1=198.19.39.100
ip -n nfchain.edge.a neighbour replace 198.19.39.100 lladdr 02:5b:7a:29:69:61 dev eth1 nud permanent

# address:nfchain.edge.m:eth0=198.19.39.100
ip -n nfchain.edge.m address add 198.19.39.100 peer 198.19.39.80 dev eth0

# neighbour:nfchain.edge.m:eth0=198.19.39.80
ip -n nfchain.edge.m neighbour replace 198.19.39.80 lladdr 02:f7:f0:5b:5b:42 dev eth0 nud permanent

# address:nfchain.edge.a:eth1=2001:2:0:fc9d::10
ip -n nfchain.edge.a address add 2001:2:0:fc9d::10 peer 2001:2:0:fc9d:8000::4 dev eth1 nodad

# neighbour:nfchain.edge.a:eth1=2001:2:0:fc9d:8000::4
ip -n nfchain.edge.a neighbour replace 2001:2:0:fc9d:8000::4 lladdr 02:5b:7a:29:69:61 dev eth1 nud permanent

# address:nfchain.edge.m:eth0=2001:2:0:fc9d:8000::4
ip -n nfchain.edge.m address add 2001:2:0:fc9d:8000::4 peer 2001:2:0:fc9d::10 dev eth0 nodad

# neighbour:nfchain.edge.m:eth0=2001:2:0:fc9d::10
ip -n nfchain.edge.m neighbour replace 2001:2:0:fc9d::10 lladdr 02:f7:f0:5b:5b:42 dev eth0 nud permanent

# route:nfchain.edge.a:198.19.39.96/27
ip -n nfchain.edge.a route add 198.19.39.96/27 via 198.19.39.100 dev eth1 onlink proto 78

# route:nfchain.edge.m:198.19.39.64/27
ip -n nfchain.edge.m route add 198.19.39.64/27 via 198.19.39.80 dev eth0 onlink proto 78

# route:nfchain.edge.a:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.a route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::4 dev eth1 onlink proto 78

# route:nfchain.edge.m:2001:2:0:fc9d::/65
ip -n nfchain.edge.m route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::10 dev eth0 onlink proto 78

# address:nfchain.edge.m:eth1=198.19.39.68
ip -n nfchain.edge.m address add 198.19.39.68 peer 198.19.39.118 dev eth1

# neighbour:nfchain.edge.m:eth1=198.19.39.118
ip -n nfchain.edge.m neighbour replace 198.19.39.118 lladdr 02:60:11:b7:31:ea dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 peer 198.19.39.68 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.68
ip -n nfchain.edge.server neighbour replace 198.19.39.68 lladdr 02:12:81:36:53:be dev eth0 nud permanent

# address:nfchain.edge.m:eth1=2001:2:0:fc9d::4
ip -n nfchain.edge.m address add 2001:2:0:fc9d::4 peer 2001:2:0:fc9d:8000::16 dev eth1 nodad

# neighbour:nfchain.edge.m:eth1=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.m neighbour replace 2001:2:0:fc9d:8000::16 lladdr 02:60:11:b7:31:ea dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 peer 2001:2:0:fc9d::4 dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::4
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d::4 lladdr 02:12:81:36:53:be dev eth0 nud permanent

# route:nfchain.edge.m:198.19.39.96/27
ip -n nfchain.edge.m route add 198.19.39.96/27 via 198.19.39.118 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.68 dev eth0 onlink proto 78

# route:nfchain.edge.m:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.m route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::16 dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::4 dev eth0 onlink proto 78

# namespace:nfchain.edge.m.tap
ip netns add nfchain.edge.m.tap
ip -n nfchain.edge.m.tap link set lo up
ip netns exec nfchain.edge.m.tap sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.m.tap sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.m.tap sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.m.tap sysctl -qw net.ipv6.conf.default.accept_dad=0

# link:nfchain.edge.m:tap0
ip -n nfchain.edge.m link add tap0 address 02:ca:55:50:3a:89 mtu 1500 type veth peer name eth0 address 02:98:f0:16:37:23 mtu 1500 netns nfchain.edge.m.tap
ip netns exec nfchain.edge.m sysctl -qw net.ipv6.conf.tap0.disable_ipv6=1
ip -n nfchain.edge.m link set tap0 up alias 'nfchain edge m:tap0=m.tap:eth0 quiet'
ip -n nfchain.edge.m.tap link set eth0 up alias 'nfchain edge m:tap0=m.tap:eth0 quiet'

# redirect:nfchain.edge.m:eth0
tc -n nfchain.edge.m qdisc add dev eth0 clsact
tc -n nfchain.edge.m filter add dev eth0 ingress protocol ip prio 7801 u32 match u32 0xe0000000 0xe0000000 at 16 flowid :1
tc -n nfchain.edge.m filter add dev eth0 ingress protocol ip prio 7802 u32 match u32 0x00000000 0x00000000 at 0 action mirred egress mirror dev tap0
tc -n nfchain.edge.m filter add dev eth0 ingress protocol ipv6 prio 7803 u32 match u32 0xfe000000 0xfe000000 at 24 flowid :1
tc -n nfchain.edge.m filter add dev eth0 ingress protocol ipv6 prio 7804 u32 match u32 0x00000000 0x00000000 at 0 action mirred egress mirror dev tap0

# redirect:nfchain.edge.m:eth1
tc -n nfchain.edge.m qdisc add dev eth1 clsact
tc -n nfchain.edge.m filter add dev eth1 ingress protocol ip prio 7801 u32 match u32 0xe0000000 0xe0000000 at 16 flowid :1
tc -n nfchain.edge.m filter add dev eth1 ingress protocol ip prio 7802 u32 match u32 0x00000000 0x00000000 at 0 action mirred egress mirror dev tap0
tc -n nfchain.edge.m filter add dev eth1 ingress protocol ipv6 prio 7803 u32 match u32 0xfe000000 0xfe000000 at 24 flowid :1
tc -n nfchain.edge.m filter add dev eth1 ingress protocol ipv6 prio 7804 u32 match u32 0x00000000 0x00000000 at 0 action mirred egress mirror dev tap0
