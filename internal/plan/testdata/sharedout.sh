#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes steer:nfchain.edge._wiring:port49075c1f, steer:nfchain.edge._wiring:port9b37e50f, steer:nfchain.edge._wiring:porta7c54ae8, steer:nfchain.edge._wiring:portda9f6d76, steer:nfchain.edge._wiring:port2f9502c8, steer:nfchain.edge._wiring:port9bd1f3d1, steer:nfchain.edge._wiring:port321a69db, steer:nfchain.edge._wiring:port76e43ebe, health:nfchain.edge._wiring:path; nothing was made' >&2; exit 3; }

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

# namespace:nfchain.edge.b-1
ip netns add nfchain.edge.b-1
ip -n nfchain.edge.b-1 link set lo up
ip netns exec nfchain.edge.b-1 sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.b-1 sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.b-1 sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.b-1 sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.b-1 sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.b-1 sysctl -qw net.ipv6.conf.all.forwarding=1

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

# link:nfchain.edge.client:eth0
ip -n nfchain.edge.client link add eth0 address 02:6d:ef:16:ff:39 mtu 1500 type veth peer name port9bd1f3d1 address 22:93:66:cd:1a:84 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.client link set eth0 up alias 'nfchain edge client:eth0=_wiring:port9bd1f3d1'
ip -n nfchain.edge._wiring link set port9bd1f3d1 up alias 'nfchain edge client:eth0=_wiring:port9bd1f3d1'

# link:nfchain.edge.a:eth0
ip -n nfchain.edge.a link add eth0 address 02:9a:e9:39:06:ac mtu 1500 type veth peer name port49075c1f address 06:a0:8b:56:1d:0b mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.a link set eth0 up alias 'nfchain edge a:eth0=_wiring:port49075c1f'
ip -n nfchain.edge._wiring link set port49075c1f up alias 'nfchain edge a:eth0=_wiring:port49075c1f'

# steer:nfchain.edge._wiring:port49075c1f: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port49075c1f","to":"port9bd1f3d1","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.a:eth1
ip -n nfchain.edge.a link add eth1 address 02:f7:f0:5b:5b:42 mtu 1500 type veth peer name port321a69db address 42:18:00:2d:b3:4f mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.a link set eth1 up alias 'nfchain edge a:eth1=_wiring:port321a69db'
ip -n nfchain.edge._wiring link set port321a69db up alias 'nfchain edge a:eth1=_wiring:port321a69db'

# link:nfchain.edge.b-1:eth0
ip -n nfchain.edge.b-1 link add eth0 address 02:38:6c:fc:27:04 mtu 1500 type veth peer name port9b37e50f address 12:cc:46:e2:81:fd mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.b-1 link set eth0 up alias 'nfchain edge b-1:eth0=_wiring:port9b37e50f'
ip -n nfchain.edge._wiring link set port9b37e50f up alias 'nfchain edge b-1:eth0=_wiring:port9b37e50f'

# steer:nfchain.edge._wiring:port9b37e50f: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9b37e50f","to":"port321a69db","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.b-1:eth1
ip -n nfchain.edge.b-1 link add eth1 address 02:03:34:98:d3:1d mtu 1500 type veth peer name porta7c54ae8 address ca:06:06:f5:ee:8b mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.b-1 link set eth1 up alias 'nfchain edge b-1:eth1=_wiring:porta7c54ae8'
ip -n nfchain.edge._wiring link set porta7c54ae8 up alias 'nfchain edge b-1:eth1=_wiring:porta7c54ae8'

# link:nfchain.edge.server:eth0
ip -n nfchain.edge.server link add eth0 address 02:60:11:b7:31:ea mtu 1500 type veth peer name port76e43ebe address 2a:83:dd:bb:5f:48 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'
ip -n nfchain.edge._wiring link set port76e43ebe up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'

# steer:nfchain.edge._wiring:porta7c54ae8: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"porta7c54ae8","to":"port76e43ebe","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# address:nfchain.edge.client:eth0=198.19.39.88
ip -n nfchain.edge.client address add 198.19.39.88 dev eth0

# neighbour:nfchain.edge.client:eth0=198.19.39.96
ip -n nfchain.edge.client neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.a:eth0=198.19.39.112
ip -n nfchain.edge.a address add 198.19.39.112 dev eth0

# neighbour:nfchain.edge.a:eth0=198.19.39.64
ip -n nfchain.edge.a neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.client:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 dev eth0 nodad

# neighbour:nfchain.edge.client:eth0=2001:2:0:fc9d:8000::
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.a:eth0=2001:2:0:fc9d:8000::10
ip -n nfchain.edge.a address add 2001:2:0:fc9d:8000::10 dev eth0 nodad

# neighbour:nfchain.edge.a:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.a neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.96 dev eth0 onlink proto 78

# route:nfchain.edge.a:198.19.39.64/27
ip -n nfchain.edge.a route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth0 onlink proto 78

# route:nfchain.edge.a:2001:2:0:fc9d::/65
ip -n nfchain.edge.a route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.a:eth1=198.19.39.80
ip -n nfchain.edge.a address add 198.19.39.80 dev eth1

# neighbour:nfchain.edge.a:eth1=198.19.39.96
ip -n nfchain.edge.a neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.b-1:eth0=198.19.39.119
ip -n nfchain.edge.b-1 address add 198.19.39.119 dev eth0

# neighbour:nfchain.edge.b-1:eth0=198.19.39.64
ip -n nfchain.edge.b-1 neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.a:eth1=2001:2:0:fc9d::10
ip -n nfchain.edge.a address add 2001:2:0:fc9d::10 dev eth1 nodad

# neighbour:nfchain.edge.a:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.a neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.b-1:eth0=2001:2:0:fc9d:8000::17
ip -n nfchain.edge.b-1 address add 2001:2:0:fc9d:8000::17 dev eth0 nodad

# neighbour:nfchain.edge.b-1:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.b-1 neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.a:198.19.39.96/27
ip -n nfchain.edge.a route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.b-1:198.19.39.64/27
ip -n nfchain.edge.b-1 route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.a:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.a route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.b-1:2001:2:0:fc9d::/65
ip -n nfchain.edge.b-1 route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.b-1:eth1=198.19.39.87
ip -n nfchain.edge.b-1 address add 198.19.39.87 dev eth1

# neighbour:nfchain.edge.b-1:eth1=198.19.39.96
ip -n nfchain.edge.b-1 neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.64
ip -n nfchain.edge.server neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.b-1:eth1=2001:2:0:fc9d::17
ip -n nfchain.edge.b-1 address add 2001:2:0:fc9d::17 dev eth1 nodad

# neighbour:nfchain.edge.b-1:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.b-1 neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.b-1:198.19.39.96/27
ip -n nfchain.edge.b-1 route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.b-1:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.b-1 route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# namespace:nfchain.edge.b-2
ip netns add nfchain.edge.b-2
ip -n nfchain.edge.b-2 link set lo up
ip netns exec nfchain.edge.b-2 sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.b-2 sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.b-2 sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.b-2 sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.b-2 sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.b-2 sysctl -qw net.ipv6.conf.all.forwarding=1

# link:nfchain.edge.b-2:eth0
ip -n nfchain.edge.b-2 link add eth0 address 02:16:fc:58:84:47 mtu 1500 type veth peer name portda9f6d76 address 6a:c4:37:68:d6:4f mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.b-2 link set eth0 up alias 'nfchain edge b-2:eth0=_wiring:portda9f6d76'
ip -n nfchain.edge._wiring link set portda9f6d76 up alias 'nfchain edge b-2:eth0=_wiring:portda9f6d76'

# steer:nfchain.edge._wiring:portda9f6d76: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portda9f6d76","to":"port321a69db","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.b-2:eth1
ip -n nfchain.edge.b-2 link add eth1 address 02:fc:7d:db:67:a8 mtu 1500 type veth peer name port2f9502c8 address 72:da:b9:a2:a5:aa mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.b-2 link set eth1 up alias 'nfchain edge b-2:eth1=_wiring:port2f9502c8'
ip -n nfchain.edge._wiring link set port2f9502c8 up alias 'nfchain edge b-2:eth1=_wiring:port2f9502c8'

# steer:nfchain.edge._wiring:port2f9502c8: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port2f9502c8","to":"port76e43ebe","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# address:nfchain.edge.b-2:eth0=198.19.39.119
ip -n nfchain.edge.b-2 address add 198.19.39.119 dev eth0

# neighbour:nfchain.edge.b-2:eth0=198.19.39.64
ip -n nfchain.edge.b-2 neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.b-2:eth0=2001:2:0:fc9d:8000::17
ip -n nfchain.edge.b-2 address add 2001:2:0:fc9d:8000::17 dev eth0 nodad

# neighbour:nfchain.edge.b-2:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.b-2 neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.b-2:198.19.39.64/27
ip -n nfchain.edge.b-2 route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.b-2:2001:2:0:fc9d::/65
ip -n nfchain.edge.b-2 route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.b-2:eth1=198.19.39.87
ip -n nfchain.edge.b-2 address add 198.19.39.87 dev eth1

# neighbour:nfchain.edge.b-2:eth1=198.19.39.96
ip -n nfchain.edge.b-2 neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.b-2:eth1=2001:2:0:fc9d::17
ip -n nfchain.edge.b-2 address add 2001:2:0:fc9d::17 dev eth1 nodad

# neighbour:nfchain.edge.b-2:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.b-2 neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# route:nfchain.edge.b-2:198.19.39.96/27
ip -n nfchain.edge.b-2 route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.b-2:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.b-2 route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# steer:nfchain.edge._wiring:port9bd1f3d1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9bd1f3d1","to":"port49075c1f","among":{"of":"b","replicas":[{"number":1,"port":"port9b37e50f","weight":2},{"number":2,"port":"portda9f6d76","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port321a69db: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port321a69db","among":{"of":"b","replicas":[{"number":1,"port":"port9b37e50f","weight":2},{"number":2,"port":"portda9f6d76","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port76e43ebe: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port76e43ebe","among":{"of":"b","replicas":[{"number":1,"port":"porta7c54ae8","weight":2},{"number":2,"port":"port2f9502c8","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# health:nfchain.edge._wiring:path: no ip, tc or nft command makes this; nfchain does
nfchain apply edge health nfchain.edge._wiring <<'END-OF-INPUT'
{"forwarder":"nfchain.edge._wiring","nodes":[{"node":"client","east":"port9bd1f3d1"},{"node":"a","west":"port49075c1f","east":"port321a69db","on_failure":"bypass","version":"1da9ec62360f78af","eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:9a:e9:39:06:ac","from":"198.19.39.88","to":"198.19.39.118"},"westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:f7:f0:5b:5b:42","from":"198.19.39.118","to":"198.19.39.88"},"other_eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:9a:e9:39:06:ac","from":"2001:2:0:fc9d::18","to":"2001:2:0:fc9d:8000::16"},"other_westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:f7:f0:5b:5b:42","from":"2001:2:0:fc9d:8000::16","to":"2001:2:0:fc9d::18"}},{"node":"b-1","west":"port9b37e50f","east":"porta7c54ae8","of":"b","number":1,"weight":2,"on_failure":"replica","version":"1f25c1dc79a3c2f8","eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:38:6c:fc:27:04","from":"198.19.39.88","to":"198.19.39.118"},"westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:03:34:98:d3:1d","from":"198.19.39.118","to":"198.19.39.88"},"other_eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:38:6c:fc:27:04","from":"2001:2:0:fc9d::18","to":"2001:2:0:fc9d:8000::16"},"other_westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:03:34:98:d3:1d","from":"2001:2:0:fc9d:8000::16","to":"2001:2:0:fc9d::18"}},{"node":"b-2","west":"portda9f6d76","east":"port2f9502c8","of":"b","number":2,"weight":1,"on_failure":"replica","version":"9530ad09e657007f","eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:16:fc:58:84:47","from":"198.19.39.88","to":"198.19.39.118"},"westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:fc:7d:db:67:a8","from":"198.19.39.118","to":"198.19.39.88"},"other_eastward":{"from_mac":"02:5d:f7:fa:6a:e9","to_mac":"02:16:fc:58:84:47","from":"2001:2:0:fc9d::18","to":"2001:2:0:fc9d:8000::16"},"other_westward":{"from_mac":"02:c7:92:d3:3d:71","to_mac":"02:fc:7d:db:67:a8","from":"2001:2:0:fc9d:8000::16","to":"2001:2:0:fc9d::18"}},{"node":"server","west":"port76e43ebe"}]}
END-OF-INPUT
