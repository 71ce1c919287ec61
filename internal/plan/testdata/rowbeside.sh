#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes steer:nfchain.edge._wiring:portbbfc32a9, steer:nfchain.edge._wiring:port84a4c453, pass:nfchain.edge._wiring:port9bd1f3d1, pass:nfchain.edge._wiring:portbbfc32a9, steer:nfchain.edge._wiring:portbf56b68c, steer:nfchain.edge._wiring:port58e93ab5, pass:nfchain.edge._wiring:portbf56b68c, steer:nfchain.edge._wiring:port9bd1f3d1, steer:nfchain.edge._wiring:port76e43ebe; nothing was made' >&2; exit 3; }

# namespace:nfchain.edge.client
ip netns add nfchain.edge.client
ip -n nfchain.edge.client link set lo up
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.ids-1
ip netns add nfchain.edge.ids-1
ip -n nfchain.edge.ids-1 link set lo up
ip netns exec nfchain.edge.ids-1 sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.ids-1 sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.ids-1 sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.ids-1 sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.ids-1 sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.ids-1 sysctl -qw net.ipv6.conf.all.forwarding=1

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

# link:nfchain.edge.ids-1:eth0
ip -n nfchain.edge.ids-1 link add eth0 address 02:a5:34:9a:6f:6e mtu 1500 type veth peer name portbbfc32a9 address ea:9f:a9:5c:71:1b mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.ids-1 link set eth0 up alias 'nfchain edge ids-1:eth0=_wiring:portbbfc32a9'
ip -n nfchain.edge._wiring link set portbbfc32a9 up alias 'nfchain edge ids-1:eth0=_wiring:portbbfc32a9'

# steer:nfchain.edge._wiring:portbbfc32a9: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portbbfc32a9","to":"port9bd1f3d1","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.ids-1:eth1
ip -n nfchain.edge.ids-1 link add eth1 address 02:1f:13:5b:ff:4a mtu 1500 type veth peer name port84a4c453 address 26:05:55:a9:f2:72 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.ids-1 link set eth1 up alias 'nfchain edge ids-1:eth1=_wiring:port84a4c453'
ip -n nfchain.edge._wiring link set port84a4c453 up alias 'nfchain edge ids-1:eth1=_wiring:port84a4c453'

# link:nfchain.edge.server:eth0
ip -n nfchain.edge.server link add eth0 address 02:60:11:b7:31:ea mtu 1500 type veth peer name port76e43ebe address 2a:83:dd:bb:5f:48 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'
ip -n nfchain.edge._wiring link set port76e43ebe up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'

# steer:nfchain.edge._wiring:port84a4c453: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port84a4c453","to":"port76e43ebe","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# address:nfchain.edge.client:eth0=198.19.39.88
ip -n nfchain.edge.client address add 198.19.39.88 dev eth0

# neighbour:nfchain.edge.client:eth0=198.19.39.96
ip -n nfchain.edge.client neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.ids-1:eth0=198.19.39.101
ip -n nfchain.edge.ids-1 address add 198.19.39.101 dev eth0

# neighbour:nfchain.edge.ids-1:eth0=198.19.39.64
ip -n nfchain.edge.ids-1 neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.client:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 dev eth0 nodad

# neighbour:nfchain.edge.client:eth0=2001:2:0:fc9d:8000::
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.ids-1:eth0=2001:2:0:fc9d:8000::5
ip -n nfchain.edge.ids-1 address add 2001:2:0:fc9d:8000::5 dev eth0 nodad

# neighbour:nfchain.edge.ids-1:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.ids-1 neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.96 dev eth0 onlink proto 78

# route:nfchain.edge.ids-1:198.19.39.64/27
ip -n nfchain.edge.ids-1 route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth0 onlink proto 78

# route:nfchain.edge.ids-1:2001:2:0:fc9d::/65
ip -n nfchain.edge.ids-1 route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.ids-1:eth1=198.19.39.69
ip -n nfchain.edge.ids-1 address add 198.19.39.69 dev eth1

# neighbour:nfchain.edge.ids-1:eth1=198.19.39.96
ip -n nfchain.edge.ids-1 neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.64
ip -n nfchain.edge.server neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.ids-1:eth1=2001:2:0:fc9d::5
ip -n nfchain.edge.ids-1 address add 2001:2:0:fc9d::5 dev eth1 nodad

# neighbour:nfchain.edge.ids-1:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.ids-1 neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.ids-1:198.19.39.96/27
ip -n nfchain.edge.ids-1 route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.ids-1:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.ids-1 route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# pass:nfchain.edge._wiring:port9bd1f3d1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9bd1f3d1","steps":[{"act":"count","slot":14,"args":[0,0,0]}],"of":["count"]}
END-OF-INPUT

# pass:nfchain.edge._wiring:portbbfc32a9: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portbbfc32a9","steps":[{"act":"count","slot":14,"args":[0,0,0]}],"of":["count"],"beside":["portbf56b68c"]}
END-OF-INPUT

# namespace:nfchain.edge.ids-2
ip netns add nfchain.edge.ids-2
ip -n nfchain.edge.ids-2 link set lo up
ip netns exec nfchain.edge.ids-2 sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.ids-2 sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.ids-2 sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.ids-2 sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.ids-2 sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.ids-2 sysctl -qw net.ipv6.conf.all.forwarding=1

# link:nfchain.edge.ids-2:eth0
ip -n nfchain.edge.ids-2 link add eth0 address 02:05:08:5d:cf:96 mtu 1500 type veth peer name portbf56b68c address ae:ec:73:d3:81:bf mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.ids-2 link set eth0 up alias 'nfchain edge ids-2:eth0=_wiring:portbf56b68c'
ip -n nfchain.edge._wiring link set portbf56b68c up alias 'nfchain edge ids-2:eth0=_wiring:portbf56b68c'

# steer:nfchain.edge._wiring:portbf56b68c: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portbf56b68c","to":"port9bd1f3d1","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.ids-2:eth1
ip -n nfchain.edge.ids-2 link add eth1 address 02:7c:df:08:d6:ed mtu 1500 type veth peer name port58e93ab5 address 1e:e5:79:0e:09:32 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.ids-2 link set eth1 up alias 'nfchain edge ids-2:eth1=_wiring:port58e93ab5'
ip -n nfchain.edge._wiring link set port58e93ab5 up alias 'nfchain edge ids-2:eth1=_wiring:port58e93ab5'

# steer:nfchain.edge._wiring:port58e93ab5: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port58e93ab5","to":"port76e43ebe","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# address:nfchain.edge.ids-2:eth0=198.19.39.101
ip -n nfchain.edge.ids-2 address add 198.19.39.101 dev eth0

# neighbour:nfchain.edge.ids-2:eth0=198.19.39.64
ip -n nfchain.edge.ids-2 neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.ids-2:eth0=2001:2:0:fc9d:8000::5
ip -n nfchain.edge.ids-2 address add 2001:2:0:fc9d:8000::5 dev eth0 nodad

# neighbour:nfchain.edge.ids-2:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.ids-2 neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.ids-2:198.19.39.64/27
ip -n nfchain.edge.ids-2 route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.ids-2:2001:2:0:fc9d::/65
ip -n nfchain.edge.ids-2 route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.ids-2:eth1=198.19.39.69
ip -n nfchain.edge.ids-2 address add 198.19.39.69 dev eth1

# neighbour:nfchain.edge.ids-2:eth1=198.19.39.96
ip -n nfchain.edge.ids-2 neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.ids-2:eth1=2001:2:0:fc9d::5
ip -n nfchain.edge.ids-2 address add 2001:2:0:fc9d::5 dev eth1 nodad

# neighbour:nfchain.edge.ids-2:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.ids-2 neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# route:nfchain.edge.ids-2:198.19.39.96/27
ip -n nfchain.edge.ids-2 route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.ids-2:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.ids-2 route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# pass:nfchain.edge._wiring:portbf56b68c: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portbf56b68c","steps":[{"act":"count","slot":14,"args":[0,0,0]}],"of":["count"],"beside":["portbbfc32a9"]}
END-OF-INPUT

# steer:nfchain.edge._wiring:port9bd1f3d1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9bd1f3d1","among":{"of":"ids","replicas":[{"number":1,"port":"portbbfc32a9","weight":1},{"number":2,"port":"portbf56b68c","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port76e43ebe: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port76e43ebe","among":{"of":"ids","replicas":[{"number":1,"port":"port84a4c453","weight":1},{"number":2,"port":"port58e93ab5","weight":1}],"flows":65536,"idle":"30s"},"stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT
