#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

# namespace:nfchain.edge.a
ip netns add nfchain.edge.a
ip -n nfchain.edge.a link set lo up
ip netns exec nfchain.edge.a sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.a sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.a sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.a sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.a sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.a sysctl -qw net.ipv6.conf.all.forwarding=1

# link:left:nfc279391b10
ip -n left link add nfc279391b10 address 02:6d:5c:08:37:9f mtu 1500 type veth peer name eth0 address 02:9a:e9:39:06:ac mtu 1500 netns nfchain.edge.a
ip -n left link set nfc279391b10 up alias 'nfchain edge l@360f8403:nfc279391b10=a:eth0'
ip -n nfchain.edge.a link set eth0 up alias 'nfchain edge l@360f8403:nfc279391b10=a:eth0'

# link:nfchain.edge.a:eth1
ip -n nfchain.edge.a link add eth1 address 02:f7:f0:5b:5b:42 mtu 1500 type veth peer name nfcb931eb830 address 02:7c:32:06:8b:c7 mtu 1500 netns right
ip -n nfchain.edge.a link set eth1 up alias 'nfchain edge a:eth1=r@27042f4e:nfcb931eb830'
ip -n right link set nfcb931eb830 up alias 'nfchain edge a:eth1=r@27042f4e:nfcb931eb830'

# address:left:nfc279391b10=198.19.39.85
ip -n left address add 198.19.39.85 peer 198.19.39.112 dev nfc279391b10

# neighbour:left:nfc279391b10=198.19.39.112
ip -n left neighbour replace 198.19.39.112 lladdr 02:9a:e9:39:06:ac dev nfc279391b10 nud permanent

# address:nfchain.edge.a:eth0=198.19.39.112
ip -n nfchain.edge.a address add 198.19.39.112 peer 198.19.39.85 dev eth0

# neighbour:nfchain.edge.a:eth0=198.19.39.85
ip -n nfchain.edge.a neighbour replace 198.19.39.85 lladdr 02:6d:5c:08:37:9f dev eth0 nud permanent

# address:left:nfc279391b10=2001:2:0:fc9d::15
ip -n left address add 2001:2:0:fc9d::15 peer 2001:2:0:fc9d:8000::10 dev nfc279391b10 nodad

# neighbour:left:nfc279391b10=2001:2:0:fc9d:8000::10
ip -n left neighbour replace 2001:2:0:fc9d:8000::10 lladdr 02:9a:e9:39:06:ac dev nfc279391b10 nud permanent

# address:nfchain.edge.a:eth0=2001:2:0:fc9d:8000::10
ip -n nfchain.edge.a address add 2001:2:0:fc9d:8000::10 peer 2001:2:0:fc9d::15 dev eth0 nodad

# neighbour:nfchain.edge.a:eth0=2001:2:0:fc9d::15
ip -n nfchain.edge.a neighbour replace 2001:2:0:fc9d::15 lladdr 02:6d:5c:08:37:9f dev eth0 nud permanent

# route:left:198.19.39.96/27
ip -n left route add 198.19.39.96/27 via 198.19.39.112 dev nfc279391b10 onlink proto 78

# route:nfchain.edge.a:198.19.39.64/27
ip -n nfchain.edge.a route add 198.19.39.64/27 via 198.19.39.85 dev eth0 onlink proto 78

# route:left:2001:2:0:fc9d:8000::/65
ip -n left route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::10 dev nfc279391b10 onlink proto 78

# route:nfchain.edge.a:2001:2:0:fc9d::/65
ip -n nfchain.edge.a route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::15 dev eth0 onlink proto 78

# address:nfchain.edge.a:eth1=198.19.39.80
ip -n nfchain.edge.a address add 198.19.39.80 peer 198.19.39.119 dev eth1

# neighbour:nfchain.edge.a:eth1=198.19.39.119
ip -n nfchain.edge.a neighbour replace 198.19.39.119 lladdr 02:7c:32:06:8b:c7 dev eth1 nud permanent

# address:right:nfcb931eb830=198.19.39.119
ip -n right address add 198.19.39.119 peer 198.19.39.80 dev nfcb931eb830

# neighbour:right:nfcb931eb830=198.19.39.80
ip -n right neighbour replace 198.19.39.80 lladdr 02:f7:f0:5b:5b:42 dev nfcb931eb830 nud permanent

# address:nfchain.edge.a:eth1=2001:2:0:fc9d::10
ip -n nfchain.edge.a address add 2001:2:0:fc9d::10 peer 2001:2:0:fc9d:8000::17 dev eth1 nodad

# neighbour:nfchain.edge.a:eth1=2001:2:0:fc9d:8000::17
ip -n nfchain.edge.a neighbour replace 2001:2:0:fc9d:8000::17 lladdr 02:7c:32:06:8b:c7 dev eth1 nud permanent

# address:right:nfcb931eb830=2001:2:0:fc9d:8000::17
ip -n right address add 2001:2:0:fc9d:8000::17 peer 2001:2:0:fc9d::10 dev nfcb931eb830 nodad

# neighbour:right:nfcb931eb830=2001:2:0:fc9d::10
ip -n right neighbour replace 2001:2:0:fc9d::10 lladdr 02:f7:f0:5b:5b:42 dev nfcb931eb830 nud permanent

# route:nfchain.edge.a:198.19.39.96/27
ip -n nfchain.edge.a route add 198.19.39.96/27 via 198.19.39.119 dev eth1 onlink proto 78

# route:right:198.19.39.64/27
ip -n right route add 198.19.39.64/27 via 198.19.39.80 dev nfcb931eb830 onlink proto 78

# route:nfchain.edge.a:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.a route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::17 dev eth1 onlink proto 78

# route:right:2001:2:0:fc9d::/65
ip -n right route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::10 dev nfcb931eb830 onlink proto 78
