#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes names:web, process:web; nothing was made' >&2; exit 3; }

# namespace:nfchain.edge.client
ip netns add nfchain.edge.client
ip -n nfchain.edge.client link set lo up
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.web
ip netns add nfchain.edge.web
ip -n nfchain.edge.web link set lo up
ip netns exec nfchain.edge.web sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.web sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.web sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.web sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.web sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.web sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.server
ip netns add nfchain.edge.server
ip -n nfchain.edge.server link set lo up
ip netns exec nfchain.edge.server sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.server sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.server sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.server sysctl -qw net.ipv6.conf.default.accept_dad=0

# link:nfchain.edge.client:eth0
ip -n nfchain.edge.client link add eth0 address 02:6d:ef:16:ff:39 mtu 1500 type veth peer name eth0 address 02:e6:0a:00:c5:ee mtu 1500 netns nfchain.edge.web
ip -n nfchain.edge.client link set eth0 up alias 'nfchain edge client:eth0=web:eth0'
ip -n nfchain.edge.web link set eth0 up alias 'nfchain edge client:eth0=web:eth0'

# link:nfchain.edge.web:eth1
ip -n nfchain.edge.web link add eth1 address 02:26:38:b6:40:e8 mtu 1500 type veth peer name eth0 address 02:60:11:b7:31:ea mtu 1500 netns nfchain.edge.server
ip -n nfchain.edge.web link set eth1 up alias 'nfchain edge web:eth1=server:eth0'
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge web:eth1=server:eth0'

# address:nfchain.edge.client:eth0=198.19.39.88
ip -n nfchain.edge.client address add 198.19.39.88 peer 198.19.39.107 dev eth0

# neighbour:nfchain.edge.client:eth0=198.19.39.107
ip -n nfchain.edge.client neighbour replace 198.19.39.107 lladdr 02:e6:0a:00:c5:ee dev eth0 nud permanent

# address:nfchain.edge.web:eth0=198.19.39.107
ip -n nfchain.edge.web address add 198.19.39.107 peer 198.19.39.88 dev eth0

# neighbour:nfchain.edge.web:eth0=198.19.39.88
ip -n nfchain.edge.web neighbour replace 198.19.39.88 lladdr 02:6d:ef:16:ff:39 dev eth0 nud permanent

# address:nfchain.edge.client:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 peer 2001:2:0:fc9d:8000::b dev eth0 nodad

# neighbour:nfchain.edge.client:eth0=2001:2:0:fc9d:8000::b
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000::b lladdr 02:e6:0a:00:c5:ee dev eth0 nud permanent

# address:nfchain.edge.web:eth0=2001:2:0:fc9d:8000::b
ip -n nfchain.edge.web address add 2001:2:0:fc9d:8000::b peer 2001:2:0:fc9d::18 dev eth0 nodad

# neighbour:nfchain.edge.web:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.web neighbour replace 2001:2:0:fc9d::18 lladdr 02:6d:ef:16:ff:39 dev eth0 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.107 dev eth0 onlink proto 78

# route:nfchain.edge.web:198.19.39.64/27
ip -n nfchain.edge.web route add 198.19.39.64/27 via 198.19.39.88 dev eth0 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::b dev eth0 onlink proto 78

# route:nfchain.edge.web:2001:2:0:fc9d::/65
ip -n nfchain.edge.web route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::18 dev eth0 onlink proto 78

# address:nfchain.edge.web:eth1=198.19.39.75
ip -n nfchain.edge.web address add 198.19.39.75 peer 198.19.39.118 dev eth1

# neighbour:nfchain.edge.web:eth1=198.19.39.118
ip -n nfchain.edge.web neighbour replace 198.19.39.118 lladdr 02:60:11:b7:31:ea dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 peer 198.19.39.75 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.75
ip -n nfchain.edge.server neighbour replace 198.19.39.75 lladdr 02:26:38:b6:40:e8 dev eth0 nud permanent

# address:nfchain.edge.web:eth1=2001:2:0:fc9d::b
ip -n nfchain.edge.web address add 2001:2:0:fc9d::b peer 2001:2:0:fc9d:8000::16 dev eth1 nodad

# neighbour:nfchain.edge.web:eth1=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.web neighbour replace 2001:2:0:fc9d:8000::16 lladdr 02:60:11:b7:31:ea dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 peer 2001:2:0:fc9d::b dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::b
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d::b lladdr 02:26:38:b6:40:e8 dev eth0 nud permanent

# route:nfchain.edge.web:198.19.39.96/27
ip -n nfchain.edge.web route add 198.19.39.96/27 via 198.19.39.118 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.75 dev eth0 onlink proto 78

# route:nfchain.edge.web:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.web route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000::16 dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d::b dev eth0 onlink proto 78

# names:web: no ip, tc or nft command makes this; nfchain does
nfchain apply edge names <<'END-OF-INPUT'
{"node":"web","hosts":["198.19.39.88 client","2001:2:0:fc9d::18 client","198.19.39.107 web","2001:2:0:fc9d:8000::b web","198.19.39.118 server","2001:2:0:fc9d:8000::16 server"]}
END-OF-INPUT

# process:web: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"web","netns":"nfchain.edge.web","args":["python3","-m","http.server","it's"],"env":["A=b"],"restart":"always","ready":{"tcp_port":8000,"timeout_s":10}}
END-OF-INPUT
