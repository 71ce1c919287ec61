#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes steer:nfchain.edge._wiring:port417d69f8, steer:nfchain.edge._wiring:porta7c54ae8, steer:nfchain.edge._wiring:port49a76f9f, steer:nfchain.edge._wiring:port2f9502c8, steer:nfchain.edge._wiring:port9bd1f3d1, steer:nfchain.edge._wiring:port74672c19, steer:nfchain.edge._wiring:port9b37e50f, steer:nfchain.edge._wiring:port76e43ebe, steer:nfchain.edge._wiring:port2076df5a, steer:nfchain.edge._wiring:portda9f6d76; nothing was made' >&2; exit 3; }

# namespace:nfchain.edge.client
ip netns add nfchain.edge.client
ip -n nfchain.edge.client link set lo up
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.a-1
ip netns add nfchain.edge.a-1
ip -n nfchain.edge.a-1 link set lo up
ip netns exec nfchain.edge.a-1 sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.a-1 sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.a-1 sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.a-1 sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.a-1 sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.a-1 sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.b-1
ip netns add nfchain.edge.b-1
ip -n nfchain.edge.b-1 link set lo up
ip netns exec nfchain.edge.b-1 sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.b-1 sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.b-1 sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.b-1 sysctl -qw net.ipv6.conf.default.accept_dad=0

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

# link:nfchain.edge.a-1:eth0
ip -n nfchain.edge.a-1 link add eth0 address 02:f3:af:99:52:e1 mtu 1500 type veth peer name port417d69f8 address 16:d9:17:6d:c1:47 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.a-1 link set eth0 up alias 'nfchain edge a-1:eth0=_wiring:port417d69f8'
ip -n nfchain.edge._wiring link set port417d69f8 up alias 'nfchain edge a-1:eth0=_wiring:port417d69f8'

# steer:nfchain.edge._wiring:port417d69f8: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port417d69f8","to":"port9bd1f3d1","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.a-1:eth1
ip -n nfchain.edge.a-1 link add eth1 address 02:9f:29:97:f8:d1 mtu 1500 type veth peer name port74672c19 address 2a:47:6a:aa:81:eb mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.a-1 link set eth1 up alias 'nfchain edge a-1:eth1=_wiring:port74672c19'
ip -n nfchain.edge._wiring link set port74672c19 up alias 'nfchain edge a-1:eth1=_wiring:port74672c19'

# link:nfchain.edge.b-1:eth0
ip -n nfchain.edge.b-1 link add eth0 address 02:38:6c:fc:27:04 mtu 1500 type veth peer name port9b37e50f address 12:cc:46:e2:81:fd mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.b-1 link set eth0 up alias 'nfchain edge b-1:eth0=_wiring:port9b37e50f'
ip -n nfchain.edge._wiring link set port9b37e50f up alias 'nfchain edge b-1:eth0=_wiring:port9b37e50f'

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

# address:nfchain.edge.a-1:eth0=198.19.39.112
ip -n nfchain.edge.a-1 address add 198.19.39.112 dev eth0

# neighbour:nfchain.edge.a-1:eth0=198.19.39.64
ip -n nfchain.edge.a-1 neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.client:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 dev eth0 nodad

# neighbour:nfchain.edge.client:eth0=2001:2:0:fc9d:8000::
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.a-1:eth0=2001:2:0:fc9d:8000::10
ip -n nfchain.edge.a-1 address add 2001:2:0:fc9d:8000::10 dev eth0 nodad

# neighbour:nfchain.edge.a-1:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.a-1 neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.96 dev eth0 onlink proto 78

# route:nfchain.edge.a-1:198.19.39.64/27
ip -n nfchain.edge.a-1 route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth0 onlink proto 78

# route:nfchain.edge.a-1:2001:2:0:fc9d::/65
ip -n nfchain.edge.a-1 route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.a-1:eth1=198.19.39.80
ip -n nfchain.edge.a-1 address add 198.19.39.80 dev eth1

# neighbour:nfchain.edge.a-1:eth1=198.19.39.96
ip -n nfchain.edge.a-1 neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.64
ip -n nfchain.edge.server neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.a-1:eth1=2001:2:0:fc9d::10
ip -n nfchain.edge.a-1 address add 2001:2:0:fc9d::10 dev eth1 nodad

# neighbour:nfchain.edge.a-1:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.a-1 neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.a-1:198.19.39.96/27
ip -n nfchain.edge.a-1 route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.a-1:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.a-1 route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# bridge:nfchain.edge.b-1:br0
ip netns exec nfchain.edge.b-1 sh -c 'for f in /proc/sys/net/bridge/bridge-nf-call-*tables; do [ ! -e "$f" ] || echo 0 >"$f"; done'
ip -n nfchain.edge.b-1 link add name br0 address 02:42:0a:60:06:f4 type bridge forward_delay 200 stp_state 0 mcast_snooping 0 ageing_time 30000
ip -n nfchain.edge.b-1 link set br0 mtu 1500 up alias 'nfchain edge bridge:b-1'

# bridgeport:nfchain.edge.b-1:eth0
ip -n nfchain.edge.b-1 link set eth0 master br0
ip -n nfchain.edge.b-1 link set eth0 type bridge_slave learning off flood off mcast_flood off bcast_flood off
ip netns exec nfchain.edge.b-1 bridge fdb replace 02:5d:f7:fa:6a:e9 dev eth0 master static

# bridgeport:nfchain.edge.b-1:eth1
ip -n nfchain.edge.b-1 link set eth1 master br0
ip -n nfchain.edge.b-1 link set eth1 type bridge_slave learning off flood off mcast_flood off bcast_flood off
ip netns exec nfchain.edge.b-1 bridge fdb replace 02:c7:92:d3:3d:71 dev eth1 master static

# namespace:nfchain.edge.a-2
ip netns add nfchain.edge.a-2
ip -n nfchain.edge.a-2 link set lo up
ip netns exec nfchain.edge.a-2 sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.a-2 sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.a-2 sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.a-2 sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.a-2 sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.a-2 sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.b-2
ip netns add nfchain.edge.b-2
ip -n nfchain.edge.b-2 link set lo up
ip netns exec nfchain.edge.b-2 sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.b-2 sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.b-2 sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.b-2 sysctl -qw net.ipv6.conf.default.accept_dad=0

# link:nfchain.edge.a-2:eth0
ip -n nfchain.edge.a-2 link add eth0 address 02:ae:40:d9:8c:57 mtu 1500 type veth peer name port49a76f9f address ba:3c:2f:f7:9b:60 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.a-2 link set eth0 up alias 'nfchain edge a-2:eth0=_wiring:port49a76f9f'
ip -n nfchain.edge._wiring link set port49a76f9f up alias 'nfchain edge a-2:eth0=_wiring:port49a76f9f'

# steer:nfchain.edge._wiring:port49a76f9f: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port49a76f9f","to":"port9bd1f3d1","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.a-2:eth1
ip -n nfchain.edge.a-2 link add eth1 address 02:c7:5e:fb:3b:45 mtu 1500 type veth peer name port2076df5a address ae:ad:89:f8:ac:e9 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.a-2 link set eth1 up alias 'nfchain edge a-2:eth1=_wiring:port2076df5a'
ip -n nfchain.edge._wiring link set port2076df5a up alias 'nfchain edge a-2:eth1=_wiring:port2076df5a'

# link:nfchain.edge.b-2:eth0
ip -n nfchain.edge.b-2 link add eth0 address 02:16:fc:58:84:47 mtu 1500 type veth peer name portda9f6d76 address 6a:c4:37:68:d6:4f mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.b-2 link set eth0 up alias 'nfchain edge b-2:eth0=_wiring:portda9f6d76'
ip -n nfchain.edge._wiring link set portda9f6d76 up alias 'nfchain edge b-2:eth0=_wiring:portda9f6d76'

# link:nfchain.edge.b-2:eth1
ip -n nfchain.edge.b-2 link add eth1 address 02:fc:7d:db:67:a8 mtu 1500 type veth peer name port2f9502c8 address 72:da:b9:a2:a5:aa mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.b-2 link set eth1 up alias 'nfchain edge b-2:eth1=_wiring:port2f9502c8'
ip -n nfchain.edge._wiring link set port2f9502c8 up alias 'nfchain edge b-2:eth1=_wiring:port2f9502c8'

# steer:nfchain.edge._wiring:port2f9502c8: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port2f9502c8","to":"port76e43ebe","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# address:nfchain.edge.a-2:eth0=198.19.39.112
ip -n nfchain.edge.a-2 address add 198.19.39.112 dev eth0

# neighbour:nfchain.edge.a-2:eth0=198.19.39.64
ip -n nfchain.edge.a-2 neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.a-2:eth0=2001:2:0:fc9d:8000::10
ip -n nfchain.edge.a-2 address add 2001:2:0:fc9d:8000::10 dev eth0 nodad

# neighbour:nfchain.edge.a-2:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.a-2 neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.a-2:198.19.39.64/27
ip -n nfchain.edge.a-2 route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.a-2:2001:2:0:fc9d::/65
ip -n nfchain.edge.a-2 route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.a-2:eth1=198.19.39.80
ip -n nfchain.edge.a-2 address add 198.19.39.80 dev eth1

# neighbour:nfchain.edge.a-2:eth1=198.19.39.96
ip -n nfchain.edge.a-2 neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.a-2:eth1=2001:2:0:fc9d::10
ip -n nfchain.edge.a-2 address add 2001:2:0:fc9d::10 dev eth1 nodad

# neighbour:nfchain.edge.a-2:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.a-2 neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# route:nfchain.edge.a-2:198.19.39.96/27
ip -n nfchain.edge.a-2 route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.a-2:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.a-2 route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# bridge:nfchain.edge.b-2:br0
ip netns exec nfchain.edge.b-2 sh -c 'for f in /proc/sys/net/bridge/bridge-nf-call-*tables; do [ ! -e "$f" ] || echo 0 >"$f"; done'
ip -n nfchain.edge.b-2 link add name br0 address 02:75:e3:94:e1:c8 type bridge forward_delay 200 stp_state 0 mcast_snooping 0 ageing_time 30000
ip -n nfchain.edge.b-2 link set br0 mtu 1500 up alias 'nfchain edge bridge:b-2'

# bridgeport:nfchain.edge.b-2:eth0
ip -n nfchain.edge.b-2 link set eth0 master br0
ip -n nfchain.edge.b-2 link set eth0 type bridge_slave learning off flood off mcast_flood off bcast_flood off
ip netns exec nfchain.edge.b-2 bridge fdb replace 02:5d:f7:fa:6a:e9 dev eth0 master static

# bridgeport:nfchain.edge.b-2:eth1
ip -n nfchain.edge.b-2 link set eth1 master br0
ip -n nfchain.edge.b-2 link set eth1 type bridge_slave learning off flood off mcast_flood off bcast_flood off
ip netns exec nfchain.edge.b-2 bridge fdb replace 02:c7:92:d3:3d:71 dev eth1 master static

# steer:nfchain.edge._wiring:port9bd1f3d1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9bd1f3d1","among":{"of":"a","replicas":[{"number":1,"port":"port417d69f8","weight":1},{"number":2,"port":"port49a76f9f","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port74672c19: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port74672c19","among":{"of":"b","replicas":[{"number":1,"port":"port9b37e50f","weight":1},{"number":2,"port":"portda9f6d76","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port9b37e50f: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9b37e50f","among":{"of":"a","replicas":[{"number":1,"port":"port74672c19","weight":1},{"number":2,"port":"port2076df5a","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port76e43ebe: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port76e43ebe","among":{"of":"b","replicas":[{"number":1,"port":"porta7c54ae8","weight":1},{"number":2,"port":"port2f9502c8","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port2076df5a: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port2076df5a","among":{"of":"b","replicas":[{"number":1,"port":"port9b37e50f","weight":1},{"number":2,"port":"portda9f6d76","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:portda9f6d76: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portda9f6d76","among":{"of":"a","replicas":[{"number":1,"port":"port74672c19","weight":1},{"number":2,"port":"port2076df5a","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT
