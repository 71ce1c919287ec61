#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes process:bad; nothing was made' >&2; exit 3; }

# namespace:nfchain.edge.client
ip netns add nfchain.edge.client
ip -n nfchain.edge.client link set lo up
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.bad
ip netns add nfchain.edge.bad
ip -n nfchain.edge.bad link set lo up
ip netns exec nfchain.edge.bad sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.bad sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.bad sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.bad sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.bad sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.bad sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.server
ip netns add nfchain.edge.server
ip -n nfchain.edge.server link set lo up
ip netns exec nfchain.edge.server sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.server sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.server sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.server sysctl -qw net.ipv6.conf.default.accept_dad=0

# link:nfchain.edge.client:eth0
ip -n nfchain.edge.client link add eth0 address 02:6d:ef:16:ff:39 mtu 1500 type veth peer name eth0 address 02:a5:d3:c4:79:ef mtu 1500 netns nfchain.edge.bad
ip -n nfchain.edge.client link set eth0 up alias 'nfchain edge client:eth0=bad:eth0'
ip -n nfchain.edge.bad link set eth0 up alias 'nfchain edge client:eth0=bad:eth0'

# link:nfchain.edge.bad:eth1
ip -n nfchain.edge.bad link add eth1 address 02:1a:29:85:44:4e mtu 1500 type veth peer name eth0 address 02:60:11:b7:31:ea mtu 1500 netns nfchain.edge.server
ip -n nfchain.edge.bad link set eth1 up alias 'nfchain edge bad:eth1=server:eth0'
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge bad:eth1=server:eth0'

# address:nfchain.edge.client:eth0=198.19.39.88
ip -n nfchain.edge.client address add 198.19.39.88 peer 198.19.39.117 dev eth0

# neighbour:nfchain.edge.client:eth0=198.19.39.117
ip -n nfchain.edge.client neighbour replace 198.19.39.117 lladdr 02:a5:d3:c4:79:ef dev eth0 nud permanent

# address:nfchain.edge.bad:eth0=198.19.39.117
ip -n nfchain.edge.bad address add 198.19.39.117 peer 198.19.39.88 dev eth0

# neighbour:nfchain.edge.bad:eth0=198.19.39.88
ip -n nfchain.edge.bad neighbour replace 198.19.39.88 lladdr 02:6d:ef:16:ff:39 dev eth0 nud permanent

# address:nfchain.edge.client:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 peer 2001:2:0:fc9d:8000::15 dev eth0 nodad

# neighbour:nfchain.edge.client:eth0=2001:2:0:fc9d:8000::15
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000::15 lladdr 02:a5:d3:c4:79:ef dev eth0 nud permanent

# address:nfchain.edge.bad:eth0=2001:2:0:fc9d:8000::15
ip -n nfchain.edge.bad address add 2001:2:0:fc9d:8000::15 peer 2001:2:0:fc9d::18 dev eth0 nodad

# neighbour:nfchain.edge.bad:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.bad neighbour replace 2001:2:0:fc9d::18 lladdr 02:6d:ef:16:ff:39 dev eth0 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.117 dev eth0 onlink proto 78

# route:nfchain.edge.bad:198.19.39.64/27
ip -n nfchain.edge.bad route add 198.19.39.64/27 via 198.19.39.88 dev eth0 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::15 dev eth0 onlink proto 78

# route:nfchain.edge.bad:2001:2:0:fc9d::/65
ip -n nfchain.edge.bad route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::18 dev eth0 onlink proto 78

# address:nfchain.edge.bad:eth1=198.19.39.85
ip -n nfchain.edge.bad address add 198.19.39.85 peer 198.19.39.118 dev eth1

# neighbour:nfchain.edge.bad:eth1=198.19.39.118
ip -n nfchain.edge.bad neighbour replace 198.19.39.118 lladdr 02:60:11:b7:31:ea dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 peer 198.19.39.85 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.85
ip -n nfchain.edge.server neighbour replace 198.19.39.85 lladdr 02:1a:29:85:44:4e dev eth0 nud permanent

# address:nfchain.edge.bad:eth1=2001:2:0:fc9d::15
ip -n nfchain.edge.bad address add 2001:2:0:fc9d::15 peer 2001:2:0:fc9d:8000::16 dev eth1 nodad

# neighbour:nfchain.edge.bad:eth1=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.bad neighbour replace 2001:2:0:fc9d:8000::16 lladdr 02:60:11:b7:31:ea dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 peer 2001:2:0:fc9d::15 dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::15
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d::15 lladdr 02:1a:29:85:44:4e dev eth0 nud permanent

# route:nfchain.edge.bad:198.19.39.96/27
ip -n nfchain.edge.bad route add 198.19.39.96/27 via 198.19.39.118 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.85 dev eth0 onlink proto 78

# route:nfchain.edge.bad:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.bad route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::16 dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::15 dev eth0 onlink proto 78

# tun:nfchain.edge.bad:impair0
ip -n nfchain.edge.bad tuntap add dev impair0 mode tun
ip -n nfchain.edge.bad link set impair0 mtu 65535 txqueuelen 8192 up alias 'nfchain edge tun:bad'
tc -n nfchain.edge.bad qdisc replace dev impair0 root noqueue

# redirect:nfchain.edge.bad:eth0
tc -n nfchain.edge.bad qdisc add dev eth0 clsact
tc -n nfchain.edge.bad filter add dev eth0 ingress protocol ip prio 7801 u32 match u32 0xe0000000 0xe0000000 at 16 flowid :1
tc -n nfchain.edge.bad filter add dev eth0 ingress protocol ip prio 7802 u32 match u32 0x00000000 0x00000000 at 0 action mirred egress redirect dev impair0
tc -n nfchain.edge.bad filter add dev eth0 ingress protocol ipv6 prio 7803 u32 match u32 0xfe000000 0xfe000000 at 24 flowid :1
tc -n nfchain.edge.bad filter add dev eth0 ingress protocol ipv6 prio 7804 u32 match u32 0x00000000 0x00000000 at 0 action mirred egress redirect dev impair0

# process:bad: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"bad","netns":"nfchain.edge.bad","args":["nfchain","impair-program","edge","bad","{\"ways\":[{\"name\":\"forward\",\"device\":\"impair0\"}],\"loss\":{\"every\":1000},\"duplicate\":{},\"reorder\":{\"ratio\":0.01},\"by\":3,\"delay_ns\":5000000,\"jitter_ns\":1000000,\"limit\":100000,\"seed\":1}"],"own":true,"env":[],"restart":"always","ready":{"command":["nfchain","impair-program","edge","bad","{\"ways\":[{\"name\":\"forward\",\"device\":\"impair0\"}],\"loss\":{\"every\":1000},\"duplicate\":{},\"reorder\":{\"ratio\":0.01},\"by\":3,\"delay_ns\":5000000,\"jitter_ns\":1000000,\"limit\":100000,\"seed\":1}","--ready"],"timeout_s":10}}
END-OF-INPUT
