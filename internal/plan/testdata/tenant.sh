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
ip -n nfchain.edge.a link add eth1 address 02:f7:f0:5b:5b:42 mtu 1500 type veth peer name nfc8aa9e06a0 address 02:8b:de:3a:60:fe mtu 1500 netns nfchain.filter
ip -n nfchain.edge.a link set eth1 up alias 'nfchain edge a:eth1=fw@0605f377:nfc8aa9e06a0'
ip -n nfchain.filter link set nfc8aa9e06a0 up alias 'nfchain edge a:eth1=fw@0605f377:nfc8aa9e06a0'

# link:nfchain.filter:nfc8aa9e06a1
ip -n nfchain.filter link add nfc8aa9e06a1 address 02:62:4f:ae:dc:af mtu 1500 type veth peer name eth0 address 02:60:11:b7:31:ea mtu 1500 netns nfchain.edge.server
ip -n nfchain.filter link set nfc8aa9e06a1 up alias 'nfchain edge fw@0605f377:nfc8aa9e06a1=server:eth0'
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge fw@0605f377:nfc8aa9e06a1=server:eth0'

# lookup:nfchain.filter:nfc8aa9e06a0
ip -n nfchain.filter -4 rule add pref 7800 iif nfc8aa9e06a0 lookup 2326388842 protocol 78
ip -n nfchain.filter -4 rule add pref 7801 iif nfc8aa9e06a0 unreachable protocol 78
ip -n nfchain.filter -6 rule add pref 7800 iif nfc8aa9e06a0 lookup 2326388842 protocol 78
ip -n nfchain.filter -6 rule add pref 7801 iif nfc8aa9e06a0 unreachable protocol 78

# lookup:nfchain.filter:nfc8aa9e06a1
ip -n nfchain.filter -4 rule add pref 7800 iif nfc8aa9e06a1 lookup 2326388842 protocol 78
ip -n nfchain.filter -4 rule add pref 7801 iif nfc8aa9e06a1 unreachable protocol 78
ip -n nfchain.filter -6 rule add pref 7800 iif nfc8aa9e06a1 lookup 2326388842 protocol 78
ip -n nfchain.filter -6 rule add pref 7801 iif nfc8aa9e06a1 unreachable protocol 78

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
ip -n nfchain.edge.a address add 198.19.39.80 peer 198.19.39.105 dev eth1

# neighbour:nfchain.edge.a:eth1=198.19.39.105
ip -n nfchain.edge.a neighbour replace 198.19.39.105 lladdr 02:8b:de:3a:60:fe dev eth1 nud permanent

# neighbour:nfchain.filter:nfc8aa9e06a0=198.19.39.80
ip -n nfchain.filter neighbour replace 198.19.39.80 lladdr 02:f7:f0:5b:5b:42 dev nfc8aa9e06a0 nud permanent

# address:nfchain.edge.a:eth1=2001:2:0:fc9d::10
ip -n nfchain.edge.a address add 2001:2:0:fc9d::10 peer 2001:2:0:fc9d:8000::9 dev eth1 nodad

# neighbour:nfchain.edge.a:eth1=2001:2:0:fc9d:8000::9
ip -n nfchain.edge.a neighbour replace 2001:2:0:fc9d:8000::9 lladdr 02:8b:de:3a:60:fe dev eth1 nud permanent

# neighbour:nfchain.filter:nfc8aa9e06a0=2001:2:0:fc9d::10
ip -n nfchain.filter neighbour replace 2001:2:0:fc9d::10 lladdr 02:f7:f0:5b:5b:42 dev nfc8aa9e06a0 nud permanent

# route:nfchain.edge.a:198.19.39.96/27
ip -n nfchain.edge.a route add 198.19.39.96/27 via 198.19.39.105 dev eth1 onlink proto 78

# route:nfchain.filter:198.19.39.64/27 in table 2326388842
ip -n nfchain.filter route add 198.19.39.64/27 via 198.19.39.80 dev nfc8aa9e06a0 onlink proto 78 table 2326388842

# route:nfchain.edge.a:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.a route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::9 dev eth1 onlink proto 78

# route:nfchain.filter:2001:2:0:fc9d::/65 in table 2326388842
ip -n nfchain.filter route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::10 dev nfc8aa9e06a0 onlink proto 78 table 2326388842

# neighbour:nfchain.filter:nfc8aa9e06a1=198.19.39.118
ip -n nfchain.filter neighbour replace 198.19.39.118 lladdr 02:60:11:b7:31:ea dev nfc8aa9e06a1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 peer 198.19.39.73 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.73
ip -n nfchain.edge.server neighbour replace 198.19.39.73 lladdr 02:62:4f:ae:dc:af dev eth0 nud permanent

# neighbour:nfchain.filter:nfc8aa9e06a1=2001:2:0:fc9d:8000::16
ip -n nfchain.filter neighbour replace 2001:2:0:fc9d:8000::16 lladdr 02:60:11:b7:31:ea dev nfc8aa9e06a1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 peer 2001:2:0:fc9d::9 dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::9
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d::9 lladdr 02:62:4f:ae:dc:af dev eth0 nud permanent

# route:nfchain.filter:198.19.39.96/27 in table 2326388842
ip -n nfchain.filter route add 198.19.39.96/27 via 198.19.39.118 dev nfc8aa9e06a1 onlink proto 78 table 2326388842

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.73 dev eth0 onlink proto 78

# route:nfchain.filter:2001:2:0:fc9d:8000::/65 in table 2326388842
ip -n nfchain.filter route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::16 dev nfc8aa9e06a1 onlink proto 78 table 2326388842

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::9 dev eth0 onlink proto 78
