#!/bin/sh
# Makes the chain edge as `nfchain up` would. Needs root, iproute2, and nft or iptables
# where functions use them. Removes nothing: that is `nfchain down edge`, which finds
# what this made by its names.
set -eu

command -v nfchain >/dev/null || { echo 'needs nfchain on PATH, which makes steer:nfchain.edge._wiring:port9bd1f3d1, steer:nfchain.edge._wiring:send35182d5b, steer:nfchain.edge._wiring:send132b620b, steer:nfchain.edge._wiring:portd43f4dcb, steer:nfchain.edge._wiring:portfff5c64a, steer:nfchain.edge._wiring:sendb2f0925e, steer:nfchain.edge._wiring:send3d3338ac, steer:nfchain.edge._wiring:port1acc9978, steer:nfchain.edge._wiring:port0838b319, steer:nfchain.edge._wiring:send987b840d, steer:nfchain.edge._wiring:send9f79821a, steer:nfchain.edge._wiring:port608d7f88, steer:nfchain.edge._wiring:port338ada52, steer:nfchain.edge._wiring:port76e43ebe, label:nfchain.edge.parts:eth1, names:parts, process:parts, names:side, process:side, names:joins, process:joins, nsh-push:nfchain.edge.parts:eth0, nsh-pop:nfchain.edge._wiring:send35182d5b, nsh-push:nfchain.edge.parts:eth1, nsh-pop:nfchain.edge._wiring:send132b620b, nsh-push:nfchain.edge.side:eth0, nsh-pop:nfchain.edge._wiring:sendb2f0925e, nsh-push:nfchain.edge.side:eth1, nsh-pop:nfchain.edge._wiring:send3d3338ac, nsh-push:nfchain.edge.joins:eth0, nsh-pop:nfchain.edge._wiring:send987b840d, nsh-push:nfchain.edge.joins:eth1, nsh-pop:nfchain.edge._wiring:send9f79821a, pass:nfchain.edge._wiring:port9bd1f3d1, pass:nfchain.edge._wiring:send35182d5b; nothing was made' >&2; exit 3; }

# namespace:nfchain.edge.client
ip netns add nfchain.edge.client
ip -n nfchain.edge.client link set lo up
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.client sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.parts
ip netns add nfchain.edge.parts
ip -n nfchain.edge.parts link set lo up
ip netns exec nfchain.edge.parts sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.parts sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.parts sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.parts sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.plain
ip netns add nfchain.edge.plain
ip -n nfchain.edge.plain link set lo up
ip netns exec nfchain.edge.plain sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.plain sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.plain sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.plain sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.plain sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.plain sysctl -qw net.ipv6.conf.all.forwarding=1

# namespace:nfchain.edge.side
ip netns add nfchain.edge.side
ip -n nfchain.edge.side link set lo up
ip netns exec nfchain.edge.side sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.side sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.side sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.side sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.log
ip netns add nfchain.edge.log
ip -n nfchain.edge.log link set lo up
ip netns exec nfchain.edge.log sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.log sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.log sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.log sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.joins
ip netns add nfchain.edge.joins
ip -n nfchain.edge.joins link set lo up
ip netns exec nfchain.edge.joins sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.joins sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.joins sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.joins sysctl -qw net.ipv6.conf.default.accept_dad=0

# namespace:nfchain.edge.last
ip netns add nfchain.edge.last
ip -n nfchain.edge.last link set lo up
ip netns exec nfchain.edge.last sysctl -qw net.ipv4.conf.all.rp_filter=0
ip netns exec nfchain.edge.last sysctl -qw net.ipv4.conf.default.rp_filter=0
ip netns exec nfchain.edge.last sysctl -qw net.ipv4.ip_forward=1
ip netns exec nfchain.edge.last sysctl -qw net.ipv6.conf.default.addr_gen_mode=1
ip netns exec nfchain.edge.last sysctl -qw net.ipv6.conf.default.accept_dad=0
ip netns exec nfchain.edge.last sysctl -qw net.ipv6.conf.all.forwarding=1

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

# link:nfchain.edge.parts:eth0
ip -n nfchain.edge.parts link add eth0 address 02:87:57:d9:1d:0d mtu 1530 type veth peer name send35182d5b address 5a:19:2c:53:12:2d mtu 1530 netns nfchain.edge._wiring
ip netns exec nfchain.edge.parts sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1
ip -n nfchain.edge.parts link set eth0 up alias 'nfchain edge parts:eth0=_wiring:send35182d5b quiet'
ip -n nfchain.edge._wiring link set send35182d5b up alias 'nfchain edge parts:eth0=_wiring:send35182d5b quiet'

# steer:nfchain.edge._wiring:port9bd1f3d1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9bd1f3d1","to":"send35182d5b","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:send35182d5b: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"send35182d5b","to":"port9bd1f3d1","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.parts:eth1
ip -n nfchain.edge.parts link add eth1 address 02:52:9b:2d:7f:32 mtu 1530 type veth peer name send132b620b address 02:06:0c:07:4e:93 mtu 1530 netns nfchain.edge._wiring
ip netns exec nfchain.edge.parts sysctl -qw net.ipv6.conf.eth1.disable_ipv6=1
ip -n nfchain.edge.parts link set eth1 up alias 'nfchain edge parts:eth1=_wiring:send132b620b quiet'
ip -n nfchain.edge._wiring link set send132b620b up alias 'nfchain edge parts:eth1=_wiring:send132b620b quiet'

# link:nfchain.edge.plain:eth0
ip -n nfchain.edge.plain link add eth0 address 02:75:bd:b4:cf:9a mtu 1500 type veth peer name portd43f4dcb address fa:90:70:60:70:04 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.plain link set eth0 up alias 'nfchain edge plain:eth0=_wiring:portd43f4dcb'
ip -n nfchain.edge._wiring link set portd43f4dcb up alias 'nfchain edge plain:eth0=_wiring:portd43f4dcb'

# steer:nfchain.edge._wiring:send132b620b: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"send132b620b","to":"portd43f4dcb","stay":{"flows":65536,"idle":"30s","census":"250ms"},"branch":{"node":"parts","number":56248,"ways":[{"node":"plain","number":46298,"port":"portd43f4dcb"},{"node":"side","number":12315,"port":"sendb2f0925e"},{"node":"last","number":46599,"port":"port608d7f88","joint":true}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:portd43f4dcb: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portd43f4dcb","to":"send132b620b","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.plain:eth1
ip -n nfchain.edge.plain link add eth1 address 02:64:b6:80:0c:5c mtu 1500 type veth peer name portfff5c64a address 3a:89:d0:24:12:9c mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.plain link set eth1 up alias 'nfchain edge plain:eth1=_wiring:portfff5c64a'
ip -n nfchain.edge._wiring link set portfff5c64a up alias 'nfchain edge plain:eth1=_wiring:portfff5c64a'

# link:nfchain.edge.side:eth0
ip -n nfchain.edge.side link add eth0 address 02:52:30:a1:24:74 mtu 1530 type veth peer name sendb2f0925e address da:0d:79:74:72:a0 mtu 1530 netns nfchain.edge._wiring
ip netns exec nfchain.edge.side sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1
ip -n nfchain.edge.side link set eth0 up alias 'nfchain edge side:eth0=_wiring:sendb2f0925e quiet'
ip -n nfchain.edge._wiring link set sendb2f0925e up alias 'nfchain edge side:eth0=_wiring:sendb2f0925e quiet'

# steer:nfchain.edge._wiring:portfff5c64a: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"portfff5c64a","to":"send987b840d","stay":{"flows":65536,"idle":"30s","census":"250ms"},"branch":{"node":"plain","number":46298,"ways":[{"node":"joins","number":53125,"port":"send987b840d","joint":true}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:sendb2f0925e: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"sendb2f0925e","to":"send132b620b","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.side:eth1
ip -n nfchain.edge.side link add eth1 address 02:14:85:d8:e0:73 mtu 1530 type veth peer name send3d3338ac address 02:6d:e9:42:29:f5 mtu 1530 netns nfchain.edge._wiring
ip netns exec nfchain.edge.side sysctl -qw net.ipv6.conf.eth1.disable_ipv6=1
ip -n nfchain.edge.side link set eth1 up alias 'nfchain edge side:eth1=_wiring:send3d3338ac quiet'
ip -n nfchain.edge._wiring link set send3d3338ac up alias 'nfchain edge side:eth1=_wiring:send3d3338ac quiet'

# link:nfchain.edge.log:eth0
ip -n nfchain.edge.log link add eth0 address 02:c9:d5:0e:4d:7a mtu 1500 type veth peer name port1acc9978 address be:f3:55:95:44:c2 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.log link set eth0 up alias 'nfchain edge log:eth0=_wiring:port1acc9978'
ip -n nfchain.edge._wiring link set port1acc9978 up alias 'nfchain edge log:eth0=_wiring:port1acc9978'

# steer:nfchain.edge._wiring:send3d3338ac: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"send3d3338ac","to":"port1acc9978","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port1acc9978: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port1acc9978","to":"send3d3338ac","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.log:eth1
ip -n nfchain.edge.log link add eth1 address 02:62:4c:e4:7a:55 mtu 1500 type veth peer name port0838b319 address 5a:7a:af:38:5b:9f mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.log link set eth1 up alias 'nfchain edge log:eth1=_wiring:port0838b319'
ip -n nfchain.edge._wiring link set port0838b319 up alias 'nfchain edge log:eth1=_wiring:port0838b319'

# link:nfchain.edge.joins:eth0
ip -n nfchain.edge.joins link add eth0 address 02:c5:34:e4:cf:9f mtu 1530 type veth peer name send987b840d address 6e:ff:1a:fa:16:f2 mtu 1530 netns nfchain.edge._wiring
ip netns exec nfchain.edge.joins sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1
ip -n nfchain.edge.joins link set eth0 up alias 'nfchain edge joins:eth0=_wiring:send987b840d quiet'
ip -n nfchain.edge._wiring link set send987b840d up alias 'nfchain edge joins:eth0=_wiring:send987b840d quiet'

# steer:nfchain.edge._wiring:port0838b319: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port0838b319","to":"send987b840d","stay":{"flows":65536,"idle":"30s","census":"250ms"},"branch":{"node":"log","number":63504,"ways":[{"node":"joins","number":53125,"port":"send987b840d","joint":true}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:send987b840d: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"send987b840d","to":"portfff5c64a","stay":{"flows":65536,"idle":"30s","census":"250ms"},"branch":{"node":"joins","number":53125,"back":true,"ways":[{"node":"plain","number":46298,"port":"portfff5c64a"},{"node":"log","number":63504,"port":"port0838b319"}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.joins:eth1
ip -n nfchain.edge.joins link add eth1 address 02:1f:0e:58:92:8a mtu 1530 type veth peer name send9f79821a address ba:03:15:a5:b6:cd mtu 1530 netns nfchain.edge._wiring
ip netns exec nfchain.edge.joins sysctl -qw net.ipv6.conf.eth1.disable_ipv6=1
ip -n nfchain.edge.joins link set eth1 up alias 'nfchain edge joins:eth1=_wiring:send9f79821a quiet'
ip -n nfchain.edge._wiring link set send9f79821a up alias 'nfchain edge joins:eth1=_wiring:send9f79821a quiet'

# link:nfchain.edge.last:eth0
ip -n nfchain.edge.last link add eth0 address 02:9a:c1:14:87:a3 mtu 1500 type veth peer name port608d7f88 address da:7b:0c:5e:a0:d2 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.last link set eth0 up alias 'nfchain edge last:eth0=_wiring:port608d7f88'
ip -n nfchain.edge._wiring link set port608d7f88 up alias 'nfchain edge last:eth0=_wiring:port608d7f88'

# steer:nfchain.edge._wiring:send9f79821a: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"send9f79821a","to":"port608d7f88","stay":{"flows":65536,"idle":"30s","census":"250ms"},"branch":{"node":"joins","number":53125,"ways":[{"node":"last","number":46599,"port":"port608d7f88","joint":true}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port608d7f88: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port608d7f88","to":"send9f79821a","stay":{"flows":65536,"idle":"30s","census":"250ms"},"branch":{"node":"last","number":46599,"back":true,"ways":[{"node":"joins","number":53125,"port":"send9f79821a"},{"node":"parts","number":56248,"port":"send132b620b"}],"flows":65536},"hook":"tcx"}
END-OF-INPUT

# link:nfchain.edge.last:eth1
ip -n nfchain.edge.last link add eth1 address 02:33:07:8e:b6:d6 mtu 1500 type veth peer name port338ada52 address 4a:7b:35:07:df:4b mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.last link set eth1 up alias 'nfchain edge last:eth1=_wiring:port338ada52'
ip -n nfchain.edge._wiring link set port338ada52 up alias 'nfchain edge last:eth1=_wiring:port338ada52'

# link:nfchain.edge.server:eth0
ip -n nfchain.edge.server link add eth0 address 02:60:11:b7:31:ea mtu 1500 type veth peer name port76e43ebe address 2a:83:dd:bb:5f:48 mtu 1500 netns nfchain.edge._wiring
ip -n nfchain.edge.server link set eth0 up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'
ip -n nfchain.edge._wiring link set port76e43ebe up alias 'nfchain edge server:eth0=_wiring:port76e43ebe'

# steer:nfchain.edge._wiring:port338ada52: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port338ada52","to":"port76e43ebe","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# steer:nfchain.edge._wiring:port76e43ebe: no ip, tc or nft command makes this; nfchain does
nfchain apply edge steer nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port76e43ebe","to":"port338ada52","stay":{"flows":65536,"idle":"30s","census":"250ms"},"hook":"tcx"}
END-OF-INPUT

# address:nfchain.edge.client:eth0=198.19.39.88
ip -n nfchain.edge.client address add 198.19.39.88 dev eth0

# neighbour:nfchain.edge.client:eth0=198.19.39.96
ip -n nfchain.edge.client neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.plain:eth0=198.19.39.121
ip -n nfchain.edge.plain address add 198.19.39.121 dev eth0

# neighbour:nfchain.edge.plain:eth0=198.19.39.64
ip -n nfchain.edge.plain neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.client:eth0=2001:2:0:fc9d::18
ip -n nfchain.edge.client address add 2001:2:0:fc9d::18 dev eth0 nodad

# neighbour:nfchain.edge.client:eth0=2001:2:0:fc9d:8000::
ip -n nfchain.edge.client neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth0 nud permanent

# address:nfchain.edge.plain:eth0=2001:2:0:fc9d:8000::19
ip -n nfchain.edge.plain address add 2001:2:0:fc9d:8000::19 dev eth0 nodad

# neighbour:nfchain.edge.plain:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.plain neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.client:198.19.39.96/27
ip -n nfchain.edge.client route add 198.19.39.96/27 via 198.19.39.96 dev eth0 onlink proto 78

# route:nfchain.edge.plain:198.19.39.64/27
ip -n nfchain.edge.plain route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.client:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.client route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth0 onlink proto 78

# route:nfchain.edge.plain:2001:2:0:fc9d::/65
ip -n nfchain.edge.plain route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.plain:eth1=198.19.39.89
ip -n nfchain.edge.plain address add 198.19.39.89 dev eth1

# neighbour:nfchain.edge.plain:eth1=198.19.39.96
ip -n nfchain.edge.plain neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.last:eth0=198.19.39.100
ip -n nfchain.edge.last address add 198.19.39.100 dev eth0

# neighbour:nfchain.edge.last:eth0=198.19.39.64
ip -n nfchain.edge.last neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.plain:eth1=2001:2:0:fc9d::19
ip -n nfchain.edge.plain address add 2001:2:0:fc9d::19 dev eth1 nodad

# neighbour:nfchain.edge.plain:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.plain neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.last:eth0=2001:2:0:fc9d:8000::4
ip -n nfchain.edge.last address add 2001:2:0:fc9d:8000::4 dev eth0 nodad

# neighbour:nfchain.edge.last:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.last neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.plain:198.19.39.96/27
ip -n nfchain.edge.plain route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.last:198.19.39.64/27
ip -n nfchain.edge.last route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.plain:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.plain route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.last:2001:2:0:fc9d::/65
ip -n nfchain.edge.last route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# address:nfchain.edge.last:eth1=198.19.39.68
ip -n nfchain.edge.last address add 198.19.39.68 dev eth1

# neighbour:nfchain.edge.last:eth1=198.19.39.96
ip -n nfchain.edge.last neighbour replace 198.19.39.96 lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=198.19.39.118
ip -n nfchain.edge.server address add 198.19.39.118 dev eth0

# neighbour:nfchain.edge.server:eth0=198.19.39.64
ip -n nfchain.edge.server neighbour replace 198.19.39.64 lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# address:nfchain.edge.last:eth1=2001:2:0:fc9d::4
ip -n nfchain.edge.last address add 2001:2:0:fc9d::4 dev eth1 nodad

# neighbour:nfchain.edge.last:eth1=2001:2:0:fc9d:8000::
ip -n nfchain.edge.last neighbour replace 2001:2:0:fc9d:8000:: lladdr 02:c7:92:d3:3d:71 dev eth1 nud permanent

# address:nfchain.edge.server:eth0=2001:2:0:fc9d:8000::16
ip -n nfchain.edge.server address add 2001:2:0:fc9d:8000::16 dev eth0 nodad

# neighbour:nfchain.edge.server:eth0=2001:2:0:fc9d::
ip -n nfchain.edge.server neighbour replace 2001:2:0:fc9d:: lladdr 02:5d:f7:fa:6a:e9 dev eth0 nud permanent

# route:nfchain.edge.last:198.19.39.96/27
ip -n nfchain.edge.last route add 198.19.39.96/27 via 198.19.39.96 dev eth1 onlink proto 78

# route:nfchain.edge.server:198.19.39.64/27
ip -n nfchain.edge.server route add 198.19.39.64/27 via 198.19.39.64 dev eth0 onlink proto 78

# route:nfchain.edge.last:2001:2:0:fc9d:8000::/65
ip -n nfchain.edge.last route add 2001:2:0:fc9d:8000::/65 via 2001:2:0:fc9d:8000:: dev eth1 onlink proto 78

# route:nfchain.edge.server:2001:2:0:fc9d::/65
ip -n nfchain.edge.server route add 2001:2:0:fc9d::/65 via 2001:2:0:fc9d:: dev eth0 onlink proto 78

# tuning:nfchain.edge._wiring:send35182d5b
ip netns exec nfchain.edge._wiring ethtool -K send35182d5b tx off
ip netns exec nfchain.edge._wiring ethtool -K send35182d5b sg off
ip netns exec nfchain.edge._wiring ethtool -K send35182d5b tso off
ip netns exec nfchain.edge._wiring ethtool -K send35182d5b gso off
ip netns exec nfchain.edge._wiring ethtool -K send35182d5b txvlan off
ip -n nfchain.edge._wiring link property add dev send35182d5b altname nfchain,send35182d5b,cs=,gs=,sg=,ts=,vl=

# tuning:nfchain.edge._wiring:send132b620b
ip netns exec nfchain.edge._wiring ethtool -K send132b620b tx off
ip netns exec nfchain.edge._wiring ethtool -K send132b620b sg off
ip netns exec nfchain.edge._wiring ethtool -K send132b620b tso off
ip netns exec nfchain.edge._wiring ethtool -K send132b620b gso off
ip netns exec nfchain.edge._wiring ethtool -K send132b620b txvlan off
ip -n nfchain.edge._wiring link property add dev send132b620b altname nfchain,send132b620b,cs=,gs=,sg=,ts=,vl=

# tuning:nfchain.edge._wiring:sendb2f0925e
ip netns exec nfchain.edge._wiring ethtool -K sendb2f0925e tx off
ip netns exec nfchain.edge._wiring ethtool -K sendb2f0925e sg off
ip netns exec nfchain.edge._wiring ethtool -K sendb2f0925e tso off
ip netns exec nfchain.edge._wiring ethtool -K sendb2f0925e gso off
ip netns exec nfchain.edge._wiring ethtool -K sendb2f0925e txvlan off
ip -n nfchain.edge._wiring link property add dev sendb2f0925e altname nfchain,sendb2f0925e,cs=,gs=,sg=,ts=,vl=

# tuning:nfchain.edge._wiring:send3d3338ac
ip netns exec nfchain.edge._wiring ethtool -K send3d3338ac tx off
ip netns exec nfchain.edge._wiring ethtool -K send3d3338ac sg off
ip netns exec nfchain.edge._wiring ethtool -K send3d3338ac tso off
ip netns exec nfchain.edge._wiring ethtool -K send3d3338ac gso off
ip netns exec nfchain.edge._wiring ethtool -K send3d3338ac txvlan off
ip -n nfchain.edge._wiring link property add dev send3d3338ac altname nfchain,send3d3338ac,cs=,gs=,sg=,ts=,vl=

# tuning:nfchain.edge._wiring:send987b840d
ip netns exec nfchain.edge._wiring ethtool -K send987b840d tx off
ip netns exec nfchain.edge._wiring ethtool -K send987b840d sg off
ip netns exec nfchain.edge._wiring ethtool -K send987b840d tso off
ip netns exec nfchain.edge._wiring ethtool -K send987b840d gso off
ip netns exec nfchain.edge._wiring ethtool -K send987b840d txvlan off
ip -n nfchain.edge._wiring link property add dev send987b840d altname nfchain,send987b840d,cs=,gs=,sg=,ts=,vl=

# tuning:nfchain.edge._wiring:send9f79821a
ip netns exec nfchain.edge._wiring ethtool -K send9f79821a tx off
ip netns exec nfchain.edge._wiring ethtool -K send9f79821a sg off
ip netns exec nfchain.edge._wiring ethtool -K send9f79821a tso off
ip netns exec nfchain.edge._wiring ethtool -K send9f79821a gso off
ip netns exec nfchain.edge._wiring ethtool -K send9f79821a txvlan off
ip -n nfchain.edge._wiring link property add dev send9f79821a altname nfchain,send9f79821a,cs=,gs=,sg=,ts=,vl=

# label:nfchain.edge.parts:eth1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge label nfchain.edge.parts <<'END-OF-INPUT'
{"device":"eth1","rules":[{"mark":"0x1","mask":"0xffffffff","node":"side","label":12315},{"mark":"0x2","mask":"0xffffffff","node":"last","label":46599}]}
END-OF-INPUT

# names:parts: no ip, tc or nft command makes this; nfchain does
nfchain apply edge names <<'END-OF-INPUT'
{"node":"parts","hosts":[]}
END-OF-INPUT

# process:parts: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"parts","netns":"nfchain.edge.parts","args":["relay"],"env":[],"restart":"always","ready":{"timeout_s":10}}
END-OF-INPUT

# names:side: no ip, tc or nft command makes this; nfchain does
nfchain apply edge names <<'END-OF-INPUT'
{"node":"side","hosts":[]}
END-OF-INPUT

# process:side: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"side","netns":"nfchain.edge.side","args":["relay"],"env":[],"restart":"always","ready":{"timeout_s":10}}
END-OF-INPUT

# bridge:nfchain.edge.log:br0
ip netns exec nfchain.edge.log sh -c 'for f in /proc/sys/net/bridge/bridge-nf-call-*tables; do [ ! -e "$f" ] || echo 0 >"$f"; done'
ip -n nfchain.edge.log link add name br0 address 02:24:7e:ae:46:1e type bridge forward_delay 200 stp_state 0 mcast_snooping 0 ageing_time 30000
ip -n nfchain.edge.log link set br0 mtu 1500 up alias 'nfchain edge bridge:log'

# bridgeport:nfchain.edge.log:eth0
ip -n nfchain.edge.log link set eth0 master br0
ip -n nfchain.edge.log link set eth0 type bridge_slave learning off flood off mcast_flood off bcast_flood off
ip netns exec nfchain.edge.log bridge fdb replace 02:5d:f7:fa:6a:e9 dev eth0 master static

# bridgeport:nfchain.edge.log:eth1
ip -n nfchain.edge.log link set eth1 master br0
ip -n nfchain.edge.log link set eth1 type bridge_slave learning off flood off mcast_flood off bcast_flood off
ip netns exec nfchain.edge.log bridge fdb replace 02:c7:92:d3:3d:71 dev eth1 master static

# names:joins: no ip, tc or nft command makes this; nfchain does
nfchain apply edge names <<'END-OF-INPUT'
{"node":"joins","hosts":[]}
END-OF-INPUT

# process:joins: no ip, tc or nft command makes this; nfchain does
nfchain apply edge process <<'END-OF-INPUT'
{"node":"joins","netns":"nfchain.edge.joins","args":["relay"],"env":[],"restart":"always","ready":{"timeout_s":10}}
END-OF-INPUT

# nsh-push:nfchain.edge.parts:eth0: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-push nfchain.edge.parts <<'END-OF-INPUT'
{"device":"eth0","service_path":100,"service_index":254,"from":"02:5d:f7:fa:6a:e9","to":"02:87:57:d9:1d:0d"}
END-OF-INPUT

# nsh-pop:nfchain.edge._wiring:send35182d5b: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-pop nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"send35182d5b","service_path":8388708,"service_index":252}
END-OF-INPUT

# nsh-push:nfchain.edge.parts:eth1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-push nfchain.edge.parts <<'END-OF-INPUT'
{"device":"eth1","service_path":8388708,"service_index":252,"from":"02:c7:92:d3:3d:71","to":"02:52:9b:2d:7f:32"}
END-OF-INPUT

# nsh-pop:nfchain.edge._wiring:send132b620b: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-pop nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"send132b620b","service_path":100,"service_index":254}
END-OF-INPUT

# nsh-push:nfchain.edge.side:eth0: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-push nfchain.edge.side <<'END-OF-INPUT'
{"device":"eth0","service_path":4254,"service_index":255,"from":"02:5d:f7:fa:6a:e9","to":"02:52:30:a1:24:74"}
END-OF-INPUT

# nsh-pop:nfchain.edge._wiring:sendb2f0925e: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-pop nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"sendb2f0925e","service_path":8392862,"service_index":254}
END-OF-INPUT

# nsh-push:nfchain.edge.side:eth1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-push nfchain.edge.side <<'END-OF-INPUT'
{"device":"eth1","service_path":8392862,"service_index":254,"from":"02:c7:92:d3:3d:71","to":"02:14:85:d8:e0:73"}
END-OF-INPUT

# nsh-pop:nfchain.edge._wiring:send3d3338ac: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-pop nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"send3d3338ac","service_path":4254,"service_index":255}
END-OF-INPUT

# nsh-push:nfchain.edge.joins:eth0: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-push nfchain.edge.joins <<'END-OF-INPUT'
{"device":"eth0","service_path":100,"service_index":252,"from":"02:5d:f7:fa:6a:e9","to":"02:c5:34:e4:cf:9f"}
END-OF-INPUT

# nsh-pop:nfchain.edge._wiring:send987b840d: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-pop nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"send987b840d","service_path":8388708,"service_index":254}
END-OF-INPUT

# nsh-push:nfchain.edge.joins:eth1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-push nfchain.edge.joins <<'END-OF-INPUT'
{"device":"eth1","service_path":8388708,"service_index":254,"from":"02:c7:92:d3:3d:71","to":"02:1f:0e:58:92:8a"}
END-OF-INPUT

# nsh-pop:nfchain.edge._wiring:send9f79821a: no ip, tc or nft command makes this; nfchain does
nfchain apply edge nsh-pop nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"send9f79821a","service_path":100,"service_index":252}
END-OF-INPUT

# pass:nfchain.edge._wiring:port9bd1f3d1: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"port9bd1f3d1","steps":[{"act":"count","slot":14,"args":[0,0,0]}],"of":["count"]}
END-OF-INPUT

# pass:nfchain.edge._wiring:send35182d5b: no ip, tc or nft command makes this; nfchain does
nfchain apply edge pass nfchain.edge._wiring <<'END-OF-INPUT'
{"device":"send35182d5b","steps":[{"act":"count","slot":14,"args":[0,0,0]}],"of":["count"]}
END-OF-INPUT
