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

# namespace:nfchain.edge._wiring
ip netns add nfchain.edge._wiring
ip -n nfchain.edge._wiring link set lo up
ip netns exec nfchain.edge._wiring sysctl -qw net.ipv6.conf.all.disable_ipv6=1
ip netns exec nfchain.edge._wiring sysctl -qw net.ipv6.conf.default.disable_ipv6=1

# bridge:nfchain.edge._wiring:br0
ip netns exec nfchain.edge._wiring sh -c 'for f in /proc/sys/net/bridge/bridge-nf-call-*tables; do [ ! -e "$f" ] || echo 0 >"$f"; done'
ip -n nfchain.edge._wiring link add name br0 address 52:99:14:2f:54:6c type bridge forward_delay 200 stp_state 0 mcast_snooping 0 ageing_time 30000
ip -n nfchain.edge._wiring link set br0 mtu 1500 up alias 'nfchain edge bridge:the ends of edge'

# link:nfchain.edge.client:eth0
ip -n nfchain.edge.client link add eth0 address 02:6d:ef:16:ff:39 mtu 1500 type veth peer name p9bd1f3d15515 address 5a:20:1e:90:05:1e mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.client link set eth0 up alias 'nfchain edge client:eth0=_wiring:p9bd1f3d15515'
ip -n nfchain.edge._wiring link set p9bd1f3d15515 up alias 'nfchain edge client:eth0=_wiring:p9bd1f3d15515'

# bridgeport:nfchain.edge._wiring:p9bd1f3d15515
ip -n nfchain.edge._wiring link set p9bd1f3d15515 master br0
ip -n nfchain.edge._wiring link set p9bd1f3d15515 type bridge_slave learning off flood off mcast_flood off bcast_flood off
ip netns exec nfchain.edge._wiring bridge fdb replace 02:6d:ef:16:ff:39 dev p9bd1f3d15515 master static

# link:nfchain.edge.a:eth0
ip -n nfchain.edge.a link add eth0 address 02:9a:e9:39:06:ac mtu 1500 type veth peer name p49075c1f2373 address 86:7d:77:ce:2f:44 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.a link set eth0 up alias 'nfchain edge a:eth0=_wiring:p49075c1f2373'
ip -n nfchain.edge._wiring link set p49075c1f2373 up alias 'nfchain edge a:eth0=_wiring:p49075c1f2373'

# bridgeport:nfchain.edge._wiring:p49075c1f2373
ip -n nfchain.edge._wiring link set p49075c1f2373 master br0
ip -n nfchain.edge._wiring link set p49075c1f2373 type bridge_slave learning off flood off mcast_flood off bcast_flood off
ip netns exec nfchain.edge._wiring bridge fdb replace 02:9a:e9:39:06:ac dev p49075c1f2373 master static

# link:nfchain.edge.a:eth1
ip -n nfchain.edge.a link add eth1 address 02:f7:f0:5b:5b:42 mtu 1500 type veth peer name eth0 address 02:2a:55:72:f0:dd mtu 1500 netns nfchain.edge.b
ip -n nfchain.edge.a link set eth1 up alias 'nfchain edge a:eth1=b:eth0'
ip -n nfchain.edge.b link set eth0 up alias 'nfchain edge a:eth1=b:eth0'

# link:nfchain.edge.b:eth1
ip -n nfchain.edge.b link add eth1 address 02:79:f1:51:ea:17 mtu 1500 type veth peer name pb49057656b60 address 42:80:f8:f6:cc:73 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.b link set eth1 up alias 'nfchain edge b:eth1=_wiring:pb49057656b60'
ip -n nfchain.edge._wiring link set pb49057656b60 up alias 'nfchain edge b:eth1=_wiring:pb49057656b60'

# bridgeport:nfchain.edge._wiring:pb49057656b60
ip -n nfchain.edge._wiring link set pb49057656b60 master br0
ip -n nfchain.edge._wiring link set pb49057656b60 type bridge_slave learning off flood off mcast_flood off bcast_flood off
ip netns exec nfchain.edge._wiring bridge fdb replace 02:79:f1:51:ea:17 dev pb49057656b60 master static

# link:nfchain.edge.server:eth0
ip -n nfchain.edge.server link add eth0 address 02:60:11:b7:31:ea mtu 1500 type veth peer name p76e43ebec6bc address 46:03:04:f0:9c:84 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge server:eth0=_wiring:p76e43ebec6bc'
ip -n nfchain.edge._wiring link set p76e43ebec6bc up alias 'nfchain edge server:eth0=_wiring:p76e43ebec6bc'

# bridgeport:nfchain.edge._wiring:p76e43ebec6bc
ip -n nfchain.edge._wiring link set p76e43ebec6bc master br0
ip -n nfchain.edge._wiring link set p76e43ebec6bc type bridge_slave learning off flood off mcast_flood off bcast_flood off
ip netns exec nfchain.edge._wiring bridge fdb replace 02:60:11:b7:31:ea dev p76e43ebec6bc master static

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
ip -n nfchain.edge.a address add 198.19.39.80 peer 198.19.39.119 dev eth1

# neighbour:nfchain.edge.a:eth1=198.19.39.119
ip -n nfchain.edge.a neighbour replace 198.19.39.119 lladdr 02:2a:55:72:f0:dd dev eth1 nud permanent

# address:nfchain.edge.b:eth0=198.19.39.119
ip -n nfchain.edge.b address add 198.19.39.119 peer 198.19.39.80 dev eth0

# neighbour:nfchain.edge.b:eth0=198.19.39.80
ip -n nfchain.edge.b neighbour replace 198.19.39.80 lladdr 02:f7:f0:5b:5b:42 dev eth0 nud permanent

# address:nfchain.edge.a:eth1=2001:2:0:fc9d::10
ip -n nfchain.edge.a address add 2001:2:0:fc9d::10 peer 2001:2:0:fc9d:8000::17 dev eth1 nodad

# neighbour:nfchain.edge.a:eth1=2001:2:0:fc9d:8000::17
ip -n nfchain.edge.a neighbour replace 2001:2:0:fc9d:8000::17 lladdr 02:2a:55:72:f0:dd dev eth1 nud permanent

# address:nfchain.edge.b:eth0=2001:2:0:fc9d:8000::17
ip -n nfchain.edge.b address add 2001:2:0:fc9d:8000::17 peer 2001:2:0:fc9d::10 dev eth0 nodad

# neighbour:nfchain.edge.b:eth0=2001:2:0:fc9d::10
ip -n nfchain.edge.b neighbour replace 2001:2:0:fc9d::10 lladdr 02:f7:f0:5b:5b:42 dev eth0 nud permanent

# route:nfchain.edge.a:198.19.39.96/27
ip -n nfchain.edge.a route add 198.19.39.96/27 via 198.19.39.119 dev eth1 onlink proto 78

# route:nfchain.edge.b:198.19.39.64/27
ip -n nfchain.edge.b route add 198.19.39.64/27 via 198.19.39.80 dev eth0 onlink proto 78

# route:nfchain.edge.a:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.a route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::17 dev eth1 onlink proto 78

# route:nfchain.edge.b:2001:2:0:fc9d::/65
ip -n nfchain.edge.b route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::10 dev eth0 onlink proto 78

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
